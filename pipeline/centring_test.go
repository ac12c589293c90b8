package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// apart returns the set with the rows of pool m moved by the numbers that by returns for it.
func apart(set *dataset.Set, by func(pool int) []float64) *dataset.Set {
	out := *set
	out.Pools = nil
	for m, p := range set.Pools {
		q, shift := *p, by(m)
		q.U8, q.F16, q.F32, q.Scale = nil, nil, nil, 1
		for r := range p.Rows {
			for j, v := range features(set, m, r) {
				q.F32 = append(q.F32, float32(v+shift[j]))
			}
		}
		out.Pools = append(out.Pools, &q)
	}
	return &out
}

// plainMoments computes the moments of pools anew.
func plainMoments(set *dataset.Set) func(int, []int32) poolMoments {
	return func(pool int, without []int32) poolMoments { return momentsOf(set.Pools[pool], without) }
}

// centresPlainly computes poolCentres from lists of rows.
func centresPlainly(set *dataset.Set, target int, test []int32, scaling string) ([][]float64, bool) {
	d := set.Pools[0].Cols
	var means [][]float64
	var counts []float64
	within, free := make([]float64, d), 0.0
	for m, p := range set.Pools {
		mean, n := make([]float64, d), 0.0
		each := func(fn func(x []float64)) {
			for i := range p.Rows {
				if m != target || !slices.Contains(test, int32(i)) {
					fn(features(set, m, i))
				}
			}
		}
		each(func(x []float64) {
			for j, v := range x {
				mean[j] += v
			}
			n++
		})
		for j := range mean {
			mean[j] /= n
		}
		each(func(x []float64) {
			for j, v := range x {
				within[j] += (v - mean[j]) * (v - mean[j])
			}
		})
		means, counts, free = append(means, mean), append(counts, n), free+n-1
	}
	pools, between, rest := float64(len(means)), 0.0, 0.0
	mu := make([]float64, d)
	for j := range d {
		for _, mean := range means {
			mu[j] += mean[j] / pools
		}
		b, inverse := 0.0, 0.0
		for m, mean := range means {
			b += (mean[j] - mu[j]) * (mean[j] - mu[j]) / (pools - 1)
			inverse += 1 / counts[m] / pools
		}
		w := within[j] / math.Max(1, free)
		b -= w * inverse
		unit := 1.0
		if scaling == ScalingFeature {
			unit = w + math.Max(0, b)
		}
		between, rest = between+b/unit, rest+w/unit
	}
	r := math.Max(0, between/rest)
	if free == 0 { // each pool has one row, so that nothing tells how far apart rows of a pool are
		r = 0
	}
	for m, mean := range means {
		for j := range mean {
			mean[j] = mu[j] + counts[m]*r/(1+counts[m]*r)*(mean[j]-mu[j])
		}
	}
	return means, r >= leastApart
}

// poolCentres agrees with a plain computation, for pools of few rows and of many, near each other and far apart, with and without held-out
// rows of the target.
func TestPoolCentres(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 40 {
		const d = 5
		pools, spread := 2+rng.IntN(5), []float64{0, 0.1, 1, 1e4}[turn%4]
		set := shops(rng, pools, 5+rng.IntN(40), d, 1, false)
		set = apart(set, func(int) []float64 {
			shift := normals(rng, d)
			for j := range shift {
				shift[j] *= spread
			}
			return shift
		})
		for m, p := range set.Pools {
			if m > 0 {
				p.Rows = 1 + rng.IntN(p.Rows)
				p.F32 = p.F32[:p.Rows*d]
			}
		}
		target, scaling := rng.IntN(pools), []string{ScalingGlobal, ScalingFeature}[turn%2]
		var test []int32
		for i := range set.Pools[target].Rows - 1 {
			if rng.IntN(3) == 0 {
				test = append(test, int32(i))
			}
		}
		set.Tasks[target].Test = test
		got, apart := poolCentres(set, Source{Pool: target, Tasks: []int{target}}, scaling, plainMoments(set))
		want, wantApart := centresPlainly(set, target, test, scaling)
		must.Equal(t, apart, wantApart, "turn %d: whether pools lie apart", turn)
		for m := range want {
			what := fmt.Sprintf("turn %d: the centre of pool %d of %d rows", turn, m, set.Pools[m].Rows)
			closeVectors(t, what, widened(got[m]), want[m], 1e-6, spread)
		}
	}
}

// Only a part of many rows is read.
func TestPoolCentresOfManyRows(t *testing.T) {
	set := apart(shops(testrand.New(t), 3, 3*centreRows, 2, 1, false), func(m int) []float64 { return []float64{float64(9 * m), 0} })
	centres, apart := poolCentres(set, (&Config{}).SourcesIn(set)[1], ScalingGlobal, plainMoments(set))
	must.Hold(t, apart, "the pools do not lie apart")
	for m, c := range centres {
		must.Hold(t, math.Abs(float64(c[0])-float64(9*m)) < 0.1 && math.Abs(float64(c[1])) < 0.1, "the centre of pool %d is %v", m, c)
	}
}

// Results do not depend on where the rows of each source lie: the same draws and, to rounding, the same relevance, weights and predictions.
func TestSourcesApart(t *testing.T) {
	const d = 6
	for _, classes := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(3, 1))
		set := shops(rng, 5, 400, d, 3, classes)
		at := make([][]float64, 5)
		for m := range at {
			at[m] = normals(rng, d)
		}
		by := func(factor float64) *dataset.Set {
			return apart(set, func(m int) []float64 {
				out := slices.Clone(at[m])
				for j := range out {
					out[j] *= factor
				}
				return out
			})
		}
		near, far := by(10), by(300)
		u, one := runUnit(t, openDevice(t, 1, near), defaultConfig(t), 2)
		v, two := runUnit(t, openDevice(t, 1, far), defaultConfig(t), 2)
		for i := range one.Epochs {
			x, y := &one.Epochs[i], &two.Epochs[i]
			what := fmt.Sprintf("classes %v: %s, epoch %d", classes, x.Method, x.Epoch)
			must.EqualSlices(t, y.Counts, x.Counts, "%s: counts", what)
			closeVectors(t, what+": nu", y.Nu, x.Nu, 1e-2, 0.01)
			must.Hold(t, math.Abs(x.LeaveOneOut-y.LeaveOneOut) <= 1e-2*x.LeaveOneOut, "%s: left out %g and %g", what, x.LeaveOneOut, y.LeaveOneOut)
		}
		test := set.Tasks[3*2].Test
		says := func(l *Learner, st State, set *dataset.Set) []float32 {
			p := must.Get(NewPredictor(l.queue, l.Tensors(st), 0, 0))(t)
			defer p.Close()
			rows := &dataset.Pool{Rows: len(test), Cols: d, Scale: 1}
			for _, i := range test {
				rows.F32 = append(rows.F32, set.Pools[2].F32[int(i)*d:][:d]...)
			}
			out := make([]float32, len(test)*p.C)
			must.Do(t, p.Predict(rows, out))
			return out
		}
		first, second := widened(says(u, one, near)), widened(says(v, two, far))
		closeVectors(t, fmt.Sprintf("classes %v: predictions by the saved model", classes), second, first, 1e-2, 1)
		predicted := must.Get(u.predictions(test, must.Get(u.model.units())(t)))(t)
		for c := range predicted {
			for i, want := range predicted[c] {
				got := first[i*len(predicted)+c]
				must.Hold(t, math.Abs(got-float64(want)) <= 1e-4*(1+math.Abs(got)), "output %d of row %d: saved %g, learned %g", c, i, got, want)
			}
		}
	}
}

// Where sources lie far apart, centring by source lowers the error: what sources have in common is then what differs within them.
func TestCentringOfSourcesApart(t *testing.T) {
	const d = 12
	var errs [2]float64
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 5))
		set := apart(shops(rng, 8, 200, d, 3, true), func(int) []float64 {
			shift := normals(rng, d)
			for j := range shift {
				shift[j] *= 5
			}
			return shift
		})
		for i, centring := range []string{CentringGlobal, CentringSource} {
			cfg := defaultConfig(t)
			cfg.Centring, cfg.Methods = centring, []string{Active}
			_, st := runUnit(t, openDevice(t, 1, set), cfg, 2)
			errs[i] += st.Epochs[len(st.Epochs)-1].Score.Value / 4
		}
	}
	t.Logf("errors of classes with one centre %.4f, with a centre for each source %.4f", errs[0], errs[1])
	must.Hold(t, errs[1] < 0.8*errs[0], "errors %v", errs)
}

// Rows are less the centres of their pools where labels do not follow these, and not where they follow them as they follow features within
// pools, in all rounds of a method and in its model.
func TestCentringByLabels(t *testing.T) {
	rng := testrand.New(t)
	const d, pools, rows = 8, 16, 160
	for turn := range 12 {
		follow, classes := turn%2 == 0, turn%4 < 2
		by := 2.0
		if classes {
			by = 0.8 // further apart, nearly all rows of a pool would be of one class
		}
		set, w := &dataset.Set{Name: "apart", Binary: classes}, normals(rng, d)
		for m := range pools {
			pool, y := &dataset.Pool{Name: fmt.Sprint("p", m), Rows: rows, Cols: d, Scale: 1}, make([]float64, rows)
			shift := normals(rng, d)
			for i := range rows {
				for j := range d {
					x := rng.NormFloat64()
					y[i] += w[j] * x
					if follow {
						y[i] += w[j] * by * shift[j]
					}
					pool.F32 = append(pool.F32, float32(x+by*shift[j]))
				}
				y[i] += 0.5 * rng.NormFloat64()
			}
			if !classes {
				must.Do(t, set.AddNumbers(pool, "y", narrow(y), nil))
				continue
			}
			words := make([]string, rows)
			for i, v := range y {
				words[i] = map[bool]string{true: "more", false: "less"}[v > 0]
			}
			must.Do(t, set.AddClasses(pool, "y", words, nil))
		}
		cfg := defaultConfig(t)
		cfg.Methods, cfg.Schedule.Budget = []string{Active}, 1200
		u, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		want := map[bool]string{true: "", false: CentringSource}[follow]
		for _, e := range st.Epochs {
			must.Equal(t, e.Centring, want, "turn %d: the centring of round %d", turn, e.Epoch)
		}
		i := slices.IndexFunc(u.Tensors(st), func(m Tensor) bool { return m.Name == "representation.centre" })
		same := slices.Equal(u.Tensors(st)[i].Data, u.problem.means[0])
		must.Equal(t, same, !follow, "turn %d: whether the model has the centre of the target's pool", turn)
	}
}

// With more sources than rows to decide by, a part of the sources decides; where no row tells, nothing follows.
func TestLevelsOfManySources(t *testing.T) {
	rng := testrand.New(t)
	const d, pools = 3, 1200
	set, w := &dataset.Set{Name: "many"}, normals(rng, d)
	for m := range pools {
		pool, y, shift := &dataset.Pool{Name: fmt.Sprint("p", m), Rows: 6, Cols: d, Scale: 1}, make([]float32, 6), normals(rng, d)
		for i := range y {
			for j := range d {
				x := rng.NormFloat64() + shift[j]
				y[i] += float32(w[j] * x)
				pool.F32 = append(pool.F32, float32(x))
			}
			y[i] += float32(0.3 * rng.NormFloat64())
		}
		must.Do(t, set.AddNumbers(pool, "y", y, nil))
	}
	cfg := defaultConfig(t)
	cfg.TargetSamples, cfg.Schedule = 6, Schedule{Kind: ScheduleBudget, Epochs: 1, Floor: 1, Budget: 6 * pools}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	in := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t))
	must.Hold(t, must.Get(l.levelsFollow(in))(t), "labels follow the levels of 1,200 sources")
	for m := range in.Sources {
		in.Sources[m] = Labelled{Rows: in.Sources[m].Rows[:1], Y: in.Sources[m].Y[:1]}
	}
	must.Hold(t, !must.Get(l.levelsFollow(in))(t), "one row of each source tells nothing")
}

// A run that is resumed after any round has the left-out predictions of all methods that it would have had, to the bit.
func TestCentredRoundsResume(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 5, 120, 6, 3, true)
	for i := range set.Tasks { // the target has no test rows, so that its samples are left out
		set.Tasks[i].Train, set.Tasks[i].Test = slices.Concat(set.Tasks[i].Train, set.Tasks[i].Test), nil
	}
	set = apart(set, func(int) []float64 { return normals(rng, 6) })
	for i := range set.Tasks {
		if set.Tasks[i].Pool == 2 {
			set.Tasks[i].Train = set.Tasks[i].Train[:25]
		}
	}
	cfg := defaultConfig(t)
	dev := openDevice(t, 1, set)
	one := must.Get(newLearner(dev, cfg, 2))(t)
	defer one.Close()
	var st State
	for range 3 + 4 {
		in := one.problem.LookUp(must.Get(one.problem.Propose(st))(t))
		other := must.Get(newLearner(dev, cfg, 2))(t)
		again := must.Get(other.Learn(t.Context(), st, in))(t)
		st = must.Get(one.Learn(t.Context(), st, in))(t)
		must.EqualSlices(t, again.Head, st.Head, "%s: the head", in.Method)
		a, _ := one.Measured()
		b, _ := other.Measured()
		for c := range a {
			must.EqualSlices(t, b[c], a[c], "%s: predictions of output %d", in.Method, c)
		}
		other.Close()
	}
	must.Equal(t, st.Epochs[0].Centring, CentringSource, "the centring")
}
