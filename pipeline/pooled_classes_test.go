package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// alike returns pools whose classes are told apart by the same weights, with an intercept for each pool, and
// the fraction of the test rows of the first pool that these weights predict wrongly.
func alike(rng *rand.Rand) (set *dataset.Set, wrong float64) {
	const d = 6
	set = shops(rng, 8, 1000, d, 1, true)
	rows := set.Tasks[0].Test
	for m, pool := range set.Pools {
		own := rng.NormFloat64()
		for i := range pool.Rows {
			x := pool.F32[i*d : (i+1)*d]
			at := 3*float64(x[0]) - 2*float64(x[1]) + own
			y := float64(b2i(rng.Float64() < regress.Sigmoid(at)))
			set.Tasks[m].Labels[i] = float32(y)
			if m == 0 && (at > 0) != (y > 0) && slices.Contains(rows, int32(i)) {
				wrong += 1 / float64(len(rows))
			}
		}
	}
	return set, wrong
}

// Where sources are like the target, Pooled learns the weights from them and the intercept from the target's samples, and the other methods
// use its regression in their last round alone. The result depends neither on whether a regression was cached nor on what a method began
// with.
func TestPooledClasses(t *testing.T) {
	rng := testrand.New(t)
	set, wrong := alike(rng)
	cfg := pooledConfig(t)
	cfg.TargetSamples = 150
	dev := openDevice(t, 1, set)
	u, st := runUnit(t, dev, cfg, 0)
	for i, e := range st.Epochs {
		last := e.Epoch == u.problem.RoundsOf(e.Method)
		must.Hold(t, last || e.HeadPooled == 0, "%s takes part %g of the regression on all rows in round %d", e.Method, e.HeadPooled, e.Epoch)
		if e.Method == Pooled {
			must.Hold(t, i == len(st.Epochs)-1 && e.Score.Value <= wrong+0.1, "the error of %s is %g, of the true weights %g",
				e.Method, e.Score.Value, wrong)
			must.Hold(t, e.LogLoss > 0 && e.LogLoss < 150*math.Ln2, "the log-loss of 150 samples is %g", e.LogLoss)
		}
	}
	before := State{Epochs: st.Epochs[:len(st.Epochs)-1], Theta: st.Theta, Head: st.Head}
	other := must.Get(newLearner(dev, cfg, 0))(t)
	defer other.Close()
	again := must.Get(other.Solve(context.Background(), before, quiet, unsaved))(t)
	must.Hold(t, len(u.pooled) > 0 && slices.Equal(again.Head, st.Head), "the head depends on what was found for uniform")
}

// The regression on the rows of all sources predicts the middle steps of a scale, which no line separates from all others.
func TestPooledSteps(t *testing.T) {
	rng := testrand.New(t)
	const d, steps, sets = 6, 4, 6
	beyond := map[string]float64{} // the error of the true weights, on average over sets
	for range sets {
		set := shops(rng, 8, 1000, d, steps, true)
		bayes, test := 0.0, set.Tasks[0].Test
		for m, pool := range set.Pools {
			own := 0.3 * rng.NormFloat64()
			for i := range pool.Rows {
				x := pool.F32[i*d : (i+1)*d]
				at := 2*float64(x[0]) - 2*float64(x[1]) + own
				step := func(at float64) int { return min(steps-1, max(0, int(math.Floor(at/1.5+2)))) }
				y := step(at + 0.3*rng.NormFloat64())
				for c := range steps {
					set.Tasks[m*steps+c].Labels[i] = float32(b2i(c == y))
				}
				if m == 0 && slices.Contains(test, int32(i)) && step(at) != y {
					bayes += 1 / float64(len(test))
				}
			}
		}
		cfg := defaultConfig(t)
		cfg.TargetSamples, cfg.Methods = 200, []string{Uniform, Pooled}
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		for _, e := range st.Epochs {
			beyond[e.Method] += (e.Score.Value - bayes) / sets
		}
	}
	for _, method := range []string{Uniform, Pooled} {
		must.Hold(t, beyond[method] <= 0.08, "the error of %s is %g beyond that of the true weights", method, beyond[method])
	}
}

// Where sources are tasks, the pooled rows are all rows of tasks with the target's class, and from other tasks the rows known to be of
// another class.
func TestPooledRowsOfTasks(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 200, 5, 3, true)
	cfg := defaultConfig(t)
	cfg.Sources, cfg.Methods, cfg.TargetSamples = SourcesTasks, []string{Uniform}, 80
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 1))(t)
	defer l.Close()
	p := l.problem
	in := p.LookUp(must.Get(p.Propose(State{}))(t))
	rows, y := p.pooledRows(in.Sources, []int{0}, math.MaxInt)
	var want []poolRow
	var labels []float64
	for m, s := range p.Sources {
		task := set.Tasks[s.Tasks[0]]
		for i, r := range in.Sources[m].Rows {
			label := float64(in.Sources[m].Y[i])
			if task.Output != set.Tasks[1].Output {
				if label == 0 {
					continue
				}
				label = 0
			}
			want, labels = append(want, poolRow{task.Pool, int(r)}), append(labels, label)
		}
	}
	must.Hold(t, slices.Equal(rows, want) && slices.Equal(y, labels), "rows %v with labels %v, expected %v with %v", rows, y, want, labels)
	l.counts = labelCounts(p.Sources, in.Sources)
	must.Hold(t, l.stacks(in), "the log-odds have no help of all rows")
	set.Tasks[1].Output.Class = "another"
	must.Hold(t, !l.stacks(in), "the log-odds have the help of rows none of which is of the class")
}
