package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
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

// A cost or a nu of a task that does not exist is an error: it is a misspelling.
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

// The error for method known without nu is in the words of the settings, and not in those of the command line.
func TestKnownWithoutNu(t *testing.T) {
	cfg := smallConfig()
	cfg.Methods = []string{Known}
	_, err := NewProblem(smallSet(27, 3, 100, 4, false), cfg, 2)
	must.Fail(t, "known", err, "method known needs the true relevance", "expected nu of the sources")
	must.Hold(t, !strings.Contains(err.Error(), "--"), "%v names a flag", err)
}

// The budget is a total: a floor that costs more than it must be refused, not
// overspent.
func TestFloorAboveTheBudget(t *testing.T) {
	dev := openDevice(t, 1, smallSet(27, 5, 500, 4, false))
	cfg := smallConfig()
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 50, Budget: 100}
	_, err := newLearner(dev, cfg, 2)
	must.Fail(t, "a floor above the budget", err, "the floor of 50 samples of each of", "expected at most the budget, 100")
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

// Learn and ScoreOn check the rows and labels that a program passes before they use them, and nothing panics.
func TestLearnRefusesBadRounds(t *testing.T) {
	dev := openDevice(t, 1, smallSet(9, 3, 80, 4, true))
	l := must.Get(newLearner(dev, smallConfig(), 0))(t)
	defer l.Close()
	p := l.problem
	source := p.SourceNames()[1]
	for want, spoil := range map[string]func(r *Round){
		"rows of " + source + ": expected rows 0 to 79 of pool": func(r *Round) { r.Sources[1].Rows[0] = 80 },
		"found row -1":                     func(r *Round) { r.Sources[1].Rows[2] = -1 },
		"rows of the target: expected":     func(r *Round) { r.Target.Rows[0] = 1 << 30 },
		"the target: expected rows 0":      func(r *Round) { r.Test.Rows[0] = 1 << 30 },
		"is 7, expected 0 or 1":            func(r *Round) { r.Sources[0].Y[1] = 7 },
		"is 0.5, expected 0 or 1":          func(r *Round) { r.Target.Y[1] = 0.5 },
		"is NaN, expected a finite number": func(r *Round) { r.Sources[0].Y[1] = float32(math.NaN()) },
	} {
		r := p.LookUp(must.Get(p.Propose(State{}))(t))
		for _, in := range append([]*Labelled{&r.Target, &r.Test}, &r.Sources[0], &r.Sources[1]) {
			in.Rows = slices.Clone(in.Rows)
		}
		spoil(&r)
		must.Fail(t, want, must.Err(l.Learn(t.Context(), State{}, r)), want)
	}
	set := shops(testrand.New(t), 3, 80, 4, 1, false)
	for i := range set.Tasks { // features so small that the weights for these labels overflow float32
		for r := range set.Tasks[i].Labels {
			set.Tasks[i].Labels[r] = float32(math.Copysign(3e38, float64(set.Pools[i].F32[4*r])))
		}
		set.Pools[i].Scale = 1e-12
	}
	cfg := defaultConfig(t)
	cfg.Intercept = false
	big := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer big.Close()
	round := big.problem.LookUp(must.Get(big.problem.Propose(State{}))(t))
	must.Fail(t, "weights that overflow", must.Err(big.Learn(t.Context(), State{}, round)),
		"target shop0, active, epoch 1: ", "Inf, expected a finite number")
	must.Fail(t, "nothing learned", must.Err(l.ScoreOn(Labelled{})), "expected Learn before")
	must.Get(l.Learn(t.Context(), State{}, p.LookUp(must.Get(p.Propose(State{}))(t))))(t)
	must.Fail(t, "no rows", must.Err(l.ScoreOn(Labelled{})), "expected labelled rows of the target, found none")
	must.Fail(t, "a row too far", must.Err(l.ScoreOn(Labelled{Rows: []int32{80}, Y: []float32{1}})), "found row 80")
	if got := l.Tensors(State{}); got != nil {
		t.Errorf("the zero state has tensors: %v", got)
	}
	other := must.Get(NewProblem(smallSet(9, 4, 200, 4, false), smallConfig(), 0))(t)
	must.Fail(t, "a problem of another set", must.Err(NewLearner(dev, other)), "expected those of", "which are resident")
}

// ScoreOn for other rows leaves Measured, the predictions and labels behind the score of the round, as it is. After a round that failed it
// is an error.
func TestScoreOnLeavesMeasured(t *testing.T) {
	rng := testrand.New(t)
	for _, head := range []Head{{Ridge: RidgeAuto, Prior: PriorResidual, Rcond: -1}, {Ridge: 0.01, Prior: PriorIdentity, Rcond: -1}} {
		dev := openDevice(t, 1, smallSet(rng.Uint64(), 4, 200, 5, rng.IntN(2) == 1))
		cfg := smallConfig()
		cfg.Head, cfg.Intercept, cfg.Methods = head, true, []string{Uniform}
		l := must.Get(newLearner(dev, cfg, 1))(t)
		defer l.Close()
		p := l.problem
		round := p.LookUp(must.Get(p.Propose(State{}))(t))
		st := must.Get(l.Learn(t.Context(), State{}, round))(t)
		pred, y := l.Measured()
		was := slices.Concat(pred...) // none by prior identity, as with preset paper
		must.Equal(t, len(y) > 0, head.Prior == PriorResidual, "%s: labels that are measured", head.Prior)
		some := p.Target.label(p.Set, round.Test.Rows[:7])
		score, losses, err := l.ScoreOn(some)
		must.Do(t, err)
		must.Equal(t, losses.Rows, len(some.Rows), "rows of %s %g", score.Metric, score.Value)
		again, labels := l.Measured()
		must.EqualSlices(t, slices.Concat(again...), was, "%s: predictions after ScoreOn", head.Prior)
		must.EqualSlices(t, labels, y, "%s: labels after ScoreOn", head.Prior)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.Is(t, must.Err(l.Learn(ctx, State{}, round)), context.Canceled, "a round that is cancelled")
		must.Is(t, must.Err(l.Solve(ctx, State{}, nil, nil)), context.Canceled, "all rounds")
		must.Fail(t, "after a round that failed", must.Err(l.ScoreOn(some)), "expected Learn before")
		must.EqualSlices(t, must.Get(l.Learn(t.Context(), State{}, round))(t).Head, st.Head, "the round again")
		must.Do(t, must.Err(l.ScoreOn(some)))
	}
}

// Learn refuses a row that occurs twice, or that is both a source's and one of the target's samples or held-out rows, in an error that
// names the source and the row.
func TestLearnRefusesRowsTwice(t *testing.T) {
	for _, c := range []struct {
		include, tested bool
	}{{false, true}, {true, true}, {false, false}} {
		set := shops(testrand.New(t), 3, 80, 4, 2, true)
		cfg := defaultConfig(t)
		cfg.IncludeTarget, cfg.Sources = c.include, SourcesTasks
		for i := range set.Tasks {
			if !c.tested {
				set.Tasks[i].Train, set.Tasks[i].Test = append(set.Tasks[i].Train, set.Tasks[i].Test...), nil
			}
		}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		p := l.problem
		whole := p.LookUp(must.Get(p.Propose(State{}))(t))
		add := func(to *Labelled, row int32) {
			to.Rows, to.Y = append(slices.Clone(to.Rows), row), append(slices.Clone(to.Y), 0)
		}
		own := slices.Index(p.SourceNames(), "shop0_0")
		beside := slices.Index(p.SourceNames(), "shop0_1")
		row := func(of Labelled) int32 { return of.Rows[len(of.Rows)-1] }
		spoilt := map[string]func(r *Round) int32{
			"rows of shop1_0: expected each row once, found row %d twice": func(r *Round) int32 {
				in := &r.Sources[slices.Index(p.SourceNames(), "shop1_0")]
				add(in, in.Rows[0])
				return row(*in)
			},
			"rows of the target shop0_0: expected each row once, found row %d twice": func(r *Round) int32 {
				add(&r.Target, r.Target.Rows[1])
				return row(r.Target)
			},
			"rows of the target shop0_0: expected samples that are not held out, found row %d": func(r *Round) int32 {
				add(&r.Test, r.Target.Rows[2])
				return row(r.Test)
			},
		}
		at := own
		if !c.tested {
			at = beside
		}
		if at >= 0 {
			spoilt["rows of "+p.SourceNames()[at]+": expected none that is a sample of the target shop0_0, found row %d"] = func(r *Round) int32 {
				add(&r.Sources[at], r.Target.Rows[3])
				return row(r.Sources[at])
			}
			spoilt["rows of "+p.SourceNames()[at]+": expected none that is held out of the target shop0_0, found row %d"] = func(r *Round) int32 {
				add(&r.Sources[at], r.Test.Rows[0])
				return row(r.Sources[at])
			}
		}
		for want, spoil := range spoilt {
			r := whole
			r.Sources = slices.Clone(whole.Sources)
			want = fmt.Sprintf(want, spoil(&r))
			must.Fail(t, want, must.Err(l.Learn(t.Context(), State{}, r)), "target shop0_0, active, epoch 1: "+want)
		}
		must.Do(t, must.Err(l.Learn(t.Context(), State{}, whole)))
	}
}
