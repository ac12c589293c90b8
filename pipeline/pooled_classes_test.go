package pipeline

import (
	"context"
	"fmt"
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

// The log-odds are those of the part, of the regression on all rows or of that with what the samples add, with the least
// log-loss of the labels that are there, if that is less by more than 1 than without.
func TestJoin(t *testing.T) {
	rng := testrand.New(t)
	taken := map[string]bool{}
	for turn := range 24 {
		set := shops(rng, 4, 300, 5, 3, true)
		cfg := defaultConfig(t)
		cfg.Methods = []string{Uniform}
		cfg.TargetSamples = 60 + b2i(turn%3 == 0) // with the one that is without labels
		if turn/4%2 == 0 {
			cfg.TargetSamples-- // less than 20 labelled ones for each class
		}
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
		with := [2][]prediction{must.Get(l.pooledClasses(context.Background(), in, []int{0, 1, 2}, units))(t), make([]prediction, 3)}
		fit := headFit{parts: []fittedPart{{labelGroup{outputs: []int{0, 1, 2}}, make([]headFit, 3)}}}
		n, d := len(in.Target.Rows), len(with[0][0].head)
		said := func(c int, sure, noise float64) prediction {
			p := prediction{narrow(normals(rng, d)), nil}
			for i := range n {
				p.left = append(p.left, sure*(2*float64(in.Target.Y[3*i+c])-1)+noise*rng.NormFloat64())
			}
			return p
		}
		sure, more, noise := float64(1+9*(turn%2)), float64(1+9*(turn/2%2)), math.Pow(10, -1+2*rng.Float64())
		for c := range 3 {
			f, g := said(c, sure, noise), with[0][c]
			fit.parts[0].fits[c].classifier, fit.left = f.head, append(fit.left, narrow(f.left))
			some := g
			if turn%3 == 0 {
				some.left = some.left[1:]
			}
			with[1][c] = said(c, more, 1)
			var found *prediction // nothing to add for the last class of some turns
			if c < 2 || turn%5 > 0 {
				found = &prediction{with[1][c].head, with[1][c].left[n-len(some.left):]}
			} else {
				with[1][c] = g
			}
			fit.parts[0].fits[c].adapt = func(g prediction) *prediction {
				must.Hold(t, slices.Equal(g.head, some.head) && slices.Equal(g.left, some.left), "class %d adapts to %v, expected %v", c, g, some)
				return found
			}
		}
		best, part, least, none := 0, 0.0, math.Inf(1), 0.0
		for w, of := range with {
			if w == 1 && turn/4%2 == 0 {
				break
			}
			for _, a := range []float64{0, 0.25, 0.5, 0.75, 1} {
				loss := 0.0
				for c := range 3 {
					for i := range n {
						if y := float64(in.Target.Y[3*i+c]); y == y {
							f := (1-a)*float64(fit.left[c][i]) + a*of[c].left[i]
							loss += math.Log1p(math.Exp((1 - 2*y) * f))
						}
					}
				}
				if a == 0 {
					none = loss
				}
				if loss < least {
					best, part, least = w, a, loss
				}
			}
		}
		if !(least < none-1) {
			best, part = 0, 0
		}
		var heads, lefts [][]float32
		for c := range 3 {
			mixed := func(of []float32, with func(int) float64) []float32 {
				out := make([]float32, len(of))
				for i, v := range of {
					out[i] = float32((1-part)*float64(v) + part*with(i))
				}
				return out
			}
			of := with[best][c]
			heads = append(heads, mixed(fit.parts[0].fits[c].classifier, func(i int) float64 { return float64(of.head[i]) }))
			lefts = append(lefts, mixed(fit.left[c], func(i int) float64 { return of.left[i] }))
		}
		must.Do(t, l.join(context.Background(), &fit, in))
		must.Hold(t, fit.Pooled == part && fit.Adapted == (best == 1), "part %g, %v, expected %g, %d", fit.Pooled, fit.Adapted, part, best)
		for c := range 3 {
			closeVectors(t, "the head", wide(fit.parts[0].fits[c].classifier), wide(heads[c]), 1e-6, 1)
			must.Hold(t, slices.EqualFunc(fit.left[c], lefts[c], func(a, b float32) bool { return a == b || a != a && b != b }),
				"what is left out is %v, expected %v", fit.left[c], lefts[c])
		}
		taken[fmt.Sprint(best, part > 0)] = true
	}
	must.Hold(t, len(taken) == 3, "of neither, the regression and that with what the samples add these were taken: %v", taken)
}

// With sources that are tasks, the rows are those of the target's class, and those known to be of another.
func TestPooledRowsOfTasks(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 200, 5, 3, true)
	cfg := defaultConfig(t)
	cfg.Sources, cfg.Methods = SourcesTasks, []string{Uniform}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 1))(t)
	defer l.Close()
	p := l.problem
	in := p.LookUp(must.Get(p.Propose(State{}))(t))
	rows, y := p.pooledRows(in.Sources, []int{0})
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
	must.Hold(t, l.joins(in), "the log-odds have no help of all rows")
	set.Tasks[1].Output.Class = "another"
	must.Hold(t, !l.joins(in), "the log-odds have the help of rows none of which is of the class")
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
