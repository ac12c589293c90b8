package pipeline

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A proposal is the caller's own: sorting its rows changes no later proposal.
func TestProposalIsACopy(t *testing.T) {
	rng := testrand.New(t)
	l := must.Get(newLearner(openDevice(t, 1, smallSet(rng.Uint64(), 5, 120, 4, true)), smallConfig(), 0))(t)
	defer l.Close()
	propose := func() Proposal { return must.Get(l.problem.Propose(State{}))(t) }
	changed, want := propose(), propose()
	for _, rows := range append(slices.Clone(changed.Sources), changed.Target, changed.Test) {
		slices.Sort(rows)
	}
	must.Hold(t, !reflect.DeepEqual(changed, want), "rows are drawn in the order of the pool")
	must.Hold(t, reflect.DeepEqual(propose(), want), "sorting a proposal changed the next")
}

// The answer to a proposal of another problem is refused by Learn, with its place.
func TestLookUpOfAnotherProblem(t *testing.T) {
	rng := testrand.New(t)
	l := must.Get(newLearner(openDevice(t, 1, smallSet(rng.Uint64(), 5, 120, 4, true)), smallConfig(), 0))(t)
	defer l.Close()
	p := l.problem
	for says, change := range map[string]func(of *Proposal){
		"row 9999":                   func(of *Proposal) { of.Sources[1][0] = 9999 },
		"row -1":                     func(of *Proposal) { of.Target[0] = -1 },
		"row -2147483648":            func(of *Proposal) { of.Test[0] = math.MinInt32 },
		"found 5":                    func(of *Proposal) { of.Sources = append(of.Sources, []int32{0}) },
		"expected rows of 4 sources": func(of *Proposal) { of.Sources = of.Sources[:1] },
	} {
		of := must.Get(p.Propose(State{}))(t)
		change(&of)
		must.Fail(t, says, must.Err(l.Learn(t.Context(), State{}, p.LookUp(of))), says)
	}
}

// A budget of which the first round's part pays for no row is refused with that part and what a row costs.
func TestBudgetThatPaysForNoRow(t *testing.T) {
	cfg := smallConfig()
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 3, Budget: 9}
	cfg.Costs = map[string]float64{"bytes_0": 30, "floats_5": 1000, "bytes_2": 4.5, "floats_3": 400, "bytes_4": 400}
	l := must.Get(newLearner(openDevice(t, 1, smallSet(1, 6, 120, 4, false)), cfg, 1))(t)
	defer l.Close()
	_, err := l.problem.Propose(State{})
	must.Fail(t, "a budget of 9", err, "draws no sample: all rows by the end of the epoch may cost 4, and one of the cheapest source, "+
		"bytes_2, costs 4.5: raise the budget or the floor, or have fewer epochs than 3")
}
