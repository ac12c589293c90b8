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

// Where sources are alike but for a constant added to the labels of each, one regression on all rows predicts the labels, and the methods
// give it weight in their last round alone. The result depends neither on whether a regression was cached nor on what a method began with.
func TestJoinOfNumbers(t *testing.T) {
	rng := testrand.New(t)
	const d, noise = 6, 2
	set := shops(rng, 8, 500, d, 1, false)
	weights := normals(rng, d)
	floats.Scale(math.Sqrt(d)/floats.Norm(weights, 2), weights) // else the signal is at times hardly larger than the noise
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

// The classes of a column may have labels of different rows; the regression on all rows helps them nevertheless.
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

// Where the target's labels differ by a constant from those of all sources, which are alike, its samples determine the constant, also where
// all features are constant.
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
		cfg := pooledConfig(t)
		cfg.TargetSamples = 80
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		last := st.Epochs[len(st.Epochs)-1]
		must.Hold(t, last.Method == Pooled && last.Score.Value < 0.5, "%s errs %g, the noise is 0.09", last.Method, last.Score.Value)
	}
}

// plainly returns the v and b that minimise v'Hv + sum (y - z - x'v - b)^2 + b^2/level over rows, by the normal equations.
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

// someSamples returns n samples x of d features, a precision matrix h, and predictions z of the samples, n by c.
func someSamples(rng *rand.Rand, n, d, c int) (x *mat.Dense, h *mat.SymDense, z *mat.Dense) {
	x, h, z = mat.NewDense(n, d, normals(rng, n*d)), mat.NewSymDense(d, nil), mat.NewDense(n, c, normals(rng, n*c))
	h.SymOuterK(math.Pow(10, 2*rng.Float64()-1), mat.NewDense(d, d+2, normals(rng, d*(d+2))))
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+0.1)
	}
	return x, h, z
}

// Adding samples to a ridge regression gives the solution of the normal equations of all samples with a label, and the left-out prediction
// of a sample is by those of the others.
func TestAddedSquared(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n, d, level := 1+rng.IntN(12), 1+rng.IntN(8), math.Pow(10, 2*rng.Float64()-1)
		x, h, predicted := someSamples(rng, n, d, 1)
		z, y := mat.Col(nil, 0, predicted), normals(rng, n)
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

// A regression on R in the place of X predicts for any row what its weights of the features predict.
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

// Adding samples to a logistic regression reaches the least of its objective by plain loops over weights of the features, and the left-out
// logits of a fold are by the samples of the other folds.
func TestAddedClasses(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 12 {
		n, d, c := []int{7, 33}[turn%2], 1+rng.IntN(12), 1+rng.IntN(4)
		x, h, z := someSamples(rng, n, d, c)
		of := regress.Logits{Rest: float64(b2i(c == 1 || rng.IntN(2) == 0))}
		class, by, mean := make([]int, n), regress.Recalibration{B: make([]float64, c)}, linalg.Centre(mat.DenseCopyOf(z))
		for i := range class {
			class[i] = rng.IntN(c)
			if of.Rest > 0 && rng.IntN(3) == 0 {
				class[i] = regress.NoClass
			} else if rng.IntN(6) == 0 {
				class[i] = regress.NoLabel
			}
		}
		for j := range by.B {
			by.B[j] = math.Pow(10, 2*rng.Float64()-1)
		}
		by.Eta = math.Pow(10, 2*rng.Float64()-1)
		weight, slope := []float64{1, 3, 30}[turn%3], true
		apart := mat.DenseCopyOf(x)
		centre := linalg.Centre(apart)
		var across mat.VecDense
		must.Do(t, across.SolveVec(h, mat.NewVecDense(d, centre)))
		lever := mat.Dot(&across, mat.NewVecDense(d, centre))
		plain := func(at []float64, without func(i int) bool) float64 {
			v, b, eta := mat.NewDense(c, d, at[:c*d]), at[c*d:c*d+c], 1.0
			if slope {
				eta += at[c*d+c]
			}
			value := (eta - 1) * (eta - 1) / by.Eta / 2
			for j := range c {
				row := mat.NewVecDense(d, v.RawRowView(j))
				value += mat.Inner(row, h, row)/2/weight + b[j]*b[j]/(by.B[j]+weight*lever)/2
			}
			for i := range n {
				if without(i) {
					continue
				}
				predicted := slices.Clone(z.RawRowView(i))
				for j := range predicted {
					predicted[j] = mean[j] + eta*(predicted[j]-mean[j]) + linalg.Dot(v.RawRowView(j), apart.RawRowView(i)) + b[j]
				}
				value += of.Loss(predicted, class[i])
			}
			return value
		}
		least := func(without func(i int) bool) []float64 {
			value := func(at []float64) float64 { return plain(at, without) }
			found, _ := optimize.Minimize(optimize.Problem{
				Func: value,
				Grad: func(grad, at []float64) { fd.Gradient(grad, value, at, &fd.Settings{Formula: fd.Central}) },
			}, make([]float64, c*(d+1)+1), &optimize.Settings{GradientThreshold: 1e-5}, &optimize.BFGS{})
			return found.X
		}
		added := pooledGram{}.added(x, h).classes(of, z, class, regress.Groups{}, by)
		with := must.Get(added.Fit(t.Context(), added.Origin(), weight))(t)
		left := with.Left
		all := func(int) bool { return false }
		want := least(all)
		if want[c*d+c] < 0 {
			slope = false
			want = least(all)
		}
		var got []float64
		for j := range c {
			w, b := added.predictor(with.MultinomialPoint, j, make([]float64, d), mean[j])
			got = append(got, w...)
			isNear(t, b, mean[j]+with.B[j]-linalg.Dot(w, centre), 1e-6*math.Max(1, math.Abs(b)), "an intercept")
		}
		got = append(append(got, with.B...), with.Eta-1)
		value, best := plain(got, all), plain(want, all)
		must.Hold(t, value < best+1e-3, "the objective of %d classes is %g, the least %g", c, value, best)
		for fold := range slices.Max(added.Fold) + 1 {
			v := least(func(i int) bool { return added.Fold[i] == fold })
			for i := range n {
				for j := 0; j < c && added.Fold[i] == fold; j++ {
					want := z.At(i, j) + float64(b2i(slope))*v[c*d+c]*(z.At(i, j)-mean[j]) + linalg.Dot(v[j*d:(j+1)*d], apart.RawRowView(i)) + v[c*d+j]
					isNear(t, left.At(i, j), want, 0.02*math.Max(1, math.Abs(want)), "a logit left out")
				}
			}
		}
	}
}

// Where sources are like the target and have few rows, the samples among the rows lower the loss. Where the target's two classes are
// swapped against those of the sources, counting each sample as many rows lowers it further.
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
