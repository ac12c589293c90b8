package pipeline

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// What the samples say alone is what the baseline target says.
func TestOwnNumbers(t *testing.T) {
	rng := testrand.New(t)
	l := learnerOf(t, likeness(rng, make([]float64, 3), 30, 5, 20, true, false), Uniform, Target)
	st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
	in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
	u := must.Get(l.model.units())(t)
	own := must.Get(l.ownNumbers(in.Target, u))(t)[0]
	last := len(own.head) - 1
	for j := l.problem.Config.K + 1; j < last; j++ { // the units of the two are not the same
		isNear(t, float64(own.head[j]/own.head[last]), float64(st.Head[j]/st.Head[last]), 1e-4, "a slope beside the last")
	}
	sum, unit := 0.0, u.labelOf(l.problem.targetColumns()[0])
	for i, y := range in.Target.Y {
		sum += math.Pow(unit*(float64(y)-own.left[i]), 2) / 20
	}
	isNear(t, st.Epochs[1].LeaveOneOut, sum, 1e-5*sum, "the mean square of what is left out")
}

// Of g that says next to nothing no handicap is asked, and of one that says much the whole of it.
func TestHandicapOfNumbers(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n := 20 + rng.IntN(30)
		y, some := normals(rng, n), make([]float64, n)
		h := helps{pooled: make([][]prediction, 2)}
		losses := func(noise float64) [][]float64 {
			out := make([][]float64, 1+2*len(joinParts)) // others than those of g alone do not count
			for k := range out {
				for i := range y {
					out[k] = append(out[k], math.Pow(noise, 2)*math.Pow(2+some[i], 2)/4)
				}
			}
			return out
		}
		must.Equal(t, h.handicapOfNumbers(y, regress.Ungrouped(n), losses(10)), 0, "of noise")
		must.Equal(t, h.handicapOfNumbers(y, regress.Ungrouped(n), losses(0.1)), 4, "of what says nearly all")
		must.Equal(t, h.handicapOfNumbers(make([]float64, n), regress.Ungrouped(n), losses(0)), 0, "of labels that are all the same")
	}
}

// Where sources have nothing to do with the target, they do little harm.
func TestSourcesThatSayNothing(t *testing.T) {
	rng := testrand.New(t)
	sums := make([]float64, 2)
	for range 40 {
		l := learnerOf(t, likeness(rng, make([]float64, 10), 200, 32, 15, true, false), Active, Target)
		for _, e := range must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t).Epochs[4:] {
			sums[b2i(e.Method == Target)] += e.Score.Value / 40
		}
	}
	t.Logf("mean squared error of active %.3f, of the samples alone %.3f", sums[0], sums[1])
	must.Hold(t, sums[0] < 1.17*sums[1], "active errs %g, target %g", sums[0], sums[1])
}
