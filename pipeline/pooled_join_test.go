package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// meanOver are the factors of helps in the mean over (1 - a) f + a help, weighed by how likely they make labels y, by its definition:
// f and y are by output and sample, helps for each the same.
func meanOver(rng *rand.Rand, f [][]float64, helps [][][]float64, y [][]float64, classes bool) []float64 {
	n, factors := len(y[0]), make([]float64, len(helps))
	for range joinReplicates {
		drawn, sum := make([]float64, n), 0.0
		for i := range drawn {
			drawn[i] = rng.ExpFloat64()
			sum += drawn[i]
		}
		logs, parts := []float64{}, []float64{}
		for k := range helps {
			for _, a := range []float64{0, 0.25, 0.5, 0.75, 1} {
				if a == 0 && k > 0 { // f once
					continue
				}
				log, square := 0.0, 0.0
				for c := range y {
					for i, label := range y[c] {
						p, w := (1-a)*f[c][i]+a*helps[k][c][i], float64(n)*drawn[i]/sum
						log -= w * math.Log1p(math.Exp((1-2*label)*p))
						square += w * (label - p) * (label - p)
					}
				}
				if !classes {
					log = -float64(n) / 2 * math.Log(square)
				}
				logs, parts = append(logs, log), append(parts, a)
			}
		}
		total, best := 0.0, slices.Max(logs)
		for _, log := range logs {
			total += math.Exp(log - best)
		}
		for i, log := range logs {
			factors[max(0, i-1)/4] += parts[i] * math.Exp(log-best) / total / joinReplicates
		}
	}
	return factors
}

func isNear(t *testing.T, got, want, within float64, what string) {
	t.Helper()
	must.Hold(t, math.Abs(got-want) <= within, "%s is %g, expected %g", what, got, want)
}

// The predictor is the mean of the heads by squared loss or the classifiers, of the regression on all rows, and of that with what the
// samples add where they are enough, each as likely as it makes the labels that are there.
func TestJoin(t *testing.T) {
	rng := testrand.New(t)
	most, least := make([]float64, 2), []float64{1, 1}
	for turn := range 24 {
		classes := turn/8%2 == 0
		set := shops(rng, 4, 300, 5, 3, classes)
		cfg := defaultConfig(t)
		cfg.Methods = []string{Uniform}
		enough := 20
		if classes {
			enough = 60
		}
		cfg.TargetSamples = enough + b2i(turn%3 == 0) // with the one that is without labels
		if turn/4%2 == 0 {
			cfg.TargetSamples--
		}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		prop := must.Get(l.problem.Propose(State{}))(t)
		in := must.Get(l.inUnits(l.problem.LookUp(prop), true))(t)
		first := b2i(turn%3 == 0) // a row without labels, as own data can have
		for c := range 3 * first {
			in.Target.Y[c] = nan32
		}
		u := must.Get(l.model.units())(t)
		groups, find := [][]int{{0, 1, 2}}, l.pooledClasses
		if !classes {
			groups, find = [][]int{{0}, {1}, {2}}, l.pooledSquared
		}
		n, labelled := len(in.Target.Rows), make([][]int, 3)
		for i, y := range in.Target.Y {
			if y == y {
				labelled[i%3] = append(labelled[i%3], i/3)
			}
		}
		at := func(c int, of []float64) (some []float64) {
			for _, i := range labelled[c] {
				some = append(some, of[i])
			}
			return some
		}
		unit := func(c int) float64 {
			if classes {
				return 1
			}
			return u.labelOf(l.problem.targetColumns()[c])
		}
		fit := headFit{parts: []fittedPart{{labelGroup{outputs: []int{0, 1, 2}}, make([]headFit, 3)}}}
		for i, y := range in.Target.Y {
			fit.labels = append(fit.labels, float32(unit(i%3)*float64(y)))
		}
		pooled := make([]prediction, 3)
		for _, group := range groups {
			for j, p := range must.Get(find(context.Background(), in, group, u))(t) {
				pooled[group[j]] = p
			}
		}
		label := func(c, i int) float64 {
			y := float64(in.Target.Y[3*i+c])
			if classes {
				return 2*y - 1
			}
			return y
		}
		said := func(c int, sure, noise float64) prediction {
			p := prediction{head: narrow(normals(rng, len(pooled[0].head))), left: nil}
			for i := range n {
				p.left = append(p.left, sure*label(c, i)+noise*rng.NormFloat64())
			}
			return p
		}
		f, h := make([]prediction, 3), make([]prediction, 3)
		for c := range 3 {
			f[c], h[c] = said(c, float64(1+turn%2), []float64{0.3, 10}[turn%2]), said(c, 1, []float64{10, 0.3}[turn/2%2])
			of := &fit.parts[0].fits[c]
			of.final = slices.Clone(f[c].head)
			var left []float32
			for i, v := range f[c].left {
				left = append(left, float32(unit(c)*v))
				f[c].left[i] = float64(left[i]) / unit(c)
			}
			fit.left = append(fit.left, left)
			found := &prediction{head: h[c].head, left: at(c, h[c].left)}
			if c == 2 && turn%5 == 0 { // nothing to add
				found, h[c] = nil, pooled[c]
			}
			of.adapt = func(g prediction) *prediction {
				must.Hold(t, slices.Equal(g.head, pooled[c].head) && slices.Equal(g.left, at(c, pooled[c].left)), "output %d adapts to %v", c, g)
				return found
			}
		}
		must.Do(t, l.join(context.Background(), &fit, in))
		square := 0.0
		for which, group := range groups {
			var before, y [][]float64
			helps := make([][][]float64, 2)
			for _, c := range group {
				before = append(before, at(c, f[c].left))
				for k, help := range [][]prediction{pooled, h} {
					helps[k] = append(helps[k], at(c, help[c].left))
				}
				var labels []float64
				for _, i := range labelled[c] {
					labels = append(labels, float64(in.Target.Y[3*i+c]))
				}
				y = append(y, labels)
			}
			if len(y[0]) < enough {
				helps = helps[:1]
			}
			w := append(meanOver(stream(cfg.Seed, "join", l.problem.TargetName()), before, helps, y, classes), 0)
			if which == 0 {
				isNear(t, fit.Pooled, w[0]+w[1], 1e-5, "the part of the regression on all rows")
				isNear(t, fit.Adapted, w[1], 1e-5, "the part with what the samples add")
			}
			for k := range 2 {
				most[k], least[k] = math.Max(most[k], w[k]), math.Min(least[k], w[k])
			}
			level := 0.0
			for _, c := range group {
				mix := func(f, g, h float64) float64 { return (1-w[0]-w[1])*f + w[0]*g + w[1]*h }
				for k, v := range f[c].head {
					got, want := float64(fit.parts[0].fits[c].final[k]), mix(float64(v), float64(pooled[c].head[k]), float64(h[c].head[k]))
					if k == cfg.K && classes { // the intercept is at the level of all classes
						if c == group[0] {
							level = math.Round(got - want)
						}
						must.Hold(t, level <= -64 || slices.Contains(commonLevels, level), "the level of %v is %g", group, got-want)
						want += level
					}
					isNear(t, got, want, 1e-4, "the head")
				}
				for _, i := range labelled[c] {
					// The head of pooled may be of logits, which the samples then add to.
					adapted := pooled[c].says(i) + h[c].left[i] - pooled[c].left[i]
					left := unit(c) * (mix(f[c].left[i], pooled[c].says(i), adapted) + level)
					isNear(t, float64(fit.left[c][i]), left, 1e-4*math.Max(1, math.Abs(left)), "what is left out")
					e := left - float64(fit.labels[3*i+c])
					square += e * e / float64(3*len(labelled[c]))
				}
			}
		}
		if !classes {
			isNear(t, fit.LeaveOneOut, square, 1e-4*square, "the mean squared residual")
		}
	}
	must.Hold(t, most[0] > 0.3 && most[1] > 0.3 && least[0] < 0.1 && least[1] < 0.1, "parts between %v and %v", least, most)
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
