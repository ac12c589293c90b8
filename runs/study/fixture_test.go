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
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// fixture is a study of three sources and a target, with the true label of each row by its id. clock is the time that the study sees.
type fixture struct {
	*Study
	folder string
	labels map[string]string
	clock  time.Time
	// samples is the number of target samples to ask for, 0 where the labelled rows are the samples.
	samples int
}

func newFixture(t *testing.T, rng *rand.Rand) *fixture {
	return newFixtureOf(t, rng, 9, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
}

// newFixtureOf returns a fixture in which each ask may cost roundBudget, or two rounds 60 where that is 0. is says which rows have a label
// in the data and which are held out. Where fewer than twelve samples of the target are labelled, the others are asked for.
func newFixtureOf(t *testing.T, rng *rand.Rand, roundBudget float64, is func(source string, i int) (labelled, held bool)) *fixture {
	t.Helper()
	return newFixtureIn(t, rng, "", roundBudget, is)
}

// newFixtureIn is newFixtureOf with more columns in the manifest, such as who, which takes seven values in turn in each source.
func newFixtureIn(t *testing.T, rng *rand.Rand, columns string, roundBudget float64,
	is func(source string, i int) (labelled, held bool)) *fixture {
	t.Helper()
	f := &fixture{folder: filepath.Join(t.TempDir(), "data"), labels: map[string]string{}, clock: time.Unix(1e9, 0)}
	own := 0 // labelled samples of the target
	rows := [][]string{{"id", "source", "who", "label", "split", "x0", "x1", "x2"}}
	for _, source := range []string{"a", "b", "c", "t"} {
		for i := range 40 {
			id, label, at := source+strconv.Itoa(i), []string{"no", "yes"}[i%2], float64(i%2)*3
			f.labels[id] = label
			labelled, held := is(source, i)
			if !labelled {
				label = ""
			} else if source == "t" && !held {
				own++
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
	if own < cfg.TargetSamples {
		f.samples = cfg.TargetSamples
	}
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 2, Floor: 2, Budget: 60} // used where roundBudget is 0
	f.create(t, rows, ", split: split"+columns, "classes: [no, yes]", roundBudget, cfg,
		pipeline.SettingTargetSamples, pipeline.SettingK, pipeline.SettingFloor)
	return f
}

// newColumns returns a fixture with labels in two columns, label and second. The data have both of the first twelve rows of each source,
// but of a0 the second alone. The last five rows of b are held out.
func newColumns(t *testing.T) *fixture {
	rng := testrand.New(t)
	f := &fixture{folder: filepath.Join(t.TempDir(), "data")}
	rows := [][]string{{"id", "source", "label", "second", "split", "x0", "x1"}}
	for _, source := range []string{"a", "b", "t"} {
		for i := range 30 {
			row := []string{fmt.Sprint(source, i), source, "", "", "train", fmt.Sprint(rng.NormFloat64()), fmt.Sprint(rng.NormFloat64())}
			if i < 12 {
				row[2], row[3] = []string{"no", "yes"}[i%2], "no"
				if i%3 == 0 {
					row[3] = "yes"
				}
			}
			if row[0] == "a0" {
				row[2] = ""
			}
			if source == "b" && i >= 25 {
				row[4] = "test"
			}
			rows = append(rows, row)
		}
	}
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K = 2
	f.create(t, rows, ", split: split", "classes: [no, yes]}, {column: second, classes: [no, yes]", 9, cfg, pipeline.SettingK)
	return f
}

// create imports the rows of a table and makes a study of them with the target t. columns are added to the id, the source and the features
// in the manifest, and kind is the type of the labels.
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
	data := must.Get(columnar.OpenCandidates(f.folder, "", f.samples))(t)
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

// answers writes a file of answers and returns its path.
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
