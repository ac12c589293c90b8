package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The match of each source is ((r^2 - 1/n)+)^2 for the correlation r of the predictions by the model's tensors for its n rows with their
// labels, whether or not rows are predicted one by one.
func TestMatch(t *testing.T) {
	const d = 20
	set := ownDirection(t, 0.5)
	target := len(set.Tasks) - 1
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.K, cfg.TargetSamples, cfg.Methods = 3, 40, []string{Active}
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 2, Budget: 600}
	u, st := runUnit(t, openDevice(t, 1, set), cfg, target)
	tensor := map[string][]float64{}
	for _, x := range u.Tensors(st) {
		tensor[x.Name] = wide(x.Data)
	}
	e := st.Epochs[1]
	for m, n := range e.Counts {
		task := set.Tasks[u.problem.Sources[m].Tasks[0]]
		var f, y []float64
		for _, r := range u.problem.draws.source[m][:n] {
			x := wide(set.Pools[task.Pool].F32[int(r)*d : int(r+1)*d])
			for j := range x {
				x[j] = (x[j] - tensor["representation.centre"][j]) / tensor["representation.scale"][0]
			}
			v := linalg.Dot(x, tensor["target.delta"])
			for j, w := range tensor["target.weight"] {
				v += w * linalg.Dot(x, tensor["representation.weight"][j*d:(j+1)*d])
			}
			f, y = append(f, v), append(y, float64(task.Labels[r]))
		}
		want := math.Pow(math.Max(0, math.Pow(stat.Correlation(f, y, nil), 2)-1/float64(n)), 2)
		if math.Abs(e.Match[m]-want) > 1e-4 {
			t.Errorf("source %d of %d samples: match %g, want %g", m, n, e.Match[m], want)
		}
	}
	in := Proposal{}
	for m, n := range e.Counts {
		in.Sources = append(in.Sources, u.problem.draws.source[m][:n])
	}
	all := u.problem.LookUp(in).Sources
	s := must.Get(u.data.samples(u.queue, nil, u.problem.Sources, all))(t)
	defer s.Free()
	sum := matchSum{of: make([]float64, len(all)), chances: make([]*matchChance, 1)}
	must.Do(t, u.matchOf(s.on, all, &sum))
	closeVectors(t, "the match by predictions of each sample", sum.of, e.Match, 1e-3, 0)
	if !(e.Own > 0 && e.Own < 1) {
		t.Errorf("the target's own part is %g, expected some", e.Own)
	}
}

// MixAuto spends the target's own part of the budget by the match, and the rest by nu.
func TestMixAuto(t *testing.T) {
	e := &Epoch{Nu: []float64{1, -2, 0}, Match: []float64{0, 1, 3}, Own: 0.25}
	costs := []float64{1, 1, 2}
	auto, plain := Allocation{Rule: RuleSquared, Mix: MixAuto}, Allocation{Rule: RuleSquared}
	closeVectors(t, "shares", auto.SharesAfter(e, costs), []float64{0.75 * 0.2, 0.75*0.8 + 0.25*0.25, 0.25 * 0.75}, 1e-12, 0)
	e.Own = 0
	closeVectors(t, "without an own part", auto.SharesAfter(e, costs), plain.SharesAfter(e, costs), 1e-12, 0)
	e.Own, e.Match = 1, make([]float64, 3)
	closeVectors(t, "without a match", auto.SharesAfter(e, costs), []float64{0.25, 0.25, 0.5}, 1e-12, 0)
}

// The part of ||nu||^2 that chance gives is spread evenly: all of the budget where nu is no more than chance, and a fifth where chance
// gives a fifth.
func TestMixAutoOfChance(t *testing.T) {
	costs, even := []float64{1, 1, 2}, []float64{0.25, 0.25, 0.5}
	auto, plain := Allocation{Rule: RuleSquared, Mix: MixAuto}, Allocation{Rule: RuleSquared}
	for _, nu := range [][]float64{{0.1, 0.2, 0}, {0, 0, 0}} {
		e := &Epoch{Nu: nu, NuByChance: 0.06}
		closeVectors(t, "no more than chance", auto.SharesAfter(e, costs), even, 1e-12, 0)
		closeVectors(t, "without exploration", plain.SharesAfter(e, costs), plain.SharesAfter(&Epoch{Nu: nu}, costs), 0, 0)
	}
	e := &Epoch{Nu: []float64{0.3, 0.4, 0}, NuByChance: 0.05}
	closeVectors(t, "a fifth is chance", auto.SharesAfter(e, costs), []float64{0.05 + 0.8*0.36, 0.05 + 0.8*0.64, 0.1}, 1e-12, 0)
}

// The correlation of anything with a constant is not beyond 1 by rounding.
func TestCorrelationOfConstants(t *testing.T) {
	rng := testrand.New(t)
	for range 3000 {
		n := 2 + rng.IntN(40)
		f, y, times := slices.Repeat([]float64{rng.NormFloat64()}, n), make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], times[i] = float64(rng.IntN(2)), float64(rng.IntN(4))
		}
		for _, by := range [][]float64{times, nil} {
			r, _ := correlation(f, y, by)
			must.Hold(t, math.Abs(r) <= 1+1e-9, "the correlation of %g with %v, so many times: %v, is %g", f[0], y, by, r)
		}
	}
}

// Sources of three rows or more have a match, by predictions of their rows as by sums, and sources of fewer have none. Labels far from 0
// change nothing.
func TestMatchOfFewRows(t *testing.T) {
	rng := testrand.New(t)
	for _, far := range []float32{0, 300, -3000} {
		set := shops(rng, 8, 60, 4, 1, false)
		for i := range set.Tasks {
			for j := range set.Tasks[i].Labels {
				set.Tasks[i].Labels[j] += far
			}
		}
		matchesRows(t, rng, set, far)
	}
}

// matchesRows compares the match of sources with one to eight samples, and labels about far, with that of their rows.
func matchesRows(t *testing.T, rng *rand.Rand, set *dataset.Set, far float32) {
	t.Helper()
	l := must.Get(newLearner(openDevice(t, 1, set), defaultConfig(t), 0))(t)
	defer l.Close()
	p := l.problem
	in := must.Get(p.Propose(State{}))(t)
	for m := range in.Sources {
		in.Sources[m] = p.draws.source[m][:1+m]
	}
	round := p.LookUp(in)
	must.Get(l.Learn(t.Context(), State{}, round))(t)
	s := must.Get(l.data.samples(l.queue, nil, p.Sources, round.Sources))(t)
	defer s.Free()
	pass := must.Get(newMatchPass(l.model.(*linearClass), s.on, l.counts))(t)
	defer pass.tmp.Close()
	v, c := narrow(normals(rng, 4)), rng.NormFloat64()+float64(far)
	got := must.Get(pass.correlations(v, c, l.counts))(t)
	sum := matchSum{of: make([]float64, len(p.Sources)), chances: make([]*matchChance, 1)}
	must.Do(t, l.matchOf(s.on, round.Sources, &sum))
	pred, first := must.Get(l.predictionsOf(s.on, must.Get(l.model.units())(t)))(t), 0
	for m, source := range round.Sources {
		n := len(source.Rows)
		var f []float64
		for _, row := range source.Rows {
			f = append(f, linalg.Dot(wide(v), features(set, p.Sources[m].Pool, int(row))))
		}
		square := func(f []float64) float64 {
			if n < 3 {
				return 0
			}
			return math.Pow(stat.Correlation(f, wide(source.Y), nil), 2)
		}
		near := 1e-3
		if n == 3 { // which may be nearly alike: labels far from 0 have few digits for what they differ by
			near = 0.02
		}
		isNear(t, got[m], square(f), near, fmt.Sprintf("the squared correlation of %d rows", n))
		match := math.Pow(math.Max(0, square(wide(pred[0][first:][:n]))-1/float64(n)), 2)
		isNear(t, sum.of[m], match, near, fmt.Sprintf("the match of %d rows", n))
		first += n
	}
}
