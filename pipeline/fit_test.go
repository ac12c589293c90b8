package pipeline

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// ownSet returns a set like that of a manifest: pools with the given numbers of rows, the last of them the target's alone. Some rows have
// no label, and there are no test rows.
func ownSet(rng *rand.Rand, rows []int, binary bool) *dataset.Set {
	const d = 7
	set := &dataset.Set{Name: "own", Binary: binary}
	for i, n := range rows {
		p := &dataset.Pool{Name: fmt.Sprintf("pool %d", i), Rows: n, Cols: d, F32: make([]float32, n*d), Scale: 1, Target: i == len(rows)-1}
		if rng.IntN(3) == 0 {
			p.Cost = 0.5 + rng.Float64()*9
		}
		for j := range p.F32 {
			p.F32[j] = float32(rng.NormFloat64())
		}
		t := dataset.Task{Name: p.Name, Pool: i, Output: dataset.Output{Name: "label"}, Labels: make([]float32, n)}
		for r := range n {
			if r > 0 && rng.IntN(4) == 0 {
				continue
			}
			t.Train = append(t.Train, int32(r))
			y := p.F32[r*d] + 0.3*float32(rng.NormFloat64())
			if binary {
				y = float32(b2i(y > 0.5))
			}
			t.Labels[r] = y
		}
		set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, t)
	}
	return set
}

// positives returns the number of training rows with the label 1.
func positives(t *dataset.Task) (n int) {
	for _, r := range t.Train {
		n += b2i(t.Labels[r] == 1)
	}
	return n
}

// Without held-out rows the score is the leave-one-out error over all rows of the target.
func TestScoreLeavesOneOut(t *testing.T) {
	rng := testrand.New(t)
	for _, binary := range []bool{true, false} {
		set := ownSet(rng, []int{200, 150, 300, 60}, binary)
		for binary && 4*positives(&set.Tasks[3]) < len(set.Tasks[3].Train) { // with few of the rarer class, chance decides
			set = ownSet(rng, []int{200, 150, 300, 60}, binary)
		}
		dev := openDevice(t, 1, set)
		cfg := must.Get(NewConfig(PresetDefault))(t)
		cfg, _ = cfg.Fit(set, []string{"pool 3"})
		p := must.Get(NewProblem(set, cfg, 3))(t)
		cfg = p.Config
		task := &set.Tasks[3]
		if cfg.TargetSamples != len(task.Train) || len(p.draws.test) != 0 {
			t.Fatalf("%d target samples and %d test rows of %d", cfg.TargetSamples, len(p.draws.test), len(task.Train))
		}
		_, st := runUnit(t, dev, cfg, 3)
		n := float64(len(task.Train))
		mean := 0.0
		for _, r := range task.Train {
			mean += float64(task.Labels[r]) / n
		}
		constant := 0.0
		for _, r := range task.Train {
			y := float64(task.Labels[r])
			others := (mean*n - y) / (n - 1)
			if binary {
				constant += float64(b2i((mean > 0.5) != (y > 0.5))) / n
			} else {
				constant += (others - y) * (others - y) / n
			}
		}
		for _, e := range st.Epochs {
			if !e.Score.LeaveOneOut {
				t.Errorf("%s: the score is not marked", e.Method)
			}
			if e.Method == Constant && !near(e.Score.Value/constant, 1, 1e-5) {
				t.Errorf("binary %v: the score of the constant is %g, expected %g", binary, e.Score.Value, constant)
			}
			if binary {
				continue
			}
			// In the last round of active and uniform, the score is of predictions with the weights that other samples choose.
			mixed := (e.Method == Active || e.Method == Uniform) && e.Epoch == p.RoundsOf(e.Method)
			more := e.Score.Value / e.LeaveOneOut
			if mixed && !(more > 1 && more < 1.2) || !mixed && !near(more, 1, 1e-4) {
				t.Errorf("%s: the score is %g, recorded leave-one-out %g", e.Method, e.Score.Value, e.LeaveOneOut)
			}
		}
		scores := map[string]float64{}
		for _, e := range st.Epochs {
			scores[e.Method] = e.Score.Value
		}
		// Of 38 samples with a rare class, uniform may err on as many as the constant does.
		if best, worst := scores[Uniform], scores[Constant]; !(best < 0.9*worst || binary && best <= worst) {
			t.Errorf("binary %v: uniform has %g, the constant %g", binary, best, worst)
		}
	}
}

// Where there are fewer samples than rows, the other rows are for tests, unless the target is a source too.
func TestRestIsForTests(t *testing.T) {
	set := ownSet(testrand.New(t), []int{200, 150, 120}, true)
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg, _ = cfg.Fit(set, []string{"pool 2"})
	cfg.TargetSamples = 30
	p := must.Get(NewProblem(set, cfg, 2))(t)
	prop := must.Get(p.Propose(State{}))(t)
	all := slices.Sorted(slices.Values(slices.Concat(prop.Target, prop.Test)))
	if len(prop.Target) != 30 || !slices.Equal(all, set.Tasks[2].Train) || !slices.IsSorted(prop.Test) {
		t.Errorf("%d target samples, %v for tests of %v", len(prop.Target), prop.Test, set.Tasks[2].Train)
	}
	cfg.IncludeTarget = true
	if p := must.Get(NewProblem(set, cfg, 2))(t); len(p.draws.test) != 0 {
		t.Errorf("%v are for tests and can be drawn", p.draws.test)
	}
}

// Whatever the data of a manifest, NewProblem accepts the settings that Fit chooses, and the first round draws rows. Fit leaves given
// settings as they are, and chooses nothing for other data and under preset paper.
func TestFitServes(t *testing.T) {
	rng := testrand.New(t)
	preset := must.Get(NewConfig(PresetDefault))(t)
	for range 60 {
		rows := make([]int, 2+rng.IntN(60))
		for i := range rows {
			rows[i] = 1 + rng.IntN(1+rng.IntN(3000))
		}
		rows[len(rows)-1] = 8 + rng.IntN(100)
		set := ownSet(rng, rows, rng.IntN(2) == 0)
		target := len(rows) - 1
		cfg, choices := preset.Fit(set, []string{set.Tasks[target].Name})
		p, err := NewProblem(set, cfg, target)
		if err != nil {
			t.Errorf("rows %v, chose %v: %v", rows, choices, err)
			continue
		}
		prop := must.Get(p.Propose(State{}))(t)
		drawn := 0
		for _, s := range prop.Sources {
			drawn += len(s)
		}
		if drawn == 0 {
			t.Errorf("rows %v, chose %v: nothing is drawn", rows, choices)
		}
		given := preset
		given.TargetSamples, given.K, given.Schedule.Floor, given.Schedule.Epochs, given.Scaling = 3, 2, 0, 4, ScalingNone
		given.Allocation.Rule = RuleL1
		got, choices := given.Fit(set, []string{set.Tasks[target].Name}, SettingTargetSamples, SettingK, SettingFloor, SettingSchedule)
		if got.TargetSamples != 3 || got.K != 2 || got.Schedule != given.Schedule || got.Scaling != ScalingNone ||
			got.Allocation != given.Allocation || len(choices) > 0 {
			t.Errorf("%+v came of what was given, %v", got, choices)
		}
	}
	// A row or two can be drawn, whatever they cost.
	for _, rows := range [][]int{{1, 20}, {2, 20}, {1, 1, 20}} {
		for _, cost := range []float64{0.3, 1, 7} {
			set := ownSet(rng, rows, true)
			for _, pool := range set.Pools {
				pool.Cost = cost
			}
			cfg, choices := preset.Fit(set, []string{set.Tasks[len(rows)-1].Name})
			p := must.Get(NewProblem(set, cfg, len(rows)-1))(t)
			_, err := p.Propose(State{})
			must.Hold(t, err == nil, "rows %v at %g, chose %v: %v", rows, cost, choices, err)
		}
	}
	// With few rows of many sources, the first of several rounds would draw next to nothing.
	set := ownSet(rng, append(slices.Repeat([]int{3}, 80), 20), true)
	preset.Schedule.Epochs = 3
	for _, given := range []string{"", SettingEpochs} {
		cfg, choices := preset.Fit(set, []string{"pool 80"}, given)
		fewer := cfg.Schedule.Epochs < preset.Schedule.Epochs
		said := slices.ContainsFunc(choices, func(c Choice) bool {
			return c.Setting == SettingEpochs && c.Value == fmt.Sprint(cfg.Schedule.Epochs)
		})
		if fewer == (given == SettingEpochs) || said != fewer {
			t.Errorf("given %q: %d epochs, %v", given, cfg.Schedule.Epochs, choices)
		}
	}
	// A budget beyond all integers buys what a large one does.
	set = ownSet(rng, []int{20, 30, 20}, true)
	floors := []int{}
	for _, budget := range []float64{1e6, 1e30, 1e300} {
		given := preset
		given.Schedule.Kind, given.Schedule.Budget, given.Schedule.Floor = ScheduleBudget, budget, 50
		cfg, _ := given.Fit(set, []string{"pool 2"}, SettingSchedule)
		floors = append(floors, cfg.Schedule.Floor)
		must.Do(t, must.Err(NewProblem(set, cfg, 2)))
	}
	must.Hold(t, floors[0] > 0 && floors[1] == floors[0] && floors[2] == floors[0], "floors %d", floors)
	paper := must.Get(NewConfig(PresetPaper))(t)
	if _, choices := paper.Fit(ownSet(rng, []int{9, 9}, true), []string{"pool 1"}); len(choices) > 0 {
		t.Errorf("preset paper became %v", choices)
	}
	other := must.Get(dataset.SparseNu(5, 2, 3, 1, 60, 1))(t)
	if _, choices := preset.Fit(other, []string{other.Tasks[3].Name}); len(choices) > 0 {
		t.Errorf("other data chose %v", choices)
	}
}

// Where the costs of the targets' sources differ, Fit chooses the priced allocation, and says so; where they do not, it is squared.
func TestAllocationAuto(t *testing.T) {
	rng := testrand.New(t)
	others := func(costs ...float64) (*dataset.Set, Config) {
		set, cfg := smallSet(4, 5, 60, 6, true), must.Get(NewConfig(PresetDefault))(t)
		cfg.Costs = map[string]float64{}
		for i, task := range set.Tasks {
			cfg.Costs[task.Name] = costs[0]
			if i < len(costs) {
				cfg.Costs[task.Name] = costs[i]
			}
		}
		return set, cfg
	}
	own := func(costs ...float64) (*dataset.Set, Config) {
		set := ownSet(rng, []int{30, 30, 30, 40}, true)
		for i, c := range costs {
			set.Pools[i].Cost = c
		}
		return set, must.Get(NewConfig(PresetDefault))(t)
	}
	for _, c := range []struct {
		costs  []float64
		fitted string // by Fit, with the last task as the target
		whole  string // by Complete, for any target
		reason string
	}{
		{[]float64{1, 1, 1, 1}, RuleSquared, RuleSquared, ""},
		{[]float64{3, 3, 3, 3}, RuleSquared, RuleSquared, ""},
		{[]float64{1, 0, 1, 1}, RuleSquared, RuleSquared, ""},
		{[]float64{1, 30, 1.5, 1}, RulePriced, RulePriced, "sources cost between 1 and 30"},
		{[]float64{2, 2, 2, 9}, RuleSquared, RulePriced, ""}, // only the target has another cost
	} {
		for i, make := range []func(...float64) (*dataset.Set, Config){others, own} {
			costs := slices.Clone(c.costs)
			if i == 0 && costs[1] == 0 {
				costs[1] = 1 // only a pool may have the cost 0, which means 1
			}
			set, cfg := make(costs...)
			whole := c.whole
			if i == 1 && c.fitted == RuleSquared {
				whole = RuleSquared // the last pool is the target's alone
			}
			if got := cfg.Complete(set).Allocation; got != (Allocation{whole, MixAuto}) {
				t.Errorf("costs %v, set %d: completed to %+v", costs, i, got)
			}
			name := set.Tasks[3].Name
			got, choices := cfg.Fit(set, []string{name})
			said := slices.IndexFunc(choices, func(c Choice) bool { return c.Setting == SettingAllocation })
			if got.Allocation != (Allocation{c.fitted, MixAuto}) || (said >= 0) != (c.reason != "") ||
				said >= 0 && choices[said] != (Choice{SettingAllocation, RulePriced, c.reason}) {
				t.Errorf("costs %v, set %d: fitted to %+v, %v", costs, i, got.Allocation, choices)
			}
			for _, rule := range []string{RuleSquared, RulePriced, RuleL1} {
				cfg.Allocation.Rule = rule
				if got, choices := cfg.Fit(set, []string{name}); got.Allocation.Rule != rule || got.Complete(set).Allocation.Rule != rule ||
					slices.ContainsFunc(choices, func(c Choice) bool { return c.Setting == SettingAllocation }) {
					t.Errorf("%s became %s, %v", rule, got.Allocation.Rule, choices)
				}
			}
		}
	}
	theory := must.Get(NewConfig(PresetDefault))(t)
	theory.Schedule.Kind = ScheduleTheory
	if got := theory.Complete(nil).Canonical().Allocation; got != (Allocation{Rule: RuleSquared}) {
		t.Errorf("schedule theory has %+v", got)
	}
	if paper := must.Get(NewConfig(PresetPaper))(t); paper.Allocation != (Allocation{Rule: RuleSquared}) {
		t.Errorf("preset paper has %+v", paper.Allocation)
	}
}

// Rows that are said in parts have the predictions of all rows at once.
func TestPredictionsInParts(t *testing.T) {
	set := smallSet(4, 5, 300, 6, true)
	cfg := smallConfig()
	cfg.Methods = []string{Active}
	l, _ := runUnit(t, openDevice(t, 2, set), cfg, 2)
	rows, u := set.Tasks[2].Test, must.Get(l.model.units())(t)
	want := must.Get(l.predictions(rows, u))(t)
	if len(want) != 1 || len(want[0]) != len(rows) {
		t.Fatalf("%d outputs of %d rows", len(want), len(rows))
	}
	usual := scoreRows
	defer func() { scoreRows = usual }()
	scoreRows = len(rows)/3 + 1
	if got := must.Get(l.predictions(rows, u))(t); !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
		t.Errorf("%v in parts, %v at once", got, want)
	}
}

// Fit leaves the settings as they are for a target that the data do not have, and ignores it beside other targets.
func TestFitKeepsSettingsWithoutTheTarget(t *testing.T) {
	set := ownSet(testrand.New(t), []int{50, 50, 60}, true)
	cfg := must.Get(NewConfig(PresetDefault))(t)
	got, choices := cfg.Fit(set, []string{"pool 9"})
	must.Hold(t, reflect.DeepEqual(got, cfg) && choices == nil, "%+v, %v", got, choices)
	want, chosen := cfg.Fit(set, []string{"pool 2"})
	for _, targets := range [][]string{{"pool 9", "pool 2"}, {"pool 2", "pool 9"}} {
		got, choices := cfg.Fit(set, targets)
		must.Hold(t, reflect.DeepEqual(got, want) && slices.Equal(choices, chosen), "for %q: %+v, %v", targets, got, choices)
	}
}
