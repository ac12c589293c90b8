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
)

// alike are pools whose classes are told apart by the same weights, each with an intercept of its own, and
// the part of the first one's test rows that these weights get wrong.
func alike(rng *rand.Rand) (set *dataset.Set, wrong float64) {
	const d = 6
	set = shops(rng, 8, 1000, d, 1, true)
	rows := set.Tasks[0].Test
	for m, pool := range set.Pools {
		own := rng.NormFloat64()
		for i := range pool.Rows {
			x := pool.F32[i*d : (i+1)*d]
			at := 3*float64(x[0]) - 2*float64(x[1]) + own
			y := float64(b2i(rng.Float64() < sigmoid(at)))
			set.Tasks[m].Labels[i] = float32(y)
			if m == 0 && (at > 0) != (y > 0) && slices.Contains(rows, int32(i)) {
				wrong += 1 / float64(len(rows))
			}
		}
	}
	return set, wrong
}

// Where sources are like the target, Pooled knows the weights from them and the intercept from the target's
// samples, and the methods have its help in their last round. What is found depends neither on
// whether it was found before nor on what a method began with.
func TestPooledClasses(t *testing.T) {
	rng := testrand.New(t)
	set, wrong := alike(rng)
	cfg := defaultConfig(t)
	cfg.TargetSamples = 60
	dev := openDevice(t, 1, set)
	u, st := runUnit(t, dev, cfg, 0)
	for i, e := range st.Epochs {
		last := e.Epoch == u.problem.RoundsOf(e.Method)
		must.Hold(t, last || e.HeadPooled == 0, "%s takes part %g of the regression on all rows in round %d", e.Method, e.HeadPooled, e.Epoch)
		if e.Method == Pooled {
			must.Hold(t, i == len(st.Epochs)-1 && e.Score.Value <= wrong+0.06, "the error of %s is %g, of the true weights %g",
				e.Method, e.Score.Value, wrong)
			must.Hold(t, e.LogLoss > 0 && e.LogLoss < 60*math.Ln2, "the log-loss of 60 samples is %g", e.LogLoss)
		}
	}
	before := State{Epochs: st.Epochs[:len(st.Epochs)-1], Theta: st.Theta, Head: st.Head}
	other := must.Get(newLearner(dev, cfg, 0))(t)
	defer other.Close()
	again := must.Get(other.Solve(context.Background(), before, quiet, unsaved))(t)
	must.Hold(t, len(u.pooled) > 0 && slices.Equal(again.Head, st.Head), "the head depends on what was found for uniform")
}

// The log-odds are those of the part with the least log-loss of the labels that are there, if that is less by more than 1
// than without.
func TestJoin(t *testing.T) {
	rng := testrand.New(t)
	taken := map[float64]bool{}
	for turn := range 12 {
		set := shops(rng, 4, 300, 5, 3, true)
		cfg := defaultConfig(t)
		cfg.Methods = []string{Uniform}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		prop := must.Get(l.problem.Propose(State{}))(t)
		in := must.Get(l.inUnits(l.problem.LookUp(prop), true))(t)
		if turn%3 == 0 { // a row without labels, as own data can have
			for c := range 3 {
				in.Target.Y[c] = nan32
			}
		}
		units := must.Get(l.model.units())(t)
		pooled := must.Get(l.pooledClasses(context.Background(), in, []int{0, 1, 2}, units))(t)
		fit := headFit{parts: []fittedPart{{labelGroup{outputs: []int{0, 1, 2}}, make([]headFit, 3)}}}
		n, sure, noise := len(in.Target.Rows), float64(1+9*(turn%2)), math.Pow(10, -1+2*rng.Float64())
		for c := range 3 {
			head, left := make([]float32, len(pooled[c].head)), make([]float32, n)
			for i := range head {
				head[i] = float32(rng.NormFloat64())
			}
			for i := range left {
				left[i] = float32(sure*(2*float64(in.Target.Y[3*i+c])-1) + noise*rng.NormFloat64())
			}
			fit.parts[0].fits[c].classifier, fit.left = head, append(fit.left, left)
		}
		best, least, losses := 0.0, math.Inf(1), map[float64]float64{}
		for _, a := range []float64{0, 0.25, 0.5, 0.75, 1} {
			for c := range 3 {
				for i := range n {
					if y := float64(in.Target.Y[3*i+c]); y == y {
						f := (1-a)*float64(fit.left[c][i]) + a*pooled[c].left[i]
						losses[a] += math.Log1p(math.Exp((1 - 2*y) * f))
					}
				}
			}
			if losses[a] < least {
				best, least = a, losses[a]
			}
		}
		if !(least < losses[0]-1) {
			best = 0
		}
		var heads, lefts [][]float32
		for c := range 3 {
			mixed := func(of []float32, with func(int) float64) []float32 {
				out := make([]float32, len(of))
				for i, v := range of {
					out[i] = float32((1-best)*float64(v) + best*with(i))
				}
				return out
			}
			heads = append(heads, mixed(fit.parts[0].fits[c].classifier, func(i int) float64 { return float64(pooled[c].head[i]) }))
			lefts = append(lefts, mixed(fit.left[c], func(i int) float64 { return pooled[c].left[i] }))
		}
		must.Do(t, l.join(context.Background(), &fit, in))
		must.Hold(t, fit.Pooled == best, "part %g, expected %g of %v", fit.Pooled, best, losses)
		for c := range 3 {
			closeVectors(t, "the head", wide(fit.parts[0].fits[c].classifier), wide(heads[c]), 1e-6, 1)
			must.Hold(t, slices.EqualFunc(fit.left[c], lefts[c], func(a, b float32) bool { return a == b || a != a && b != b }),
				"what is left out is %v, expected %v", fit.left[c], lefts[c])
		}
		taken[best] = true
	}
	must.Hold(t, taken[0] && len(taken) > 1, "the parts are %v, expected some with and some without", taken)
}

// A column of the target without a label has nothing to join.
func TestJoinWithoutLabels(t *testing.T) {
	set, _ := alike(testrand.New(t))
	cfg := defaultConfig(t)
	cfg.Methods = []string{Uniform}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
	fit := headFit{left: [][]float32{make([]float32, len(in.Target.Rows))}}
	must.Do(t, l.join(context.Background(), &fit, in))
	must.Equal(t, fit.Pooled, 0, "the part of an output without a head")
}
