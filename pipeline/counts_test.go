package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"

	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// waterLevel returns x_m = min(max(level share_m, least_m), limit_m) at the level where the x_m cost the given total. It tries every
// interval between the levels at which a source starts or stops rising.
func waterLevel(shares, costs []float64, cost float64, least, limit []int) []float64 {
	x := make([]float64, len(shares))
	at := func(level float64) (total, slope float64) {
		for m, r := range shares {
			x[m] = math.Min(math.Max(level*r, float64(least[m])), float64(limit[m]))
			total += costs[m] * x[m]
			const below = 1 - 1e-12 // since a level times the share that it came from is rounded
			if level*r >= below*float64(least[m]) && level*r < below*float64(limit[m]) {
				slope += costs[m] * r
			}
		}
		return total, slope
	}
	levels := []float64{0}
	for m, r := range shares {
		if r > 0 {
			levels = append(levels, float64(least[m])/r, float64(limit[m])/r)
		}
	}
	slices.Sort(levels)
	for i := len(levels) - 1; i >= 0; i-- {
		if total, slope := at(levels[i]); total <= cost {
			if slope > 0 {
				at(levels[i] + (cost-total)/slope)
			}
			return x
		}
	}
	at(0)
	return x
}

// checkSpend checks that each count is x_m rounded down or up, and that together they spend the cost.
func checkSpend(t *testing.T, what string, counts []int, x, costs []float64, cost float64, limit []int) {
	t.Helper()
	spent, full, dearest := 0.0, 0.0, 0.0
	for m, n := range counts {
		if float64(n) < math.Floor(x[m]-1e-6) || float64(n) > math.Ceil(x[m]+1e-6) || n > limit[m] {
			t.Errorf("%s: source %d has %d samples, want %g, at most %d", what, m, n, x[m], limit[m])
		}
		spent += costs[m] * float64(n)
		full += costs[m] * x[m]
		if x[m] < float64(limit[m]) {
			dearest = math.Max(dearest, costs[m])
		}
	}
	want := math.Min(full, cost)
	if full > cost*(1+1e-9) { // the floor alone costs more
		want = full
	}
	if spent > want+1e-6 || spent < want-dearest-1e-6 {
		t.Errorf("%s: spent %g of %g", what, spent, want)
	}
}

func unitCosts(u *Learner, cfg Config) []float64 {
	costs := ones(len(u.problem.Sources))
	for m, s := range u.problem.Sources {
		if c, ok := cfg.Costs[s.Name]; ok {
			costs[m] = c
		}
	}
	return costs
}

// Each epoch's counts follow Alg. 2, line 4, from the relevance that the epoch
// before recorded; samples drawn earlier stay.
func TestActiveCounts(t *testing.T) {
	set := smallSet(1, 6, 5000, 4, false)
	dev := openDevice(t, 2, set)
	costs := map[string]float64{"bytes_0": 2, "floats_3": 0.5, "bytes_4": 1.25}
	for _, c := range []struct {
		schedule Schedule
		alloc    Allocation
		costs    map[string]float64
	}{
		{Schedule{Kind: SchedulePaper, Epochs: 4, Floor: 50}, Allocation{Rule: RuleSquared}, nil},
		{Schedule{Kind: SchedulePaper, Epochs: 3, Floor: 700}, Allocation{Rule: RuleL1, Mix: 0.3}, costs},
		{Schedule{Kind: ScheduleBudget, Epochs: 4, Floor: 20, Budget: 3000}, Allocation{Rule: RuleSquared}, nil},
		{Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 0, Budget: 2000.5}, Allocation{Rule: RuleL1}, costs},
		{Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 3, Budget: 2000}, Allocation{Rule: RulePriced}, costs},
		{Schedule{Kind: SchedulePaper, Epochs: 2, Floor: 50}, Allocation{Rule: RuleAuto}, costs},
		{Schedule{Kind: ScheduleBudget, Epochs: 3, Floor: 30, Budget: 16000}, Allocation{Rule: RuleSquared, Mix: 0.1}, costs},
	} {
		cfg := smallConfig()
		cfg.Schedule, cfg.Allocation, cfg.Costs, cfg.Methods = c.schedule, c.alloc, c.costs, []string{Active}
		cfg.ERM.Iterations = 5
		u, st := runUnit(t, dev, cfg, 1)
		m := len(u.problem.Sources)
		if m != 5 || len(st.Epochs) != c.schedule.Epochs {
			t.Fatalf("%d sources, %d epochs", m, len(st.Epochs))
		}
		cost, have, limit := unitCosts(u, cfg), make([]int, m), make([]int, m)
		for i := range limit {
			limit[i] = 4500
		}
		nu := ones(m)
		for i, e := range st.Epochs {
			what := fmt.Sprintf("%+v %+v epoch %d", c.schedule, c.alloc, i+1)
			rule := c.alloc.For(cost).Rule
			shares := pipelinetest.Shares(rule, c.alloc.Mix, nu, cost)
			if i == 0 && rule != RulePriced {
				shares = pipelinetest.Shares(RuleSquared, 1, nu, cost)
			}
			if c.schedule.Kind == SchedulePaper {
				scale := math.Pow(1.5, float64(22+i))
				for s := range shares {
					want := max(int(math.Ceil(shares[s]*scale-1e-6)), c.schedule.Floor, have[s])
					if e.Counts[s] != min(want, limit[s]) {
						t.Errorf("%s: source %d has %d samples, want %d, at most %d", what, s, e.Counts[s], want, limit[s])
					}
				}
			} else {
				scale, least := c.schedule.Budget/math.Pow(1.5, float64(c.schedule.Epochs-1-i)), make([]int, m)
				for s := range least {
					least[s] = max(have[s], c.schedule.Floor)
				}
				checkSpend(t, what, e.Counts, waterLevel(shares, cost, scale, least, limit), cost, scale, limit)
			}
			samples, drawn, spent := 0, 0, 0.0
			for s, n := range e.Counts {
				if n < have[s] {
					t.Errorf("%s: source %d went from %d samples to %d", what, s, have[s], n)
				}
				samples += n
				drawn += n - have[s]
				spent += cost[s] * float64(n)
			}
			if e.Samples != samples || e.Drawn != drawn || !near(e.Cost, spent, 1e-12) || e.Epoch != i+1 || e.Method != Active {
				t.Errorf("%s: recorded %d samples, %d drawn, cost %g, want %d, %d, %g", what, e.Samples, e.Drawn, e.Cost, samples, drawn, spent)
			}
			have, nu = e.Counts, e.Nu
		}
		if slices.Max(nu) == slices.Min(nu) {
			t.Error("the relevance is uniform: the test shows nothing")
		}
	}
}

// Uniform and Known spend what the active run spent or, without one, the total of the schedule.
func TestBaselinesFollowTheActiveRun(t *testing.T) {
	set := smallSet(2, 5, 900, 4, false)
	for i := range set.Tasks {
		set.Tasks[i].Train = set.Tasks[i].Train[:500+60*i] // pools that run out
	}
	dev := openDevice(t, 2, set)
	nu := map[string]float64{"bytes_0": 3, "bytes_2": -1, "floats_3": 0.5}
	for _, methods := range [][]string{{Active, Uniform, Known}, {Active, Known}, {Uniform}, {Known, Uniform}} {
		for _, budget := range []float64{300, 1500, 9000} {
			cfg := smallConfig()
			cfg.Methods, cfg.Nu, cfg.Allocation = methods, nu, Allocation{Rule: RuleSquared, Mix: 0.2}
			cfg.Costs = map[string]float64{"bytes_4": 1.5}
			cfg.Schedule.Budget, cfg.Schedule.Floor, cfg.ERM.Iterations = budget, 7, 2
			u, st := runUnit(t, dev, cfg, 1)
			costs, limit := unitCosts(u, cfg), []int{500, 620, 680, 740}
			cost := budget
			for _, e := range st.Epochs {
				what := fmt.Sprintf("%v budget %g, %s", methods, budget, e.Method)
				switch e.Method {
				case Active:
					cost = e.Cost
				case Uniform:
					checkSpend(t, what, e.Counts, waterLevel(ones(4), costs, cost, make([]int, 4), limit), costs, cost, limit)
				case Known:
					shares := pipelinetest.Shares(RuleSquared, 0, []float64{3, -1, 0.5, 0}, costs)
					checkSpend(t, what, e.Counts, waterLevel(shares, costs, cost, []int{7, 7, 7, 7}, limit), costs, cost, limit)
				}
				if e.Method != Active && (e.Epoch != 1 || e.Drawn != e.Samples) {
					t.Errorf("%s: epoch %d, %d of %d drawn", what, e.Epoch, e.Drawn, e.Samples)
				}
			}
			if want := len(methods) - 1 + 3*b2i(methods[0] == Active) + b2i(methods[0] != Active); len(st.Epochs) != want {
				t.Errorf("%v: %d epochs, want %d", methods, len(st.Epochs), want)
			}
		}
	}
}

func TestKnownTakesTheModelsRelevance(t *testing.T) {
	set := must.Get(dataset.SparseNu(6, 3, 7, 0.5, 400, 3))(t)
	cfg := smallConfig()
	cfg.Methods, cfg.Schedule = []string{Known}, Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 10, Budget: 200}
	_, st := runUnit(t, openDevice(t, 1, set), cfg, 7)
	if want := []int{10, 10, 10, 10, 10, 10, 140}; !slices.Equal(st.Epochs[0].Counts, want) {
		t.Errorf("nu = e_7 gives %v samples, want %v", st.Epochs[0].Counts, want)
	}
	cfg.Nu = map[string]float64{set.Tasks[2].Name: 1}
	_, st = runUnit(t, openDevice(t, 1, set), cfg, 7)
	if want := []int{10, 10, 140, 10, 10, 10, 10}; !slices.Equal(st.Epochs[0].Counts, want) {
		t.Errorf("a given nu = e_3 gives %v samples, want %v", st.Epochs[0].Counts, want)
	}
	small := smallSet(1, 3, 200, 4, false)
	cfg.Nu = nil
	for what, nu := range map[string]map[string]float64{"absent": nil, "all zero": {small.Tasks[1].Name: 0}} {
		cfg.Methods, cfg.Nu = []string{Active, Known}, nu
		if u, err := newLearner(openDevice(t, 1, small), cfg, 0); err == nil || !strings.Contains(err.Error(), "relevance") {
			u.Close()
			t.Errorf("known with a relevance that is %s: %v", what, err)
		}
	}
}
