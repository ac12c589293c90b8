package pipeline

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Heads that are all zero say nothing: nu = 0, which allocates uniformly.
func TestRelevanceOfZeroHeads(t *testing.T) {
	b := openCPU(t, 1)
	for _, r := range []Relevance{{Kind: MinNorm, Rcond: -1}, {Kind: Ridge, Tau: 1}, {Kind: L1, Lambda: 0.3}} {
		nu, _, err := relevanceOf(t, b, r, make([]float64, 3*2), []float64{1, 2})
		if err != nil || norm(nu) != 0 {
			t.Errorf("%s: %v, %v, want zeros", r.Kind, nu, err)
		}
	}
}

func TestRelevanceRefusesNaN(t *testing.T) {
	b := openCPU(t, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, r := range []Relevance{{Kind: MinNorm, Rcond: -1}, {Kind: Ridge, Tau: 1}, {Kind: L1, Lambda: 0.3}} {
			for what, c := range map[string]struct{ a, w []float64 }{
				"a source's head":   {[]float64{1, 2, bad, 4}, []float64{1, 2}},
				"the target's head": {[]float64{1, 2, 3, 4}, []float64{1, bad}},
			} {
				nu, _, err := relevanceOf(t, b, r, c.a, c.w)
				must.Fail(t, fmt.Sprintf("%s, %g in %s: %v", r.Kind, bad, what, nu), err)
			}
		}
	}
}

// Alg. 2, line 4, as it stands: n_m = max(beta nu_m^2 eps^-2, beta eps^-1), with
// nu not normalised and nu_1 = (1/M, ..., 1/M).
func TestTheoryScheduleIsLineFour(t *testing.T) {
	dev := openDevice(t, 1, smallSet(1, 6, 5000, 4, false))
	cfg := smallConfig()
	cfg.Methods, cfg.ERM.Iterations = []string{Active}, 5
	cfg.Schedule = Schedule{Kind: ScheduleTheory, Epochs: 4, Theory: &Theory{Delta: 0.1, R: 1, SigmaMin: 1, Beta: 3}}
	_, st := runUnit(t, dev, cfg, 1)
	nu, have := []float64{0.2, 0.2, 0.2, 0.2, 0.2}, make([]int, 5)
	for i, e := range st.Epochs {
		eps := math.Pow(2, -float64(i+1))
		for m := range have {
			want := min(max(int(math.Ceil(math.Max(3*nu[m]*nu[m]/(eps*eps), 3/eps)-1e-6)), have[m]), 4500)
			if e.Counts[m] != want {
				t.Errorf("epoch %d, source %d: %d samples, want %d (nu %g)", i+1, m, e.Counts[m], want, nu[m])
			}
		}
		nu, have = e.Nu, e.Counts
	}
}

// A cost or a nu of a task that does not exist is a misspelling.
func TestUnknownNamesInCostsAndNu(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 3, 100, 4, false))
	for what, change := range map[string]func(*Config){
		"costs": func(c *Config) { c.Costs = map[string]float64{"bites_0": 2} },
		"nu":    func(c *Config) { c.Methods, c.Nu = []string{Known}, map[string]float64{"bites_0": 2} },
	} {
		cfg := smallConfig()
		change(&cfg)
		u, err := newLearner(dev, cfg, 2)
		if err == nil {
			u.Close()
			t.Errorf("%s of bites_0: no error", what)
		}
	}
}

// The budget is a total: a floor that costs more than it must be refused, not
// overspent.
func TestFloorAboveTheBudget(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 5, 500, 4, false))
	cfg := smallConfig()
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 50, Budget: 100}
	u, err := newLearner(dev, cfg, 2)
	if err != nil {
		return
	}
	defer u.Close()
	if st, err := u.Solve(context.Background(), State{}, quiet, unsaved); err == nil {
		t.Errorf("a budget of 100 was spent as %g", st.Epochs[1].Cost)
	}
}

// No samples at all is an error that says so.
func TestFitLinearWithoutSamples(t *testing.T) {
	b := openCPU(t, 1)
	r := newRegression(t, b, testrand.New(t), 3, []int{0, 0})
	_, err := FitLinear(context.Background(), b, r.s, 2, ERM{Iterations: 5, History: 5, Init: InitRandom}, make([]float32, 10), nil)
	if err == nil || strings.Contains(err.Error(), "NaN") {
		t.Errorf("%v, want an error about samples", err)
	}
	r = newRegression(t, b, testrand.New(t), 3, []int{2, 2})
	must.Fail(t, "K = 0", must.Err(FitLinear(context.Background(), b, r.s, 0, ERM{Iterations: 5, History: 5, Init: InitRandom}, nil, nil)))
}
