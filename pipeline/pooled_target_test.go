package pipeline

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Numbers of sources that are alike but for a level of each are known from one regression on all rows, and the methods lean on it in
// their last round alone. What is found depends neither on whether it was found before nor on what a method began with.
func TestJoinOfNumbers(t *testing.T) {
	rng := testrand.New(t)
	const d, noise = 6, 2
	set := shops(rng, 8, 500, d, 1, false)
	weights := normals(rng, d)
	floats.Scale(math.Sqrt(d)/floats.Norm(weights, 2), weights) // else what there is to learn is at times hardly more than the noise
	for m, pool := range set.Pools {
		level := 10 * rng.NormFloat64()
		for i := range pool.Rows {
			set.Tasks[m].Labels[i] = float32(linalg.Dot(features(set, m, i), weights) + level + noise*rng.NormFloat64())
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
		must.Hold(t, last == (e.HeadPooled > 0.2) && (last || e.HeadPooled == 0), "%s takes part %g of the regression on all rows in round %d",
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

// plainly solves ridge regression by its normal equations: the v and b that minimise v'Hv + sum (y - z - x'v - b)^2 + b^2/level over rows.
func plainly(t *testing.T, h *mat.SymDense, x *mat.Dense, z, y []float64, level float64, rows []int) (v []float64, b float64) {
	t.Helper()
	d := h.SymmetricDim()
	system, rhs := mat.NewDense(d+1, d+1, nil), mat.NewVecDense(d+1, nil)
	for j := range d {
		for k := range d {
			system.Set(j, k, h.At(j, k))
		}
	}
	system.Set(d, d, 1/level)
	for _, i := range rows {
		row := mat.NewVecDense(d+1, append(slices.Clone(x.RawRowView(i)), 1))
		system.RankOne(system, 1, row, row)
		rhs.AddScaledVec(rhs, y[i]-z[i], row)
	}
	var out mat.VecDense
	must.Do(t, out.SolveVec(system, rhs))
	return out.RawVector().Data[:d], out.AtVec(d)
}

// someSamples are n of d features, with an H and what is said of them.
func someSamples(rng *rand.Rand, n, d, c int) (x *mat.Dense, h *mat.SymDense, z *mat.Dense) {
	x, h, z = mat.NewDense(n, d, normals(rng, n*d)), mat.NewSymDense(d, nil), mat.NewDense(n, c, normals(rng, n*c))
	h.SymOuterK(math.Pow(10, 2*rng.Float64()-1), mat.NewDense(d, d+2, normals(rng, d*(d+2))))
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+0.1)
	}
	return x, h, z
}

// Samples that are added to ridge regression give what the normal equations of all rows do, and each left out what those of the others do.
func TestAddedSquared(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n, d, level := 1+rng.IntN(12), 1+rng.IntN(8), math.Pow(10, 2*rng.Float64()-1)
		x, h, said := someSamples(rng, n, d, 1)
		z, y := mat.Col(nil, 0, said), normals(rng, n)
		var rows []int
		for i := range y {
			if rng.IntN(4) == 0 {
				y[i] = math.NaN()
			} else {
				rows = append(rows, i)
			}
		}
		added := pooledGram{}.added(x, h)
		alpha, shift, left := added.squared(added.covariance(), z, y, level, regress.Groups{})
		v, b := plainly(t, h, x, z, y, level, rows)
		closeVectors(t, "the weights", added.weights(alpha), v, 1e-6, 1)
		isNear(t, shift, b, 1e-6*math.Max(1, math.Abs(b)), "the intercept")
		for i := range y {
			others := slices.DeleteFunc(slices.Clone(rows), func(r int) bool { return r == i })
			v, b := plainly(t, h, x, z, y, level, others)
			want := z[i] + linalg.Dot(x.RawRowView(i), v) + b
			isNear(t, left[i], want, 1e-6*math.Max(1, math.Abs(want)), "what is said of a sample left out")
		}
	}
}

// A regression on R in the place of X says of any row what its weights of the features do.
func TestFeaturesOfRoot(t *testing.T) {
	rng := testrand.New(t)
	n, d := 5, 9
	g := pooledGram{wide: mat.NewDense(n, d, normals(rng, n*d)), root: new(mat.TriDense)}
	var products mat.SymDense
	products.SymOuterK(1, g.wide)
	var chol mat.Cholesky
	must.Hold(t, chol.Factorize(&products), "rows that depend on each other")
	chol.LTo(g.root)
	rows, u := mat.NewDense(3, d, normals(rng, 3*d)), normals(rng, n)
	w := g.weights(u)
	for i := range 3 {
		want := linalg.Dot(rows.RawRowView(i), w)
		isNear(t, linalg.Dot(g.features(rows).RawRowView(i), u), want, 1e-8*math.Max(1, math.Abs(want)), "what is said of a row")
	}
}

// Samples that are added to a logistic regression give the least of its objective by plain loops over weights of the features, and what is
// left out is that of the other parts of the samples.
func TestAddedClasses(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 12 {
		n, d, c := []int{7, 33}[turn%2], 1+rng.IntN(12), 1+rng.IntN(4)
		x, h, z := someSamples(rng, n, d, c)
		of := regress.Logits{Rest: float64(b2i(c == 1 || rng.IntN(2) == 0))}
		class, variances := make([]int, n), make([]float64, c)
		for i := range class {
			class[i] = rng.IntN(c)
			if of.Rest > 0 && rng.IntN(3) == 0 {
				class[i] = regress.NoClass
			} else if rng.IntN(6) == 0 {
				class[i] = regress.NoLabel
			}
		}
		for j := range variances {
			variances[j] = math.Pow(10, 2*rng.Float64()-1)
		}
		weight := []float64{1, 3, 30}[turn%3]
		plain := func(at []float64, without func(i int) bool) float64 {
			v, b := mat.NewDense(c, d, at[:c*d]), at[c*d:]
			value := 0.0
			for j := range c {
				row := mat.NewVecDense(d, v.RawRowView(j))
				value += mat.Inner(row, h, row)/2/weight + b[j]*b[j]/variances[j]/2
			}
			for i := range n {
				if without(i) {
					continue
				}
				said := slices.Clone(z.RawRowView(i))
				for j := range said {
					said[j] += linalg.Dot(v.RawRowView(j), x.RawRowView(i)) + b[j]
				}
				value += of.Loss(said, class[i])
			}
			return value
		}
		least := func(without func(i int) bool) []float64 {
			value := func(at []float64) float64 { return plain(at, without) }
			found, _ := optimize.Minimize(optimize.Problem{
				Func: value,
				Grad: func(grad, at []float64) { fd.Gradient(grad, value, at, &fd.Settings{Formula: fd.Central}) },
			}, make([]float64, c*(d+1)), &optimize.Settings{GradientThreshold: 1e-5}, &optimize.BFGS{})
			return found.X
		}
		added := pooledGram{}.added(x, h).classes(of, z, class, regress.Groups{}, variances)
		with := must.Get(added.Fit(t.Context(), added.Origin(), weight))(t)
		left := with.Left
		w, b := added.weights(with.MultinomialPoint)
		all := func(int) bool { return false }
		want := least(all)
		got := append(slices.Concat(w...), b...)
		value, best := plain(got, all), plain(want, all)
		must.Hold(t, value < best+1e-3, "the objective of %d classes is %g, the least %g", c, value, best)
		for fold := range slices.Max(added.Fold) + 1 {
			v := least(func(i int) bool { return added.Fold[i] == fold })
			for i := range n {
				for j := 0; j < c && added.Fold[i] == fold; j++ {
					want := z.At(i, j) + linalg.Dot(v[j*d:(j+1)*d], x.RawRowView(i)) + v[c*d+j]
					isNear(t, left.At(i, j), want, 0.02*math.Max(1, math.Abs(want)), "a logit left out")
				}
			}
		}
	}
}

// Where sources are like the target and have few rows, the samples among them help. Where the target's classes are other rows
// than those of the sources, they help more as many rows each.
func TestSamplesAmongRows(t *testing.T) {
	rng := testrand.New(t)
	for _, unlike := range []bool{false, true} {
		most, least := 0.0, 0.0 // losses with more weight of the samples and with less
		for range 8 {
			set := shops(rng, 4, 200, 5, 2, true)
			cfg := defaultConfig(t)
			cfg.Methods, cfg.TargetSamples = []string{Uniform}, 60
			cfg.Schedule.Budget, cfg.Schedule.Floor = 12, 4
			if unlike {
				a, b := set.Tasks[0].Labels, set.Tasks[1].Labels
				set.Tasks[0].Labels, set.Tasks[1].Labels = b, a
				cfg.Schedule.Budget = 300
			}
			l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
			defer l.Close()
			in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
			found := must.Get(l.pooledClasses(t.Context(), in, []int{0, 1}, must.Get(l.model.units())(t)))(t)
			loss := func(of []prediction) (sum float64) {
				for i := range in.Target.Rows {
					sum += regress.LogOfLabel(of[0].left[i], float64(in.Target.Y[2*i]))
				}
				return sum
			}
			few, many := found.sources, found.with[0]
			if unlike {
				must.Equal(t, len(found.with), 2, "weights of the samples")
				few, many = found.with[0], found.with[1]
			}
			most, least = most+loss(many), least+loss(few)
		}
		must.Hold(t, most < least, "unlike %v: with more weight of the samples the loss is %g, with less %g", unlike, most, least)
	}
}
