package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/foldertest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

func TestRunRefusesOtherWork(t *testing.T) {
	dev, id, dir, want := ran(t, smallSet(25, 4, 200, 5, false))
	for field, change := range map[string]func(*Identity){
		"config.k":                  func(i *Identity) { i.Config.K = 4 },
		"config.erm.lambda":         func(i *Identity) { i.Config.ERM.Lambda = 0.5 },
		"config.costs":              func(i *Identity) { i.Config.Costs = map[string]float64{"bytes_0": 2} },
		"config.schedule.budget":    func(i *Identity) { i.Config.Schedule.Budget++ },
		"config.methods":            func(i *Identity) { i.Config.Methods = []string{pipeline.Active} },
		"targets":                   func(i *Identity) { i.Targets = []string{"bytes_0"} },
		"seeds":                     func(i *Identity) { i.Seeds = []uint64{2} },
		"version":                   func(i *Identity) { i.Version = "v2" },
		"the data are small set of": func(i *Identity) { i.Data.SHA256 = "0" + i.Data.SHA256[1:] + "x" },
		"backend.device":            func(i *Identity) { i.Backend.Device = "abacus" },
		"config.allocation.mix":     func(i *Identity) { i.Config.Allocation.Mix = 0.25 },
		"config.relevance.lambda":   func(i *Identity) { i.Config.Relevance.Lambda = 0.5 },
		"config.target_samples":     func(i *Identity) { i.Config.TargetSamples = 21 },
		"config.include_target":     func(i *Identity) { i.Config.IncludeTarget = true },
		"config.schedule.epochs":    func(i *Identity) { i.Config.Schedule.Epochs = 2 },
		"config.head.ridge":         func(i *Identity) { i.Config.Head.Ridge = 1 },
		"config.erm.warm_start":     func(i *Identity) { i.Config.ERM.WarmStart = false },
		"config.allocation.rule":    func(i *Identity) { i.Config.Allocation.Rule = pipeline.RuleL1 },
		"backend.precision":         func(i *Identity) { i.Backend.Precision = "TF32" },
		"config.relevance.kind":     func(i *Identity) { i.Config.Relevance = pipeline.Relevance{Kind: pipeline.Ridge, Rcond: -1, Tau: 1} },
		"config.allocation.mix is":  func(i *Identity) { i.Config.Allocation.Mix, i.Config.K = 0.5, 9 },
	} {
		other := id
		other.Config = cloneConfig(id.Config)
		change(&other)
		where := "config.json"
		if strings.HasPrefix(field, "backend.") {
			where = "the device that holds the data"
		}
		must.Fail(t, field+" changed", must.Err(Run(t.Context(), dev, other, dir, quiet)), field, where)
	}
	foldertest.Equal(t, "after refusals", foldertest.Read(t, dir), want)
}

// The same data under another name are the same: a run that was begun goes on, and its bytes stay those under the first name.
func TestRunTakesOtherNames(t *testing.T) {
	set := smallSet(25, 4, 200, 5, false)
	dev, id, _, want := ran(t, set)
	dir := t.TempDir()
	must.Fail(t, "an interruption", interrupted(t, dev, id, dir, func(s pipeline.Step) bool { return s.Done == 2 }))
	other := *set
	other.Name = "moved"
	moved := openDevice(t, 1, &other)
	for range 2 { // the run goes on, and then is finished already
		again := identityOf(moved, smallConfig(), []string{"bytes_2"}, 1)
		if again.Data.Name != "moved" {
			t.Fatalf("the data are called %q", again.Data.Name)
		}
		if res := mustRun(t, moved, again, dir); res.Data != id.Data.Name {
			t.Errorf("the result is of %q", res.Data)
		}
		foldertest.Equal(t, "under another name", foldertest.Read(t, dir), want)
	}
}

func cloneConfig(c pipeline.Config) pipeline.Config {
	c.Methods = slices.Clone(c.Methods)
	return c
}

func TestRunRefusesDamage(t *testing.T) {
	dev, id, _, files := ran(t, smallSet(26, 3, 200, 5, false))
	delete(files, "result.json")
	for name, damage := range map[string]func(string) string{
		"checkpoint/epoch.safetensors": func(s string) string { return s[:len(s)-1] + string(s[len(s)-1]^1) },
		"config.json":                  func(s string) string { return s[:len(s)/2] },
		"result.json":                  func(string) string { return `{"data": "x", "surprise": 1}` },
	} {
		bad := maps.Clone(files)
		bad[name] = damage(bad[name])
		dir := restored(t, bad)
		must.Fail(t, "damaged "+name, must.Err(Run(t.Context(), dev, id, dir, quiet)), filepath.Join(dir, name))
		foldertest.Equal(t, "after damage to "+name, foldertest.Read(t, dir), bad)
	}
}

// A checkpoint of another seed is refused, even in a folder without config.json.
func TestRunRefusesAForeignCheckpoint(t *testing.T) {
	dev, id, _, one := ran(t, smallSet(26, 3, 200, 5, false))
	name := filepath.Join("checkpoint", "epoch.safetensors")
	two := restored(t, map[string]string{name: one[name]})
	id.Seeds = []uint64{2}
	must.Fail(t, "the checkpoint of seed 1 for seed 2", must.Err(Run(t.Context(), dev, id, two, quiet)), "other work")
}

// A run that cannot be carried out is refused before anything is written.
func TestRunErrorsComeFirst(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	noTest := smallSet(27, 3, 100, 4, false)
	noTest.Tasks[2].Test = nil
	for what, c := range map[string]struct {
		dev    *pipeline.Resident
		change func(*Identity)
		says   string
	}{
		"too few rows": {dev, func(i *Identity) { i.Config.TargetSamples = 91 }, "90"},
		"no test rows": {openDevice(t, 1, noTest), func(i *Identity) {
			i.Config.TargetSamples, i.Config.Head.Prior = 90, pipeline.PriorSources
		}, "test"},
		"theory": {dev, func(i *Identity) {
			i.Config.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleTheory, Epochs: 3, Theory: &pipeline.Theory{Delta: 0.1, R: 1, SigmaMin: 1}}
		}, "theory"},
		"no such task":  {dev, func(i *Identity) { i.Targets = []string{"bytes_7"} }, "bytes_7"},
		"two targets":   {dev, func(i *Identity) { i.Targets = append(i.Targets, "bytes_0") }, "2 targets"},
		"no seed":       {dev, func(i *Identity) { i.Seeds = nil }, "0 seeds"},
		"floor too big": {dev, func(i *Identity) { i.Config.Schedule.Floor = 1000 }, "1,000 samples"},
	} {
		id := identityOf(c.dev, smallConfig(), []string{"bytes_2"}, 1)
		c.change(&id)
		dir := filepath.Join(t.TempDir(), "new")
		must.Fail(t, what, must.Err(Run(t.Context(), c.dev, id, dir, quiet)), c.says)
		must.Absent(t, dir)
	}
}

// The files agree with the result, and the model errs on the test rows as the score says.
func TestRunFolder(t *testing.T) {
	set := smallSet(28, 6, 400, 7, true)
	dev := openDevice(t, 2, set)
	cfg := smallConfig()
	cfg.Allocation.Mix, cfg.Costs = 0.1, map[string]float64{"bytes_0": 2}
	id := identityOf(dev, cfg, []string{"floats_3"}, 77)
	dir := t.TempDir()
	res := mustRun(t, dev, id, dir)
	names := slices.Sorted(maps.Keys(foldertest.Read(t, dir)))
	if want := []string{"checkpoint/active.safetensors", "checkpoint/epoch.safetensors", "checkpoint/uniform.safetensors",
		"config.json", "epochs.jsonl", "model.safetensors", "relevance.csv",
		"result.json", "rows.csv"}; !slices.Equal(names, want) {
		t.Errorf("the folder has %v, want %v", names, want)
	}
	read := func(name string) []byte {
		return must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
	}

	var stored Result
	if err := json.Unmarshal(read("result.json"), &stored); err != nil || !reflect.DeepEqual(&stored, res) {
		t.Errorf("result.json holds %+v, %v, want %+v", stored, err, res)
	}
	back, err := DecodeIdentity(read("config.json"))
	if err != nil || !reflect.DeepEqual(back.Config, id.Config) || back.Data != id.Data || back.Data.SHA256 != set.Hash() ||
		back.Targets[0] != "floats_3" || back.Seeds[0] != 77 {
		t.Errorf("config.json holds %+v, %v, want %+v", back, err, id)
	}

	var epochs []pipeline.Epoch
	dec := json.NewDecoder(bytes.NewReader(read("epochs.jsonl")))
	dec.DisallowUnknownFields()
	for dec.More() {
		var e pipeline.Epoch
		must.Do(t, dec.Decode(&e))
		epochs = append(epochs, e)
	}
	if len(epochs) != 4 || bytes.Count(read("epochs.jsonl"), []byte("\n")) != 4 {
		t.Fatalf("%d epochs, want 4, each on a line", len(epochs))
	}
	active, uniform := epochs[2], epochs[3]
	if res.Target != "floats_3" || res.Seed != 77 || res.Data != set.Name || res.Budget != 400 || len(res.Methods) != 2 {
		t.Errorf("the result is %+v", res)
	}
	for i, e := range []pipeline.Epoch{active, uniform} {
		iterations := e.Fit.Iterations
		if i == 0 {
			iterations += epochs[0].Fit.Iterations + epochs[1].Fit.Iterations
		}
		want := MethodResult{
			Method: e.Method, Samples: e.Samples, Cost: e.Cost, Epochs: e.Epoch, Iterations: iterations, Objective: e.Fit.Objective,
			TargetLoss: e.TargetLoss, LeaveOneOut: e.LeaveOneOut, Score: e.Score,
		}
		if !reflect.DeepEqual(res.Methods[i], want) || !reflect.DeepEqual(*res.Method(e.Method), want) {
			t.Errorf("method %d: %+v, want %+v", i, res.Methods[i], want)
		}
	}
	if res.Method(pipeline.Known) != nil {
		t.Error("there is a result of a method that did not run")
	}

	m := must.Get(ReadModel(dir))(t)
	if m.Target != "floats_3" || m.Method != pipeline.Active || m.K != 3 || m.D != 7 ||
		!slices.Equal(m.Sources, []string{"bytes_0", "floats_1", "bytes_2", "bytes_4", "floats_5"}) {
		t.Errorf("the model is %+v", m)
	}
	p := multiply(false, false, wide(m.Head), 1, wide(m.Representation), m.K)
	wrong := 0
	for _, row := range set.Tasks[3].Test {
		wrong += b2i((dot(p, features(set, 1, int(row))) > 0.5) != (set.Tasks[3].Labels[row] > 0.5))
	}
	if score := res.Method(pipeline.Active).Score; score.Metric != pipeline.MetricError ||
		score.Value != float64(wrong)/float64(len(set.Tasks[3].Test)) {
		t.Errorf("the model errs on %d of %d test rows, recorded %+v", wrong, len(set.Tasks[3].Test), score)
	}
	nu, rank, err := m.Relevance(pipelinetest.NewQueue(t, dev.Device), cfg.Relevance)
	if err != nil || !slices.Equal(nu, active.Nu) || rank != active.NuRank {
		t.Errorf("the model's relevance is %v, %v, recorded %v", nu, err, active.Nu)
	}

	rows, err := csv.NewReader(bytes.NewReader(read("relevance.csv"))).ReadAll()
	if err != nil || len(rows) != 6 || !slices.Equal(rows[0], []string{"source", "nu", "nu_low", "nu_high", "share", "share_low", "share_high",
		"top_five", "samples", "cost", "available"}) {
		t.Fatalf("relevance.csv: %v, %v", rows, err)
	}
	shares := pipelinetest.Shares(cfg.Allocation.Rule, cfg.Allocation.Mix, active.Nu, []float64{2, 1, 1, 1, 1})
	last, sum := math.Inf(1), 0.0
	for i, row := range rows[1:] {
		m := slices.Index(m.Sources, row[0])
		nu, err1 := strconv.ParseFloat(row[1], 64)
		share, err2 := strconv.ParseFloat(row[4], 64)
		samples, err3 := strconv.Atoi(row[8])
		if err := errors.Join(err1, err2, err3); err != nil || m < 0 {
			t.Fatal(err)
		}
		cost := 1 + float64(b2i(m == 0))
		if nu != active.Nu[m] || samples != active.Counts[m] || !near(share, cost*shares[m], 1e-12) {
			t.Errorf("%v: want nu %g, share %g, %d samples", row, active.Nu[m], cost*shares[m], active.Counts[m])
		}
		want := []string{"", "", "", "", "", text.Number(cost * float64(samples)), strconv.Itoa(len(set.Tasks[slices.IndexFunc(set.Tasks,
			func(t dataset.Task) bool { return t.Name == row[0] })].Train))}
		if !slices.Equal(slices.Concat(row[2:4], row[5:8], row[9:]), want) {
			t.Errorf("%v: want no intervals and the cost %s", row, want[5])
		}
		if math.Abs(nu) > last {
			t.Errorf("row %d has nu = %g after %g", i, nu, last)
		}
		last, sum = math.Abs(nu), sum+share
		if s := res.Sources[i]; s != (SourceResult{Source: row[0], Nu: nu, Share: share, Samples: samples}) {
			t.Errorf("row %d is %v, the result has %+v", i, row, s)
		}
	}
	if !near(sum, 1, 1e-12) {
		t.Errorf("the shares add up to %g", sum)
	}

	checkRows(t, set, read("rows.csv"), m.Sources, epochs[:3], []float64{2, 1, 1, 1, 1})

	if lines := bytes.Count(read("timing.jsonl"), []byte("\n")); lines != 4 {
		t.Errorf("timing.jsonl has %d lines, want 4", lines)
	}
}

// checkRows checks rows.csv against the counts of the epochs: it lists as many new train rows of each source in each round, and none twice.
func checkRows(t *testing.T, set *dataset.Set, raw []byte, sources []string, epochs []pipeline.Epoch, costs []float64) {
	t.Helper()
	rows := must.Get(csv.NewReader(bytes.NewReader(raw)).ReadAll())(t)
	if !slices.Equal(rows[0], []string{"round", "source", "id", "row", "cost"}) {
		t.Fatalf("rows.csv begins with %v", rows[0])
	}
	rows = rows[1:]
	seen := map[string]bool{}
	before := make([]int, len(sources))
	for _, e := range epochs {
		for i, source := range sources {
			task := set.Tasks[must.Get(set.TaskIndex(source))(t)]
			for range e.Counts[i] - before[i] {
				if len(rows) == 0 {
					t.Fatalf("rows.csv ends in round %d", e.Epoch)
				}
				row := rows[0]
				rows = rows[1:]
				n := must.Get(strconv.Atoi(row[3]))(t)
				if want := []string{strconv.Itoa(e.Epoch), source, "", row[3], text.Number(costs[i])}; !slices.Equal(row, want) {
					t.Fatalf("a row is %v, want %v", row, want)
				}
				if seen[source+row[3]] || !slices.Contains(task.Train, int32(n)) {
					t.Errorf("row %d of %s was drawn twice, or is not one to draw from", n, source)
				}
				seen[source+row[3]] = true
			}
		}
		before = e.Counts
	}
	if len(rows) > 0 {
		t.Errorf("%d rows are left over", len(rows))
	}
}
