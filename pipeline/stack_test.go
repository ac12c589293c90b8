package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// meanOver returns the weights of base models in the mean over the candidates (1 - a) f + a base model, each weighted by the likelihood
// that it gives the labels y, by the definition. f, y and each base model are indexed by output and sample. The first pooled base models
// are on the rows of all sources, and the others on the samples alone. For classes each sample has one of them, and labels may be wrong.
func meanOver(rng *rand.Rand, f [][]float64, models [][][]float64, pooled int, y [][]float64, classes bool) []float64 {
	n, factors, parts, candidates := len(y[0]), make([]float64, len(models)), []float64{}, [][][]float64{}
	for k := range models {
		for _, a := range []float64{0, 0.25, 0.5, 0.75, 1} {
			if a == 0 && k > 0 { // f once
				continue
			}
			says := make([][]float64, len(y))
			for c := range y {
				for i := range n {
					says[c] = append(says[c], (1-a)*f[c][i]+a*models[k][c][i])
				}
			}
			parts, candidates = append(parts, a), append(candidates, says)
		}
	}
	logOf := func(says [][]float64, i int, rate float64) float64 {
		p, sum := 0.0, 0.0
		for c := range y {
			sigmoid := 1 / (1 + math.Exp(-says[c][i]))
			p, sum = p+y[c][i]*sigmoid, sum+sigmoid
		}
		return math.Log((1-rate)*p/sum + rate/float64(len(y)))
	}
	rate, least := 0.0, math.Inf(1)
	for _, r := range []float64{0, 0.02, 0.05, 0.1, 0.2} {
		for _, says := range candidates {
			sum := float64(b2i(r > 0))
			for i := range n {
				sum -= logOf(says, i, r)
			}
			if sum < least {
				rate, least = r, sum
			}
		}
	}
	less := 0.0
	if !classes {
		plain, best, sum := 0.0, math.Inf(1), floats.Sum(y[0])
		for _, v := range y[0] {
			plain += math.Pow(v-(sum-v)/float64(n-1), 2)
		}
		for _, g := range models[:pooled] {
			best = math.Min(best, math.Pow(floats.Distance(g[0], y[0], 2), 2))
		}
		less = max(0, min(4, float64(n)/2*math.Log(plain/best)))
	}
	for range stackReplicates {
		drawn, sum := make([]float64, n), 0.0
		for i := range drawn {
			drawn[i] = rng.ExpFloat64()
			sum += drawn[i]
		}
		var logs []float64
		for k, says := range candidates {
			log, square := 0.0, 0.0
			for i := range n {
				w := float64(n) * drawn[i] / sum
				if classes {
					log += w * logOf(says, i, rate)
				}
				for c := range y {
					square += w * (y[c][i] - says[c][i]) * (y[c][i] - says[c][i])
				}
			}
			if !classes {
				log = -float64(n) / 2 * math.Log(square)
				own := k > 4*pooled
				if parts[k] < 1 || own { // with a part of f, or on the samples alone
					log -= less
				}
				if own {
					log -= math.Log(4)
				}
			}
			logs = append(logs, log)
		}
		total, best := 0.0, slices.Max(logs)
		for _, log := range logs {
			total += math.Exp(log - best)
		}
		for i, log := range logs {
			factors[max(0, i-1)/4] += parts[i] * math.Exp(log-best) / total / stackReplicates
		}
	}
	return factors
}

// stack returns the mean of the heads f, of the regressions on the rows of all sources without and with the samples among them, and of the
// regression on the samples alone, each weighted by the likelihood that it gives the known labels.
func TestJoin(t *testing.T) {
	rng := testrand.New(t)
	most, least := make([]float64, 2), []float64{1, 1}
	for turn := range 24 {
		classes := turn/8%2 == 0
		set := shops(rng, 4, 300, 5, 3, classes)
		cfg := defaultConfig(t)
		cfg.Methods = []string{Uniform}
		cfg.TargetSamples = 60
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		prop := must.Get(l.problem.Propose(State{}))(t)
		in := must.Get(l.inUnits(l.problem.LookUp(prop), true))(t)
		first := b2i(turn%3 == 0) // a row without labels, as own data can have
		for c := range 3 * first {
			in.Target.Y[c] = nan32
		}
		if classes && slices.ContainsFunc([]int{0, 1, 2}, func(c int) bool { return l.problem.scarce(in.Target, c) }) {
			continue // a scarce class takes the predictions of g
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
		model, pooled := make([][][]prediction, len(groups)), make([]int, len(groups)) // how many use the rows of all sources
		for which, group := range groups {
			found := must.Get(find(context.Background(), in, group, u))(t)
			model[which] = append([][]prediction{found.sources}, found.with...)
			pooled[which] = len(model[which])
			own := [][]prediction{nil}
			if classes {
				own = must.Get(l.problem.ownClasses(t.Context(), l.targetRows(in.Target.Rows, u), in.Target, group, u))(t)
			} else {
				own[0] = must.Get(l.ownNumbers(in.Target, u))(t)[which : which+1]
			}
			model[which] = append(model[which], own...)
			must.Equal(t, len(model[which]), pooled[which]+1, "base models, with one of the samples alone")
		}
		label := func(c, i int) float64 {
			y := float64(in.Target.Y[3*i+c])
			if classes {
				return 2*y - 1
			}
			return y
		}
		f := make([]prediction, 3)
		for c := range 3 {
			f[c].head = narrow(normals(rng, len(model[0][0][0].head)))
			sure, noise := float64(1+turn%2), []float64{0.3, 3, 10}[turn/2%3]
			for i := range n {
				f[c].left = append(f[c].left, sure*label(c, i)+noise*rng.NormFloat64())
			}
			of := &fit.parts[0].fits[c]
			of.final = slices.Clone(f[c].head)
			var left []float32
			for i, v := range f[c].left {
				left = append(left, float32(unit(c)*v))
				f[c].left[i] = float64(left[i]) / unit(c)
			}
			fit.left = append(fit.left, left)
		}
		must.Do(t, l.stack(context.Background(), &fit, in))
		squares := make([]float64, 3)
		for which, group := range groups {
			var before, y [][]float64
			models := make([][][]float64, len(model[which]))
			for j, c := range group {
				before = append(before, at(c, f[c].left))
				for k, of := range model[which] {
					models[k] = append(models[k], at(c, of[j].left))
				}
				var labels []float64
				for _, i := range labelled[c] {
					labels = append(labels, float64(in.Target.Y[3*i+c]))
				}
				y = append(y, labels)
			}
			w := meanOver(stream(cfg.Seed, "join", l.problem.TargetName()), before, models, pooled[which], y, classes)
			if which == 0 {
				isNear(t, fit.Pooled, floats.Sum(w[:pooled[0]]), 1e-5, "the part of the regression on all rows")
				isNear(t, fit.Adapted, floats.Sum(w[1:pooled[0]]), 1e-5, "the part with the samples")
			}
			for k := range 2 {
				most[k], least[k] = math.Max(most[k], w[k]), math.Min(least[k], w[k])
			}
			level := 0.0
			for j, c := range group {
				mix := func(f float64, of func(p prediction) float64) float64 {
					out := (1 - floats.Sum(w)) * f
					for k, v := range w {
						out += v * of(model[which][k][j])
					}
					return out
				}
				for k, v := range f[c].head {
					got := float64(fit.parts[0].fits[c].final[k])
					want := mix(float64(v), func(p prediction) float64 { return float64(p.head[k]) })
					if k == cfg.K && classes { // the level of the classes is added to the intercept
						if c == group[0] {
							level = math.Round(got - want)
						}
						must.Hold(t, level <= -64 || slices.Contains(regress.CommonLevels, level), "the level of %v is %g", group, got-want)
						want += level
					}
					isNear(t, got, want, 1e-4*math.Max(1, math.Abs(want)), "the head")
				}
				for _, i := range labelled[c] {
					left := unit(c) * (mix(f[c].left[i], func(p prediction) float64 { return p.leftOut(i) }) + level)
					isNear(t, float64(fit.left[c][i]), left, 1e-4*math.Max(1, math.Abs(left)), "what is left out")
					e := left - float64(fit.labels[3*i+c])
					squares[c] += e * e / float64(len(labelled[c]))
				}
			}
		}
		if !classes {
			square := 1.0
			for c, sum := range squares {
				square *= math.Cbrt(sum / variancesOf(fit.labels, 3)[c])
			}
			isNear(t, fit.LeaveOneOut, square, 1e-4*square, "the mean squared residual")
		}
	}
	must.Hold(t, most[0] > 0.2 && most[1] > 0.3 && least[0] < 0.1, "parts between %v and %v", least, most)
}

// stack changes nothing in a column of the target without labels.
func TestJoinWithoutLabels(t *testing.T) {
	set, _ := alike(testrand.New(t))
	cfg := defaultConfig(t)
	cfg.Methods = []string{Uniform}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
	fit := headFit{left: [][]float32{make([]float32, len(in.Target.Rows))}}
	must.Do(t, l.stack(context.Background(), &fit, in))
	must.Equal(t, fit.Pooled, 0, "the part of an output without a head")
}

// A column with two labels does not count in the leave-one-out error beside a column with many.
func TestFewLabelsOfAColumn(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 100, 5, 2, false)
	for i := range set.Tasks {
		if task := &set.Tasks[i]; task.Pool == 0 && task.Output.Name == "column1" {
			task.Train = task.Train[:2]
		}
	}
	cfg := defaultConfig(t)
	cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = 30, 300, []string{Active, Target, Constant, Pooled}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
	for _, e := range st.Epochs {
		// The second column is 100 times as large, its squares 10,000 times.
		must.Hold(t, e.LeaveOneOut > 0 && e.LeaveOneOut < 100, "%s has a mean squared error of %g", e.Method, e.LeaveOneOut)
	}
}
