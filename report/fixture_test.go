package report

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// hostile lists names that contain markup or code, or are hard to lay out.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, `'; DROP TABLE x; --`, strings.Repeat("long name ", 20),
	strings.Repeat("unbroken", 25), "مصدر البيانات 7", "מקור 3", "🦜🧪 emoji 👩‍👩‍👧",
	"a|b*c`d`[e](http://example.com)", "&amp;&lt;", "{{.Title}}",
	"</svg></title><script>alert(3)</script>", "${7*7}", "名前", "=1+2", " ",
}

// smallData returns digits. If naughty is set, the tasks, classes and pools have hostile names.
func smallData(t testing.TB, naughty bool) *dataset.Set {
	t.Helper()
	set := must.Get(dataset.Digits(3, 200, 2))(t)
	set.Pools, set.Tasks = set.Pools[:4], set.Tasks[:40]
	if naughty {
		set.Name = "data " + hostile[0]
		for i := range set.Tasks {
			set.Tasks[i].Name = fmt.Sprintf("%s %d", hostile[i%len(hostile)], i)
			set.Tasks[i].Output.Class = hostile[i%10]
		}
		for i, p := range set.Pools {
			p.Name = hostile[i+3]
		}
	}
	return set
}

// work opens the data on the CPU and returns them with the identity of small work on them.
func work(t testing.TB, set *dataset.Set, change func(*pipeline.Config)) (*pipeline.Resident, runs.Identity) {
	t.Helper()
	dev := pipelinetest.Open(t, 2, set, pipeline.NewResident)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg = cfg.Complete(nil)
	cfg.TargetSamples, cfg.K, cfg.ERM.Iterations = 60, 6, 15
	cfg.Schedule.Epochs, cfg.Schedule.Floor = 4, 3
	if change != nil {
		change(&cfg)
	}
	id := runs.NewIdentity("v0.0.0-test", set, backend.Choice{Device: dev.Device, Reason: "asked for"}, cfg)
	return dev, id
}

// finishedRun carries out a small run and returns its folder.
func finishedRun(t testing.TB, set *dataset.Set, target int, change func(*pipeline.Config)) string {
	t.Helper()
	dev, id := work(t, set, change)
	dir := filepath.Join(t.TempDir(), "run")
	id.Targets, id.Seeds = []string{set.Tasks[target].Name}, []uint64{5}
	if id.Config.Sources == pipeline.SourcesPools {
		id.Targets = []string{set.Pools[set.Tasks[target].Pool].Name}
	}
	must.Get(runs.Run(context.Background(), dev, id, dir, func(pipeline.Step) {}))(t)
	return dir
}

func pageOf(t testing.TB, dir string) *Page {
	t.Helper()
	p := RunPage(must.Get(runs.ReadRun(dir))(t), Command{Line: "amtrl run --seed 5"})
	columnsDiffer(t, p)
	return p
}

// columnsDiffer fails where two columns of a table have one name: programs find columns by their names.
func columnsDiffer(t testing.TB, p *Page) {
	t.Helper()
	for _, s := range p.sheets() {
		seen := map[string]bool{}
		for _, c := range s.Columns {
			must.Hold(t, !seen[c], "table %s has two columns %q", s.ID, c)
			seen[c] = true
		}
	}
}

// finishedSweep carries out a small sweep over the targets and returns its folder.
func finishedSweep(t testing.TB, set *dataset.Set, targets []int, budgets []float64, change func(*pipeline.Config)) string {
	t.Helper()
	dev, id := work(t, set, func(c *pipeline.Config) {
		c.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 2, Floor: 1, Budget: budgets[0]}
		if change != nil {
			change(c)
		}
	})
	dir := filepath.Join(t.TempDir(), "sweep")
	for _, i := range targets {
		id.Targets = append(id.Targets, set.Tasks[i].Name)
	}
	id.Seeds, id.Budgets = []uint64{5, 6, 7}, budgets
	must.Get(runs.Sweep(context.Background(), dev, id, dir, 2, func(runs.SweepStep) {}))(t)
	return dir
}

// largeSweeps holds the folders of largeSweep, by whether names are hostile, in a folder that TestMain removes.
var largeSweeps = map[bool]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range largeSweeps {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// largeSweep returns the folder, which tests only read, of a sweep of six targets at two budgets over smallData.
func largeSweep(t testing.TB, naughty bool) string {
	t.Helper()
	if largeSweeps[naughty] == "" {
		dir := finishedSweep(t, smallData(t, naughty), []int{1, 11, 21, 31, 4, 14}, []float64{400, 900}, nil)
		kept := must.Get(os.MkdirTemp("", "amtrl-report"))(t)
		must.Do(t, os.CopyFS(kept, os.DirFS(dir)))
		largeSweeps[naughty] = kept
	}
	return largeSweeps[naughty]
}

func sweepPage(t testing.TB, dir string) *Page {
	t.Helper()
	id, s, err := runs.ReadSweep(dir)
	must.Do(t, err)
	p := must.Get(SweepPage(dir, &id, s, Command{Line: "amtrl sweep --seeds 5"}))(t)
	columnsDiffer(t, p)
	return p
}

// finishedStudy carries out a small study of sources and classes with hostile names, and returns its folder.
func finishedStudy(t testing.TB) string {
	t.Helper()
	rng, dir := rand.New(rand.NewPCG(8, 1)), t.TempDir()
	classes, labels := []string{hostile[0], hostile[3], hostile[5], hostile[7]}, map[string]string{}
	rows := [][]string{{"id", "source", hostile[8], "x0", "x1", "x2", "x3"}}
	for s, source := range hostile[:9] {
		for i := range 40 {
			id, kind := fmt.Sprintf("%d-%d", s, i), i%len(classes)
			row := []string{id, source, ""}
			if labels[id] = classes[kind]; s == 4 {
				row[2] = classes[kind]
			}
			for j := range classes {
				row = append(row, fmt.Sprintf("%.3f", 1.5*float64(pipelinetest.Int(j == kind))+rng.NormFloat64()))
			}
			rows = append(rows, row)
		}
	}
	write := func(name string, rows [][]string) string {
		var text strings.Builder
		must.Do(t, csv.NewWriter(&text).WriteAll(rows))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o644))
		return filepath.Join(dir, name)
	}
	write("rows.csv", rows)
	manifestOf := must.Get(json.Marshal(map[string]any{"files": "rows.csv", "target": map[string]string{"source": hostile[4]},
		"columns": map[string]string{"id": "id", "source": "source", "features": "x*"},
		"labels":  []any{map[string]any{"column": hostile[8], "classes": classes}}}))(t)
	path, data := filepath.Join(dir, "rows.yaml"), filepath.Join(dir, "data")
	must.Do(t, os.WriteFile(path, manifestOf, 0o644))
	must.Do(t, columnar.Import(t.Context(), must.Get(manifest.Read(path))(t), data, func(int64, int64, string) {}))
	candidates := must.Get(columnar.OpenCandidates(data, "", 0))(t)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg.K, cfg.TargetSamples, cfg.Sources = 3, 40, pipeline.SourcesPools
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 1, Floor: 2, Budget: 60}
	cfg = cfg.Complete(candidates.Set).Canonical()
	cfg.Methods = study.Methods(cfg.Methods)
	dir = filepath.Join(dir, "study")
	settings := study.Settings{Data: study.Data{Path: path}, Target: hostile[4], RoundBudget: 60, Config: cfg}
	must.Do(t, study.Create(dir, settings, data, candidates))
	s := must.Get(study.Open(dir))(t)
	must.Do(t, s.Attach(data))
	for round := range 3 {
		answers := [][]string{{"id", "label"}}
		for _, r := range must.Get(s.Ask(t.Context(), study.Request{}))(t).Rows {
			answers = append(answers, []string{r.ID, labels[r.ID]})
		}
		must.Get(s.Tell(t.Context(), write(fmt.Sprintf("answers%d.csv", round), answers), study.TellOptions{}))(t)
		must.Get(s.Learn(t.Context(), func() (backend.Device, error) { return cpu.Open(1) }))(t)
	}
	return dir
}
