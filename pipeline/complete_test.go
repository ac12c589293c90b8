package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// anyConfig returns random settings, with constants of kinds that are not chosen too, and some left open.
func anyConfig(rng *rand.Rand) Config {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	value := func() float64 { return float64(rng.IntN(4)) / 8 }
	c, err := NewConfig(pick(Presets()...))
	if err != nil {
		panic(err)
	}
	c.Methods = [][]string{{Active}, {Uniform}, {Active, Uniform, Known}}[rng.IntN(3)]
	c.Schedule.Kind, c.Schedule.Budget = pick(SchedulePaper, ScheduleTheory, ScheduleBudget), 1+value()
	c.Representation = pick(ClassLinear, ClassConv)
	c.Relevance = Relevance{pick(MinNorm, Ridge, L1, Transfer, RelevanceAuto), value(), value(), value()}
	c.Head = Head{Ridge: RidgeAuto, Prior: pick(PriorIdentity, PriorSources, PriorResidual), Rcond: value()}
	c.Schedule.Floor = rng.IntN(3)
	c.K, c.Intercept = rng.IntN(3), rng.IntN(2) == 0
	c.Scaling = pick("", ScalingGlobal, ScalingFeature, ScalingNone, ScalingAuto)
	if rng.IntN(2) == 0 {
		c.Schedule.Theory = &Theory{Delta: 0.1 + value(), R: 1 + value(), SigmaMin: 1}
	}
	if rng.IntN(2) == 0 {
		c.Conv = DefaultConv(c.Preset)
		c.Conv.Passes = []int{PassesAuto, 8}[rng.IntN(2)]
		c.Conv.Patience += rng.IntN(2)
		c.Conv.Validation *= float64(rng.IntN(2))
	}
	if c.Representation == ClassConv && c.Schedule.Kind == ScheduleTheory {
		c.Schedule.Kind = SchedulePaper // the theorem holds for the linear class
	}
	if c.Representation == ClassConv && c.Scaling == ScalingFeature {
		c.Scaling = ScalingNone
	}
	if rng.IntN(2) == 0 {
		c.Nu = map[string]float64{"a": value()}
	}
	return c
}

// A budget schedule has five rounds under preset default with the linear class, whose rounds are cheap, and otherwise four, unless Epochs
// is given.
func TestEpochs(t *testing.T) {
	for _, c := range []struct {
		preset, schedule, class string
		given, want             int
	}{
		{PresetDefault, SchedulePaper, ClassLinear, 0, 4},
		{PresetDefault, ScheduleBudget, ClassLinear, 0, 5},
		{PresetDefault, ScheduleBudget, ClassLinear, 4, 4},
		{PresetDefault, ScheduleBudget, ClassConv, 0, 4},
		{PresetPaper, ScheduleBudget, ClassLinear, 0, 4},
	} {
		cfg := must.Get(NewConfig(c.preset))(t)
		cfg.Schedule.Kind, cfg.Schedule.Epochs, cfg.Representation = c.schedule, c.given, c.class
		if got := cfg.Complete(nil).Schedule.Epochs; got != c.want {
			t.Errorf("%+v: %d epochs", c, got)
		}
		if got := cfg.DefaultEpochs(); got != c.want && c.given == 0 {
			t.Errorf("%+v: %d epochs by default", c, got)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	js := must.Get(json.Marshal(v))(t)
	return string(js)
}

// shared returns the path of the first memory that two values of one type share, "" for none.
func shared(a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if in := shared(a.Field(i), b.Field(i)); in != "" {
				return a.Type().Field(i).Name + in
			}
		}
	case reflect.Pointer, reflect.Map, reflect.Slice:
		switch {
		case a.IsNil() || b.IsNil():
		case a.Pointer() == b.Pointer() && (a.Kind() != reflect.Slice || a.Len() > 0):
			return " (" + a.Type().String() + ")"
		case a.Kind() == reflect.Pointer:
			return shared(a.Elem(), b.Elem())
		}
	}
	return ""
}

// Complete and Canonical change nothing more where they are applied again, or in the other order first. Constants of kinds that are not
// chosen leave no trace, and those of chosen kinds stay.
func TestCompleteAndCanonical(t *testing.T) {
	rng := testrand.New(t)
	set := &dataset.Set{Pools: []*dataset.Pool{zeros(1)}, Tasks: []dataset.Task{{Name: "a"}}}
	set.Model = &dataset.LinearModel{D: 1, K: 7, Tasks: 1, B: make([]float64, 7), W: make([]float64, 7)}
	for range 2000 {
		c := anyConfig(rng)
		before := jsonOf(t, c)
		full := c.Complete(set)
		want := full.Canonical()
		if jsonOf(t, c) != before {
			t.Fatalf("%s was changed", before)
		}
		if in := shared(reflect.ValueOf(want), reflect.ValueOf(c)); in != "" {
			t.Fatalf("canonical settings share memory with those given: %s", in)
		}
		for what, again := range map[string]Config{
			"completed twice":       full.Complete(set).Canonical(),
			"canonical twice":       want.Canonical(),
			"both twice":            want.Complete(set).Canonical(),
			"canonical, then both":  c.Canonical().Complete(set).Canonical(),
			"for data of no model":  full.Complete(nil).Canonical(),
			"read from JSON, again": reread(t, want).Complete(set).Canonical(),
		} {
			if jsonOf(t, again) != jsonOf(t, want) {
				t.Fatalf("%s, %s:\n%s, want\n%s", before, what, jsonOf(t, again), jsonOf(t, want))
			}
		}
		if err := want.Validate(); err != nil {
			t.Fatalf("%s: %v", before, err)
		}
		if c.K == 0 && want.K != 7 || c.K != 0 && want.K != c.K {
			t.Fatalf("K of %d becomes %d where the data's is 7", c.K, want.K)
		}

		// Other settings that differ only in what nothing reads.
		other := anyConfig(rng)
		same := c
		if c.Schedule.Kind != ScheduleTheory {
			same.Schedule.Theory = other.Schedule.Theory
		}
		if c.Schedule.Kind != ScheduleBudget {
			same.Schedule.Budget = other.Schedule.Budget
		}
		if !c.Intercept {
			same.Scaling = other.Scaling
		} else if c.Scaling == "" || c.Scaling == ScalingAuto { // no feature varies
			same.Scaling = ScalingGlobal
		}
		if c.Representation == ClassConv {
			same.ERM = other.ERM
			if c.Conv != nil && c.Conv.Validation == 0 {
				same.Conv = &Conv{}
				*same.Conv = *c.Conv
				same.Conv.Patience += 3
			}
		} else {
			same.Conv = other.Conv
		}
		if c.Schedule.Kind == ScheduleTheory && len(c.Methods) < 3 {
			same.Schedule.Floor = other.Schedule.Floor
		}
		if want.Head.Prior == PriorResidual {
			same.Head.Rcond = other.Head.Rcond
		}
		if c.Relevance.Kind != MinNorm {
			same.Relevance.Rcond = other.Relevance.Rcond
		}
		if want.Relevance.Kind != Ridge {
			same.Relevance.Tau = other.Relevance.Tau
		}
		if c.Relevance.Kind != L1 {
			same.Relevance.Lambda = other.Relevance.Lambda
		}
		if len(c.Methods) < 3 {
			same.Nu = other.Nu
		}
		if got := jsonOf(t, same.Complete(set).Canonical()); got != jsonOf(t, want) {
			t.Fatalf("%s means the same as %s and becomes\n%s, want\n%s", jsonOf(t, same), before, got, jsonOf(t, want))
		}

		// What is read stays.
		if v := c.Relevance.Tau; c.Relevance.Kind == Ridge && v != 0 && want.Relevance.Tau != v {
			t.Fatalf("tau of %g becomes %g", v, want.Relevance.Tau)
		}
		if v := c.Relevance.Lambda; c.Relevance.Kind == L1 && v != 0 && want.Relevance.Lambda != v {
			t.Fatalf("lambda of %g becomes %g", v, want.Relevance.Lambda)
		}
		if v := c.Relevance.Rcond; c.Relevance.Kind == MinNorm && want.Relevance.Rcond != v {
			t.Fatalf("rcond of %g becomes %g", v, want.Relevance.Rcond)
		}
		if v := c.Head.Rcond; c.Head.Prior != PriorResidual && want.Head.Rcond != v {
			t.Fatalf("rcond of the head of %g becomes %g", v, want.Head.Rcond)
		}
		if v := c.Schedule.Floor; (c.Schedule.Kind != ScheduleTheory || len(c.Methods) == 3) && want.Schedule.Floor != v {
			t.Fatalf("floor of %d becomes %d", v, want.Schedule.Floor)
		}
		read := c.Intercept && (c.Scaling == ScalingFeature || c.Scaling == ScalingNone)
		if read && want.Scaling != c.Scaling {
			t.Fatalf("scaling %s becomes %s", c.Scaling, want.Scaling)
		}
		if c.Schedule.Kind == ScheduleTheory && c.Schedule.Theory != nil && *want.Schedule.Theory != *c.Schedule.Theory {
			t.Fatalf("%+v becomes %+v", *c.Schedule.Theory, *want.Schedule.Theory)
		}
	}
}

func reread(t *testing.T, c Config) (back Config) {
	t.Helper()
	must.Do(t, json.Unmarshal([]byte(jsonOf(t, c)), &back))
	return back
}

// It is enough to choose a kind: Complete fills in its constants, which are those that the help of the command line states.
func TestCompleteConstants(t *testing.T) {
	c := must.Get(NewConfig(PresetPaper))(t)
	c.Schedule.Kind, c.Relevance.Kind = ScheduleTheory, L1
	c = c.Complete(nil).Canonical()
	if c.K != 50 || *c.Schedule.Theory != (Theory{Delta: 0.1, R: 1, SigmaMin: 1}) ||
		c.Relevance != (Relevance{L1, -1, 0, 0.3}) || c.Conv != nil {
		t.Errorf("%s", jsonOf(t, c))
	}
	for sources, kind := range map[string]string{SourcesPools: Transfer, SourcesTasks: Ridge} {
		c := must.Get(NewConfig(PresetDefault))(t)
		c.Sources = sources
		named := &dataset.Set{Pools: []*dataset.Pool{zeros(1)}, Tasks: []dataset.Task{{Output: dataset.Output{Name: "label"}}}}
		if got := c.Complete(named).Relevance.Kind; got != kind {
			t.Errorf("relevance auto of %s is %s, want %s", sources, got, kind)
		}
	}
	c.Schedule.Kind, c.Relevance.Kind, c.Representation = SchedulePaper, Ridge, ClassConv
	c = c.Complete(nil).Canonical()
	if c.Schedule.Theory != nil || c.Relevance != (Relevance{Ridge, -1, 1, 0}) ||
		jsonOf(t, c.Conv) != jsonOf(t, DefaultConv(PresetPaper)) || c.ERM != (ERM{}) {
		t.Errorf("%s", jsonOf(t, c))
	}
}

func TestDefaultTarget(t *testing.T) {
	set := &dataset.Set{Pools: []*dataset.Pool{zeros(1)}, Tasks: []dataset.Task{{Name: "a"}, {Name: Showcase}, {Name: "z"}}}
	var cfg Config
	if got := cfg.DefaultTarget(set); got != "glass_blur_2" {
		t.Errorf("%s, want the showcase", got)
	}
	set.Tasks[1].Name = "b"
	if got := cfg.DefaultTarget(set); got != "z" {
		t.Errorf("%s, want the last", got)
	}
}

// Validate accepts the names of the presets, and the empty name for settings that are all given, but no other.
func TestPresetsThatThereAre(t *testing.T) {
	for _, preset := range append(Presets(), "") {
		cfg := must.Get(NewConfig(cmp.Or(preset, PresetDefault)))(t)
		cfg = cfg.Complete(nil).Canonical()
		cfg.Preset = preset
		must.Do(t, cfg.Validate())
		for _, bad := range []string{"best", "Default", " ", preset + "\n"} {
			cfg.Preset = bad
			must.Fail(t, "a preset", cfg.Validate(), fmt.Sprintf("unknown preset %q: expected default or paper", bad))
		}
	}
}

func TestConcurrency(t *testing.T) {
	const all = 12
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(all))
	for _, c := range []struct{ units, jobs, threads, wantJobs, wantThreads int }{
		{1, 0, 0, 1, 0}, {1, 8, 3, 1, 3}, {100, 5, 0, 5, 2}, {100, 5, 3, 5, 3}, {100, 1, 0, 1, 0}, {1 << 20, 0, 3, all, 3},
		{1 << 20, 0, 0, all, 1}, {4, 0, 0, 4, 3}, {100, 4 * all, 0, 4 * all, 1},
	} {
		if jobs, threads := Concurrency(c.units, c.jobs, c.threads); jobs != c.wantJobs || threads != c.wantThreads {
			t.Errorf("%d units, %d jobs, %d threads: %d and %d, want %d and %d", c.units, c.jobs, c.threads, jobs, threads,
				c.wantJobs, c.wantThreads)
		}
	}
}

// Costs in the data apply to each source for which the settings have none, but not to the target, and no task of a pool that is the
// target's alone is a source.
func TestCompleteCosts(t *testing.T) {
	set := &dataset.Set{Name: "shops", Binary: true}
	rng := testrand.New(t)
	for i, p := range []*dataset.Pool{{Name: "a", Cost: 3}, {Name: "b", Cost: 1}, {Name: "c"}, {Name: "t", Cost: 9, Target: true}} {
		p.Rows, p.Cols, p.Scale, p.F32 = 40, 3, 1, make([]float32, 120)
		labels, rows := make([]float32, 40), make([]int32, 40)
		for r := range rows {
			rows[r] = int32(r)
			labels[r] = float32(rng.IntN(2))
		}
		set.Pools = append(set.Pools, p)
		for _, class := range []string{"good", "bad"} {
			set.Tasks = append(set.Tasks, dataset.Task{Name: p.Name + "_" + class, Pool: i, Output: dataset.Output{Name: "l", Class: class},
				Labels: labels, Train: rows[:30], Test: rows[30:]})
		}
	}
	must.Do(t, set.Validate())
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.TargetSamples, cfg.K = 10, 2
	cfg.Schedule.Kind, cfg.Schedule.Budget, cfg.Schedule.Floor = ScheduleBudget, 500, 1
	cfg.Costs = map[string]float64{"a_bad": 5}
	must.Fail(t, "a task's cost with pools", must.Err(NewProblem(set, cfg, 3)), "shops", `no pool "a_bad"`, "a, b, c, t")
	cfg.Sources = SourcesTasks
	p := must.Get(NewProblem(set, cfg, 6))(t)
	if want := []float64{3, 5, 1, 1, 1, 1}; !slices.Equal(p.Costs, want) || len(cfg.Costs) != 1 {
		t.Errorf("costs %v of %v, want %v", p.Costs, p.SourceNames(), want)
	}
	cfg.Sources, cfg.Costs = "", map[string]float64{"b": 7} // pools, since the data name their outputs
	p = must.Get(NewProblem(set, cfg, 3))(t)
	if want := []float64{3, 7, 1}; !slices.Equal(p.Costs, want) || p.Config.Sources != SourcesPools {
		t.Errorf("costs %v of %v, want %v", p.Costs, p.SourceNames(), want)
	}
	must.Fail(t, "a target that is not there", must.Err(NewProblem(set, cfg, 4)), "shops", "4")
}
