package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Solve refuses a state of another problem: a checkpoint whose checksum is right may still be one.
func TestUnitRefusesStatesThatAreNotItsOwn(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	u, full := runUnit(t, dev, smallConfig(), 0)
	for what, change := range map[string]func(*State){
		"short parameters":    func(s *State) { s.Theta = s.Theta[1:] },
		"no parameters":       func(s *State) { s.Theta = nil },
		"long head":           func(s *State) { s.Head = append(slices.Clone(s.Head), 0) },
		"an epoch too many":   func(s *State) { s.Epochs = append(s.Epochs, s.Epochs[len(s.Epochs)-1]) },
		"epochs out of order": func(s *State) { s.Epochs[0], s.Epochs[1] = s.Epochs[1], s.Epochs[0] },
		"another method":      func(s *State) { s.Epochs[0].Method = Uniform },
		"a source too few":    func(s *State) { s.Epochs[0].Counts = s.Epochs[0].Counts[1:] },
		"a nu too few":        func(s *State) { s.Epochs[0].Nu = nil },
		"more than there are": func(s *State) { s.Epochs[0].Counts = []int{1 << 20, 1, 1} },
		"a negative count":    func(s *State) { s.Epochs[0].Counts = []int{-1, 1, 1} },
	} {
		st := State{Epochs: slices.Clone(full.Epochs), Theta: full.Theta, Head: full.Head}
		change(&st)
		must.Fail(t, what, must.Err(u.Solve(context.Background(), st, quiet, unsaved)))
	}
	if err := u.Check(full); err != nil {
		t.Errorf("its own state: %v", err)
	}
}

// Learn refuses rounds that are not the next one, or whose rows or labels are not right, and leaves the state before as it is.
func TestLearnRefusesRoundsThatAreNotNext(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	u, full := runUnit(t, dev, smallConfig(), 0)
	st := State{Epochs: full.Epochs[:1], Theta: full.Theta, Head: full.Head}
	prop := must.Get(u.problem.Propose(st))(t)
	must.Fail(t, "a proposal after the last round", must.Err(u.problem.Propose(full)), "all 4 epochs are finished")
	for what, change := range map[string]func(*Round){
		"another method":           func(r *Round) { r.Method = Uniform },
		"another epoch":            func(r *Round) { r.Epoch++ },
		"a source too few":         func(r *Round) { r.Sources = r.Sources[1:] },
		"a label too few":          func(r *Round) { r.Sources[0].Y = r.Sources[0].Y[1:] },
		"labels of the next":       func(r *Round) { r.Sources[0].Rows = r.Sources[0].Rows[1:]; r.Sources[1].Y = r.Sources[1].Y[1:] },
		"a target label too few":   func(r *Round) { r.Target.Y = r.Target.Y[1:] },
		"a test label too many":    func(r *Round) { r.Test.Y = append(r.Test.Y, 0) },
		"a label that is NaN":      func(r *Round) { r.Sources[2].Y[0] = float32(math.NaN()) },
		"a row beyond the pool":    func(r *Round) { r.Sources[2].Rows[0] = 200 },
		"a negative row":           func(r *Round) { r.Target.Rows[0] = -1 },
		"no row of any source":     func(r *Round) { clear(r.Sources) },
		"no row of the target":     func(r *Round) { r.Target = Labelled{} },
		"no row to test on":        func(r *Round) { r.Test = Labelled{} },
		"more rows than there are": func(r *Round) { r.Sources[0] = Labelled{make([]int32, 300), make([]float32, 300)} },
	} {
		round := u.problem.LookUp(prop)
		for _, l := range append([]*Labelled{&round.Target}, &round.Sources[2]) {
			l.Rows = slices.Clone(l.Rows)
		}
		change(&round)
		must.Fail(t, what, must.Err(u.Learn(context.Background(), st, round)))
	}
	next, err := u.Learn(context.Background(), st, u.problem.LookUp(prop))
	if err != nil || len(next.Epochs) != 2 || len(st.Epochs) != 1 {
		t.Errorf("the round itself: %d epochs, %v", len(next.Epochs), err)
	}
}

// A source without samples has no head to learn: its nu must not come from the
// random start.
func TestUnsampledSourcesHaveNoHead(t *testing.T) {
	dev := openDevice(t, 1, smallSet(5, 4, 200, 5, false))
	cfg := smallConfig()
	cfg.Methods, cfg.ERM.Lambda = []string{Active}, 0
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 1, Budget: 2}
	_, st := runUnit(t, dev, cfg, 0)
	for m, n := range st.Epochs[0].Counts {
		if n == 0 && st.Epochs[0].Nu[m] != 0 {
			t.Errorf("source %d has no sample, and nu %g", m, st.Epochs[0].Nu[m])
		}
	}
	if !slices.Contains(st.Epochs[0].Counts, 0) {
		t.Error("every source was sampled: the test tests nothing")
	}
}

// A state with a number that is not finite is not saved.
func TestStatesAreFinite(t *testing.T) {
	rng := testrand.New(t)
	ends := func() []float64 { return normals(rng, 3) }
	e := Epoch{NoisyLoss: ends(), Nu: ends(), Match: ends(), HeadTrees: ends(), Losses: &Losses{Sums: ends()},
		Uncertainty: &Uncertainty{NuLow: ends(), NuHigh: ends(), ShareLow: ends(), ShareHigh: ends()}}
	st, u := State{Epochs: []Epoch{{}, e}, Theta: narrow(ends()), Head: narrow(ends())}, e.Uncertainty
	must.Do(t, st.checkFinite())
	last := &st.Epochs[1]
	for i, of := range [][]float64{e.NoisyLoss, e.Nu, e.Match, e.HeadTrees, e.Losses.Sums, u.NuLow, u.NuHigh, u.ShareLow, u.ShareHigh} {
		at, bad := rng.IntN(3), []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
		was := of[at]
		of[at] = bad
		must.Fail(t, fmt.Sprintf("list %d", i), st.checkFinite(), "expected a finite number")
		of[at] = was
	}
	for i, of := range []*float64{
		&last.Fit.Objective, &last.Fit.Lambda, &last.Fit.Loss, &last.Fit.Validation, &last.HeadRidge, &last.HeadKappa, &last.HeadToMean,
		&last.Own, &last.TargetLoss, &last.LeaveOneOut, &last.LogLoss, &last.NuByChance, &last.MatchByChance, &last.Score.Value,
	} {
		*of = math.Inf(1)
		must.Fail(t, fmt.Sprintf("number %d", i), st.checkFinite(), "expected a finite number")
		*of = 1
	}
	for i, of := range [][]float32{st.Theta, st.Head} {
		of[i] = nan32
		must.Fail(t, fmt.Sprintf("parameters %d", i), st.checkFinite(), "expected a finite number")
		of[i] = 0
	}
	must.Do(t, st.checkFinite())
}
