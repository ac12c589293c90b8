package pipeline

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// What the samples tell beyond predictions of numbers is nothing but the level where that is all that they lack, and else such that each
// residual left out is beyond that of the fit, on the same side.
func TestAdapt(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 200, 5, 1, false)
	cfg := defaultConfig(t)
	cfg.Methods, cfg.TargetSamples = []string{Uniform}, 30
	u, _ := runUnit(t, openDevice(t, 1, set), cfg, 0)
	round := must.Get(u.inUnits(u.problem.LookUp(must.Get(u.problem.Propose(State{}))(t)), false))(t)
	in := round.Target
	fit := must.Get(u.fitHead(in))(t).parts[0].fits[0]
	units, y := must.Get(u.model.units())(t), widened(in.Y)
	of := func(head []float32) []float64 {
		must.Do(t, u.putHead(0, head))
		said := wide(must.Get(u.predictions(in.Rows, units))(t)[0])
		for i := range said {
			said[i] /= units.labelOf(u.problem.targetColumns()[0])
		}
		return said
	}
	g := prediction{head: narrow(normals(rng, len(fit.final))), left: make([]float64, len(y))}
	for i := range y {
		g.left[i] = y[i] - 3
	}
	g.inside = g.left
	level := fit.adapt(g)
	closeVectors(t, "predictions that lack 3", level.left, y, 1e-5, 1)
	for j, v := range level.head {
		want := float64(g.head[j]) + 3*float64(b2i(j == cfg.K))
		must.Hold(t, math.Abs(float64(v)-want) <= 1e-4, "element %d of the head is %g, expected %g", j, v, want)
	}
	g.inside = of(g.head)
	more := fit.adapt(g)
	square, before := 0.0, 0.0
	for i, p := range of(more.head) {
		inside, out := y[i]-p, y[i]-more.left[i]
		must.Hold(t, math.Abs(out) >= math.Abs(inside)-1e-4 && (out*inside >= 0 || math.Abs(inside) < 1e-4),
			"row %d has the residual %g, left out %g", i, inside, out)
		square, before = square+out*out, before+math.Pow(y[i]-g.inside[i], 2)
	}
	must.Hold(t, square < before/2, "what is left is %g, before %g", square, before)
	pooled := must.Get(u.pooledSquared(t.Context(), round, []int{0}, units))(t)[0]
	closeVectors(t, "what pooled says inside", pooled.inside, of(pooled.head), 1e-4, 1)
}

// Numbers of sources that are alike but for a level of each are known from one regression on all rows, and the methods lean on it in
// their last round alone. What is found depends neither on whether it was found before nor on what a method began with.
func TestJoinOfNumbers(t *testing.T) {
	rng := testrand.New(t)
	const d, noise = 6, 2
	set := shops(rng, 8, 500, d, 1, false)
	weights := normals(rng, d)
	for m, pool := range set.Pools {
		level := 10 * rng.NormFloat64()
		for i := range pool.Rows {
			set.Tasks[m].Labels[i] = float32(dot(features(set, m, i), weights) + level + noise*rng.NormFloat64())
		}
	}
	cfg := defaultConfig(t)
	cfg.TargetSamples = 25
	dev := openDevice(t, 1, set)
	u, st := runUnit(t, dev, cfg, 0)
	for _, e := range st.Epochs {
		if e.Method != Active && e.Method != Uniform {
			continue
		}
		last := e.Epoch == u.problem.RoundsOf(e.Method)
		must.Hold(t, last == (e.HeadPooled > 0.3) && (last || e.HeadPooled == 0), "%s takes part %g of the regression on all rows in round %d",
			e.Method, e.HeadPooled, e.Epoch)
		must.Hold(t, !last || e.Score.Value < 2.5*noise*noise, "%s errs %g, the noise is %d", e.Method, e.Score.Value, noise*noise)
	}
	before := State{Epochs: st.Epochs[:len(st.Epochs)-1], Theta: st.Theta, Head: st.Head}
	other := must.Get(newLearner(dev, cfg, 0))(t)
	defer other.Close()
	again := must.Get(other.Solve(context.Background(), before, quiet, unsaved))(t)
	must.Hold(t, slices.Equal(again.Head, st.Head), "the head depends on what was found for uniform")
}

// The classes of a column may have labels on rows of their own: each has the help of what tells of it.
func TestJoinOfRowsApart(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 300, 5, 3, true)
	task := &set.Tasks[2]
	task.Train = slices.DeleteFunc(slices.Clone(task.Train), func(r int32) bool { return r%7 == 1 })
	for _, samples := range []int{40, 80} {
		cfg := defaultConfig(t)
		cfg.TargetSamples = samples
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		for _, e := range st.Epochs {
			if e.Method == Uniform {
				must.Hold(t, e.HeadPooled > 0 && e.LogLoss < float64(3*samples)*math.Ln2 && e.Score.Value < 0.3,
					"it leans by %g on all rows, has a log-loss of %g and errs %g", e.HeadPooled, e.LogLoss, e.Score.Value)
			}
		}
	}
}

// A target of another level than all sources, which are alike, is known by its samples, and features that are constant say nothing.
func TestPooledLevel(t *testing.T) {
	rng := testrand.New(t)
	for _, constant := range []bool{false, true} {
		const d = 4
		set := shops(rng, 4, 200, d, 1, false)
		for m, pool := range set.Pools {
			for i := range pool.Rows {
				x := pool.F32[i*d : (i+1)*d]
				for j := range x {
					if constant {
						x[j] = 0.1
					}
				}
				set.Tasks[m].Labels[i] = x[0] + float32(0.3*rng.NormFloat64()+float64(b2i(m == 0)))
			}
		}
		cfg := defaultConfig(t)
		cfg.TargetSamples = 80
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		last := st.Epochs[len(st.Epochs)-1]
		must.Hold(t, last.Method == Pooled && last.Score.Value < 0.5, "%s errs %g, the noise is 0.09", last.Method, last.Score.Value)
	}
}
