package pipeline

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The regression on the samples alone has the slopes and the leave-one-out error of the baseline target.
func TestOwnNumbers(t *testing.T) {
	rng := testrand.New(t)
	l := learnerOf(t, likeness(rng, make([]float64, 3), 30, 5, 20, true, false), Uniform, Target)
	st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
	in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
	u := must.Get(l.model.units())(t)
	own := must.Get(l.ownNumbers(in.Target, u))(t)[0]
	slopes, want := wide(own.head[l.problem.Config.K+1:]), wide(st.Head[l.problem.Config.K+1:])
	floats.Scale(floats.Norm(want, 2)/floats.Norm(slopes, 2), slopes) // the units of the two are not the same
	closeVectors(t, "the slopes", slopes, want, 1e-4, 0)
	sum, unit := 0.0, u.labelOf(l.problem.targetColumns()[0])
	for i, y := range in.Target.Y {
		sum += math.Pow(unit*(float64(y)-own.left[i]), 2) / 20
	}
	isNear(t, st.Epochs[1].LeaveOneOut, sum, 1e-5*sum, "the mean square of what is left out")
}

// The handicap is the nats by which the better regression on the rows of all sources makes the labels likelier than the mean of the other
// samples does, with groups left out as a whole, from 0 to 4.
func TestHandicapOfNumbers(t *testing.T) {
	rng := testrand.New(t)
	between := 0
	for range 200 {
		n := 12 + rng.IntN(30)
		y, numbers := normals(rng, n), make([]int32, n)
		for i := range numbers {
			y[i] += 5
			if numbers[i] = -1; rng.IntN(3) == 0 {
				numbers[i] = int32(rng.IntN(4))
			}
		}
		groups := regress.GroupsOf(numbers)
		plain := 0.0
		for i, v := range y {
			sum, others := 0.0, 0.0
			for j, w := range y {
				if i != j && (numbers[i] < 0 || numbers[i] != numbers[j]) {
					sum, others = sum+w, others+1
				}
			}
			plain += math.Pow(v-sum/others, 2) / float64(n)
		}
		h, losses := baseModels{pooled: make([][]prediction, 2), own: make([][]prediction, 1)}, make([][]float64, 1+3*len(stackParts))
		for k := range losses {
			losses[k] = make([]float64, n)
			for i := range y {
				losses[k][i] = 0.01 * rng.Float64() // less than the losses that count
			}
		}
		best := math.Inf(1)
		for _, k := range []int{4, 8} {
			sum, of := 0.0, plain*math.Exp(0.2*rng.NormFloat64())
			for i := range y {
				losses[k][i] = 2 * of * rng.Float64()
				sum += losses[k][i] / float64(n)
			}
			best = math.Min(best, sum)
		}
		want := math.Max(0, math.Min(4, groups.Effective()/2*math.Log(plain/best)))
		isNear(t, h.handicapOfNumbers(y, groups, losses), want, 1e-9, "the handicap")
		between += b2i(want > 0 && want < 4)
		for i := range y {
			y[i] = 3
			for _, of := range losses {
				of[i] = 0
			}
		}
		must.Equal(t, h.handicapOfNumbers(y, groups, losses), 0, "of labels that are all the same")
	}
	must.Hold(t, between > 20, "%d handicaps are between 0 and 4", between)
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
	must.Hold(t, sums[0] < 1.3*sums[1], "active errs %g, target %g", sums[0], sums[1])
}
