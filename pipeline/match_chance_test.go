package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The match beyond a threshold that chance gives agrees with its mean over simulated pairs that are unrelated, and over random directions
// in few dimensions.
func TestChance(t *testing.T) {
	rng := testrand.New(t)
	const repeats = 100_000
	for _, n := range []int{5, 12, 60} {
		for _, dimensions := range []int{0, 1, 2, 7} { // 0 for unrelated pairs
			c := chance{1 / float64(n-1), float64(n)}
			if dimensions > 0 {
				c.mean = 1 / float64(dimensions)
			}
			for _, least := range []float64{0, c.beyond(0), 5 * c.beyond(0)} {
				sum, squares := 0.0, 0.0
				for range repeats {
					r := 0.0
					if dimensions == 0 {
						r = stat.Correlation(normals(rng, n), normals(rng, n), nil)
					} else {
						x := normals(rng, dimensions)
						r = x[0] / norm(x)
					}
					v := math.Max(0, math.Pow(math.Max(0, r*r-1/float64(n)), 2)-least)
					sum, squares = sum+v/repeats, squares+v*v/repeats
				}
				if se := math.Sqrt(squares / repeats); math.Abs(c.beyond(least)-sum) > 5*se+1e-12 {
					t.Errorf("%d pairs, %d dimensions, beyond %.3g: %.4g, simulated %.4g, standard error %.2g", n, dimensions, least,
						c.beyond(least), sum, se)
				}
			}
		}
	}
}

// strangers returns a set of a target, pool 0, whose labels depend on one feature, and of sources that are all alike and whose labels
// depend on another feature, except that the first like of them are like the target.
func strangers(rng *rand.Rand, sources, like int) *dataset.Set {
	const d, rows = 25, 500
	set := &dataset.Set{Name: "strangers", Binary: true}
	for p := range sources + 1 {
		pool := &dataset.Pool{Name: fmt.Sprint("pool", p), Rows: rows, Cols: d, Scale: 1, F32: narrow(normals(rng, rows*d))}
		task := dataset.Task{Name: pool.Name, Pool: p, Output: dataset.Output{Name: "y", Class: "yes"}}
		for r := range rows {
			by := 0
			if p <= like {
				by = 1
			}
			score := float64(pool.F32[r*d+by]) + 0.3*rng.NormFloat64()
			task.Labels = append(task.Labels, float32(b2i(score > 0)))
			task.Train = append(task.Train, int32(r))
		}
		set.Pools, set.Tasks = append(set.Pools, pool), append(set.Tasks, task)
	}
	return set
}

func strangersConfig(t *testing.T, samples int) Config {
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.Sources, cfg.Relevance.Kind, cfg.Methods, cfg.TargetSamples = SourcesPools, Transfer, []string{Active}, samples
	cfg.K, cfg.Schedule = 5, Schedule{Kind: ScheduleBudget, Epochs: 5, Floor: 10, Budget: 700}
	return cfg
}

// For each source, the match by chance from which the least match that counts is computed is near the mean match over permutations of the
// target's labels.
func TestMatchChanceIsThatOfPermutedLabels(t *testing.T) {
	rng := testrand.New(t)
	set := strangers(rng, 5, 1)
	cfg := strangersConfig(t, 30)
	p := must.Get(NewProblem(set, cfg, 0))(t)
	l := must.Get(NewLearner(openDevice(t, 1, set), p))(t)
	defer l.Close()
	round := p.LookUp(must.Get(p.Propose(State{}))(t))
	must.Get(l.Learn(t.Context(), State{}, round))(t)
	round = must.Get(l.inUnits(round, false))(t)
	fit := must.Get(l.fitHead(round.Target))(t)
	again, n := fit.parts[0].fits[0].again, len(round.Target.Rows)
	const kappa, lambda, permutations = 1, 0.3, 4000
	c := must.Get(l.matchChance(fit.parts[0], kappa, lambda, round.Sources, rng))(t)
	labels := mat.NewDense(n, permutations, nil)
	for j := range permutations {
		for i, from := range rng.Perm(n) {
			labels.Set(i, j, float64(round.Target.Y[from]))
		}
	}
	predicted := again.predictors(again.regression.Of(labels).At(kappa, lambda))
	must.Do(t, l.eachSource(predicted, round.Sources, func(of sourcePart, predicted, y *mat.Dense) {
		sum, label := 0.0, mat.Col(nil, 0, y)
		for j := range permutations {
			r := stat.Correlation(mat.Col(nil, j, predicted), label, nil)
			sum += math.Pow(math.Max(0, r*r-1/float64(len(label))), 2) / permutations
		}
		if ratio := c.least[of.first] / chanceFactor / sum; ratio < 0.7 || ratio > 2.5 {
			t.Errorf("source %d: chance %.4g, %.4g of permuted labels", of.source, c.least[of.first]/chanceFactor, sum)
		}
	}))
}

// Probes have mean 0 over the samples, both one for each sample and random signs for many samples, and are the same for the samples of a
// group.
func TestProbes(t *testing.T) {
	rng := testrand.New(t)
	n := mostProbes + 40
	few, groups := regress.Ungrouped(mostProbes), make([]int32, n)
	for i := range groups {
		groups[i] = int32(i / 4)
	}
	for _, of := range []regress.Groups{few, regress.Ungrouped(n), regress.GroupsOf(groups)} {
		x := probes(of, rng)
		var products mat.Dense
		products.Mul(x, x.T())
		diagonal, rest := 0.0, 0.0
		for i := range of.N {
			diagonal += products.At(i, i) / float64(of.N)
			for j := range of.N {
				if i != j {
					rest += products.At(i, j) / float64(of.N)
				}
			}
			if g := of.Group; g != nil && i%4 > 0 {
				must.Hold(t, products.At(i, i) == products.At(i, i-1), "samples of one group differ")
			}
		}
		must.Hold(t, math.Abs(diagonal+rest) < 1e-9*diagonal, "the probes have a mean: %g beside %g", rest, diagonal)
	}
}

// Where no source has anything to do with the target and all are alike, the draws are nearly even; a source that is like the target gets
// far more than its even part.
func TestActiveOfStrangers(t *testing.T) {
	rng := testrand.New(t)
	const repeats, sources = 10, 7
	largest, like, even := 0.0, 0.0, 0.0
	for range repeats {
		_, st := runUnit(t, openDevice(t, 1, strangers(rng, sources, 0)), strangersConfig(t, 20), 0)
		last := st.Epochs[len(st.Epochs)-1]
		largest += float64(slices.Max(last.Counts)) / repeats
		even += float64(last.Samples) / sources / repeats
		set := strangers(rng, sources, 1)
		_, st = runUnit(t, openDevice(t, 1, set), strangersConfig(t, 40), 0)
		like += float64(st.Epochs[len(st.Epochs)-1].Counts[0]) / repeats
	}
	t.Logf("the most drawn source has %.3g times its even part, one that is like the target %.3g", largest/even, like/even)
	must.Hold(t, largest < 1.35*even, "of sources that are all alike one has %.3g times its even part", largest/even)
	must.Hold(t, like > 1.5*even, "a source like the target has %.3g times its even part", like/even)
}

// The part of the match that is due to chance is spread evenly.
func TestMixAutoOfMatchByChance(t *testing.T) {
	e := &Epoch{Nu: []float64{1, 0, 0}, Match: []float64{0, 1, 3}, Own: 0.5, MatchByChance: 0.4}
	auto := Allocation{Rule: RuleSquared, Mix: MixAuto}
	closeVectors(t, "shares", auto.SharesAfter(e, []float64{1, 1, 2}),
		[]float64{0.5 + 0.5*0.4*0.25, 0.5 * (0.6*0.25 + 0.4*0.25), 0.5 * (0.6*0.75 + 0.4*0.5)}, 1e-12, 0)
	sum := &matchSum{of: make([]float64, 2), chances: []*matchChance{{least: []float64{0.01, 0.01}, beyond: []float64{0.02, 0.02}}, nil}}
	sum.add(0, 0, 0, 0.6, 10)
	sum.add(1, 0, 0, 0.6, 10) // an output without a match by chance does not count in the part
	sum.add(0, 1, 1, 0.15, 10)
	closeVectors(t, "match", sum.of, []float64{0.5, 0.0025}, 1e-12, 0)
	must.Hold(t, math.Abs(sum.chance()-0.04/0.24) < 1e-12, "chance %g", sum.chance())
}

// The match of unrelated pairs is above the least that counts about once in forty times, or less.
func TestChanceSeldomCounts(t *testing.T) {
	rng := testrand.New(t)
	const repeats = 30_000
	for _, n := range []int{5, 12, 60, 300} {
		c, above := chance{1 / float64(n-1), float64(n)}, 0
		for range repeats {
			x := normals(rng, n-1) // the part of n numbers that centring leaves
			r := x[0] / norm(x)
			above += b2i(math.Pow(math.Max(0, r*r-1/float64(n)), 2) > chanceFactor*c.beyond(0))
		}
		must.Hold(t, above < repeats/30, "%d pairs: %d of %d matches by chance count", n, above, repeats)
	}
}
