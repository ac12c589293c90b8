package study

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// fixture is a study of three sources and a target whose rows have no labels but the target's.
type fixture struct {
	*Study
	folder string
	labels map[string]string
	clock  time.Time
}

func newFixture(t *testing.T, rng *rand.Rand) *fixture {
	return newFixtureOf(t, rng, 9, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
}

// newFixtureOf makes a fixture with a budget of each ask, or 60 of two, whose rows have a label, and are held out, as is says.
func newFixtureOf(t *testing.T, rng *rand.Rand, roundBudget float64, is func(source string, i int) (labelled, held bool)) *fixture {
	t.Helper()
	return newFixtureIn(t, rng, "", roundBudget, is)
}

// newFixtureIn is newFixtureOf with more columns in the manifest, such as who, which is one of seven in turn of a source.
func newFixtureIn(t *testing.T, rng *rand.Rand, columns string, roundBudget float64,
	is func(source string, i int) (labelled, held bool)) *fixture {
	t.Helper()
	f := &fixture{folder: filepath.Join(t.TempDir(), "data"), labels: map[string]string{}, clock: time.Unix(1e9, 0)}
	rows := [][]string{{"id", "source", "who", "label", "split", "x0", "x1", "x2"}}
	for _, source := range []string{"a", "b", "c", "t"} {
		for i := range 40 {
			id, label, at := source+strconv.Itoa(i), []string{"no", "yes"}[i%2], float64(i%2)*3
			f.labels[id] = label
			labelled, held := is(source, i)
			if !labelled {
				label = ""
			}
			row := []string{id, source, source + strconv.Itoa(i%7), label, map[bool]string{true: "test", false: "train"}[held]}
			for range 3 {
				row = append(row, fmt.Sprintf("%.3f", at+rng.NormFloat64()))
			}
			rows = append(rows, row)
		}
	}
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K, cfg.TargetSamples = 2, 12
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 2, Floor: 2, Budget: 60} // without a budget of each ask
	f.create(t, rows, ", split: split"+columns, "classes: [no, yes]", roundBudget, cfg,
		pipeline.SettingTargetSamples, pipeline.SettingK, pipeline.SettingFloor)
	return f
}

// create imports rows of a table, with these columns in the manifest beside id, source and features, and labels of this kind, and makes a
// study of the target t of them.
func (f *fixture) create(t *testing.T, rows [][]string, columns, kind string, roundBudget float64, cfg pipeline.Config, given ...string) {
	t.Helper()
	dir := filepath.Dir(f.folder)
	file := must.Get(os.Create(filepath.Join(dir, "rows.csv")))(t)
	must.Do(t, csv.NewWriter(file).WriteAll(rows))
	must.Do(t, file.Close())
	path := filepath.Join(dir, "rows.yaml")
	must.Do(t, os.WriteFile(path, []byte("files: rows.csv\ncolumns: {id: id, source: source, features: x*"+columns+"}\n"+
		"labels: [{column: label, "+kind+"}]\ntarget: {source: t}\n"), 0o644))
	must.Do(t, columnar.Import(t.Context(), must.Get(manifest.Read(path))(t), f.folder, func(int64, int64, string) {}))
	data := must.Get(columnar.OpenCandidates(f.folder, "", 0))(t)
	settings, _ := NewSettings("", path, data, roundBudget, cfg, given...)
	study := filepath.Join(dir, "S")
	must.Do(t, Create(study, settings, f.folder, data))
	f.Study = f.open(t, study)
}

// open opens the folder anew, as another process would.
func (f *fixture) open(t *testing.T, dir string) *Study {
	t.Helper()
	s := must.Get(Open(dir))(t)
	must.Do(t, s.Attach(f.folder))
	s.now = func() time.Time { return f.clock }
	return s
}

// answers writes a file of answers.
func (f *fixture) answers(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(f.folder), name)
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	return path
}

func (f *fixture) answerAll(t *testing.T, name string, a *Asked) string {
	t.Helper()
	lines := []string{"id,label"}
	for _, r := range a.Rows {
		lines = append(lines, r.ID+","+f.labels[r.ID])
	}
	return f.answers(t, name, lines...)
}

func openCPU() (backend.Device, error) { return cpu.Open(1) }

func openNamed(string) (backend.Device, error) { return openCPU() }
