package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Check, Propose and Learn refuse a record changed by a program if the next round cannot be allocated by it. Any record that is allowed
// gives a round of existing rows within the budget.
func TestRecordsThatAllocateNothing(t *testing.T) {
	rng := testrand.New(t)
	dev := openDevice(t, 1, smallSet(rng.Uint64(), 5, 120, 4, true))
	cfg := smallConfig()
	cfg.Allocation = Allocation{Rule: RuleSquared, Mix: MixAuto}
	l := must.Get(newLearner(dev, cfg, 0))(t)
	defer l.Close()
	p := l.problem
	first := must.Get(l.Learn(t.Context(), State{}, p.LookUp(must.Get(p.Propose(State{}))(t))))(t)
	round := p.LookUp(must.Get(p.Propose(first))(t))
	// with returns the state after the first round with its record changed by change.
	with := func(change func(e *Epoch)) State {
		st := State{Epochs: slices.Clone(first.Epochs), Theta: first.Theta, Head: first.Head}
		e := &st.Epochs[0]
		e.Nu, e.Match = slices.Clone(e.Nu), slices.Clone(e.Match)
		change(e)
		return st
	}
	m, sources := rng.IntN(len(p.Sources)), len(p.Sources)
	few := float64(sources)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		says string
		of   []float64
		set  func(e *Epoch, v float64)
	}{
		{fmt.Sprintf("nu of source %d is", m), []float64{nan, inf, -inf, 2 * MaxNu, -math.MaxFloat64}, func(e *Epoch, v float64) { e.Nu[m] = v }},
		{"a match is", []float64{nan, inf, -inf}, func(e *Epoch, v float64) { e.Match = make([]float64, sources); e.Match[m] = v }},
		{"expected match of", []float64{1, few - 1, few + 1, 2 * few}, func(e *Epoch, v float64) { e.Match = make([]float64, int(v)) }},
		{"own is", []float64{nan, inf, -inf, -1e-9, math.Nextafter(1, 2)}, func(e *Epoch, v float64) { e.Own = v }},
		{"match by chance is", []float64{nan, inf, -inf, -1 - rng.Float64(), 1.01 + rng.Float64()},
			func(e *Epoch, v float64) { e.MatchByChance = v }},
		{"nu by chance is", []float64{nan, inf, -inf, -1e-300, -1 - rng.ExpFloat64()}, func(e *Epoch, v float64) { e.NuByChance = v }},
		{"at 4 rates of noise", []float64{1, 3, 5}, func(e *Epoch, v float64) { e.NoisyLoss = make([]float64, int(v)) }},
		{"expected losses of rows", []float64{0, -1}, func(e *Epoch, v float64) { e.Losses = &Losses{Rows: int(v), Sums: []float64{1}} }},
		{"expected losses of rows", []float64{10}, func(e *Epoch, v float64) { e.Losses = &Losses{Rows: int(v)} }},
		{"expected the numbers of rows", []float64{0, 2, 4}, func(e *Epoch, v float64) {
			e.Losses = &Losses{Rows: 10, Groups: 3, Sums: make([]float64, 3), Each: make([]int, int(v))}
		}},
	} {
		for _, v := range c.of {
			st, what := with(func(e *Epoch) { c.set(e, v) }), fmt.Sprintf("%s, of %g", c.says, v)
			for who, err := range map[string]error{
				"Check": p.Check(st.Epochs), "Propose": must.Err(p.Propose(st)), "Learn": must.Err(l.Learn(t.Context(), st, round)),
			} {
				must.Fail(t, who+", "+what, err, "epoch 1 of active: ", c.says)
			}
		}
	}
	for what, change := range must.Ordered(map[string]func(e *Epoch){
		"the largest nu":  func(e *Epoch) { e.Nu[m] = -MaxNu },
		"all of them":     func(e *Epoch) { fill(e.Nu, MaxNu) },
		"no nu":           func(e *Epoch) { clear(e.Nu) },
		"random":          func(e *Epoch) { e.Own, e.MatchByChance, e.NuByChance = rng.Float64(), rng.Float64(), rng.ExpFloat64() },
		"own alone":       func(e *Epoch) { e.Own, e.MatchByChance = 1, 1 },
		"much by chance":  func(e *Epoch) { e.NuByChance = math.MaxFloat64 },
		"no match at all": func(e *Epoch) { e.Match = nil },
	}) {
		st := with(change)
		must.Do(t, p.Check(st.Epochs))
		drawn := 0
		for i, rows := range must.Get(p.Propose(st))(t).Sources {
			drawn += len(rows)
			must.Hold(t, len(rows) >= first.Epochs[0].Counts[i], "%s: source %d loses rows", what, i)
		}
		must.Hold(t, drawn > first.Epochs[0].Samples && float64(drawn) <= cfg.Schedule.Budget, "%s: %d rows, after %d", what, drawn,
			first.Epochs[0].Samples)
	}
}

func fill(v []float64, with float64) {
	for i := range v {
		v[i] = with
	}
}
