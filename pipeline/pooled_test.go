package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// levelled is the ridge regression of y, n by C, on x with an intercept s_m from N(b, rho sigma^2) for each source, by its definition:
// least squares of y and x multiplied by (I + rho 1 1')^-1/2 within each source. lambda, in units of the mean eigenvalue, minimises
// generalised cross-validation, and noise is the variance of the residuals there, summed over outputs.
type levelled struct {
	rho, lambda, noise float64
	level              float64    // the variance of the intercept of another source about b
	beta               *mat.Dense // d by C
	intercept          []float64
	penalized          *mat.SymDense // matrix of the system for beta
}

func levelledAt(x, y *mat.Dense, source []int, rho float64) levelled {
	n, d := x.Dims()
	_, outputs := y.Dims()
	rows := map[int]float64{}
	for _, m := range source {
		rows[m]++
	}
	half, free := mat.NewDense(n, n, nil), 1.0 // (I + rho 1 1')^-1/2, and degrees of freedom of the intercepts
	if rho == regress.MaxRho {
		free = float64(len(rows))
	}
	for i := range n {
		m := rows[source[i]]
		for j := range n {
			if source[i] == source[j] {
				half.Set(i, j, float64(b2i(i == j))-(1-1/math.Sqrt(1+rho*m))/m)
			}
		}
	}
	var one, xs, ys mat.Dense
	one.Mul(half, mat.NewDense(n, 1, slices.Repeat([]float64{1}, n)))
	xs.Mul(half, x)
	ys.Mul(half, y)
	without := mat.NewDense(n, n, nil) // projection orthogonal to one
	without.Mul(&one, one.T())
	without.Scale(-1/math.Pow(mat.Norm(&one, 2), 2), without)
	for i := range n {
		without.Set(i, i, 1+without.At(i, i))
	}
	level := math.Max(rho, 0.1) + math.Pow(mat.Norm(&one, 2), -2)
	out, best := levelled{rho: rho, level: level, beta: mat.NewDense(d, outputs, nil)}, math.Inf(1)
	var xo, yo mat.Dense
	xo.Mul(without, &xs)
	yo.Mul(without, &ys)
	for step := range 19 {
		var gram, inverse, hat, left, beta mat.Dense
		gram.Mul(xo.T(), &xo)
		lambda := math.Pow(10, -7+float64(step)/2)
		unit := lambda * mat.Trace(&gram) / float64(d)
		for j := range d {
			gram.Set(j, j, gram.At(j, j)+unit)
		}
		if inverse.Inverse(&gram) != nil {
			panic("the system is singular")
		}
		hat.Product(&xo, &inverse, xo.T())
		left.Mul(&hat, &yo)
		left.Sub(&yo, &left)
		freedom, square := free+mat.Trace(&hat), math.Pow(mat.Norm(&left, 2), 2)
		if v := square / math.Pow(1-freedom/float64(n), 2); freedom < float64(n) && v < best {
			best, out.lambda, out.noise = v, lambda, square/(float64(n)-freedom)
			beta.Product(&inverse, xo.T(), &yo)
			out.beta.Copy(&beta)
			out.penalized = mat.NewSymDense(d, gram.RawMatrix().Data)
		}
	}
	var left, b mat.Dense
	left.Mul(&xs, out.beta)
	left.Sub(&ys, &left)
	b.Mul(one.T(), &left)
	for c := range outputs {
		out.intercept = append(out.intercept, b.At(0, c)/math.Pow(mat.Norm(&one, 2), 2))
	}
	return out
}

// levelledFit returns the levelled regression at the rho of DerSimonian and Laird, estimated from the intercepts of a fit in which they are
// free.
func levelledFit(x, y *mat.Dense, source []int) levelled {
	free := levelledAt(x, y, source, regress.MaxRho)
	n, outputs := y.Dims()
	means, rows := map[int][]float64{}, map[int]float64{}
	for i := range n {
		m := source[i]
		if means[m] == nil {
			means[m] = make([]float64, outputs)
		}
		rows[m]++
		for c := range outputs {
			e := y.At(i, c)
			for j := range free.beta.RawMatrix().Rows {
				e -= x.At(i, j) * free.beta.At(j, c)
			}
			means[m][c] += e
		}
	}
	if len(rows) == 1 {
		return free
	}
	apart, square := 0.0, 0.0
	for m, k := range rows {
		square += k * k
		for c := range outputs {
			all := 0.0
			for _, sums := range means {
				all += sums[c] / float64(n)
			}
			apart += k * math.Pow(means[m][c]/k-all, 2)
		}
	}
	rho := math.Max(0, apart/free.noise-float64(len(rows)-1)) / (float64(n) - square/float64(n))
	return levelledAt(x, y, source, rho)
}

// pooledRidge agrees with levelledFit, whether the sources' intercepts are the same or far apart, for one source or several.
func TestPooledRidge(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 12 {
		const d = 4
		apart := []float64{0, 1, 100}[turn%3]
		set, cfg := shops(rng, 6, 60, d, 2, true), defaultConfig(t)
		cfg.Centring = CentringGlobal
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		pools, n := []int{6, 1, 6, 2}[turn%4], 40
		x, y := mat.NewDense(n, d, nil), mat.NewDense(n, 2, nil)
		var rows []poolRow
		var source []int
		level := normals(rng, 6)
		for i := range n {
			m := rng.IntN(pools)
			if i < pools {
				m = i
			}
			rows, source = append(rows, poolRow{m, i}), append(source, m)
			x.SetRow(i, features(set, m, i))
			for c := range 2 {
				y.Set(i, c, x.At(i, c)+apart*level[m]+0.5*rng.NormFloat64())
			}
		}
		want := levelledFit(x, y, source)
		got := must.Get(l.pooledRidge(rows, nil, mat.DenseCopyOf(y), nil))(t)
		must.Hold(t, math.Abs(got.rho-want.rho) <= 1e-5*want.rho+1e-9, "levels %g apart of %d sources have rho %g, expected %g",
			apart, pools, got.rho, want.rho)
		must.Hold(t, math.Abs(got.lambda-want.lambda) <= 1e-9, "lambda %g, expected %g", got.lambda, want.lambda)
		squares := mat.DenseCopyOf(got.penalized).RawMatrix().Data
		closeVectors(t, "the squares with the penalty", squares, want.penalized.RawSymmetric().Data, 1e-5, 1)
		must.Hold(t, math.Abs(got.level-want.level) <= 1e-5*want.level, "the level varies by %g, expected %g", got.level, want.level)
		for c := range 2 {
			beta := got.beta.RawRowView(c)
			closeVectors(t, "the weights", beta, mat.Col(nil, c, want.beta), 1e-5, 0.1)
			at := got.intercept[c] - linalg.Dot(got.centre, beta)
			must.Hold(t, math.Abs(at-want.intercept[c]) <= 1e-5*(1+apart), "the intercept is %g, expected %g", at, want.intercept[c])
		}
	}
}

// Pooled is the ridge regression, with an intercept for each source, on the rows with a label of the column that uniform drew and on the
// target's samples. A class that a source lacks has the label 0 in rows that are known to be of another class, and numbers of a source that
// are unlike those of the others are learned in their own unit.
func TestPooled(t *testing.T) {
	const d, target = 6, 2
	rng := testrand.New(t)
	for _, classes := range []bool{true, false} {
		set := shops(rng, 5, 150, d, 3, classes)
		lacks := 3 * 4 // the first output of the last pool, which is removed
		set.Tasks = slices.Delete(set.Tasks, lacks, lacks+1)
		dev := openDevice(t, 1, set)
		cfg := pooledConfig(t)
		cfg.Head.Loss, cfg.Centring = LossSquared, CentringGlobal
		u, st := runUnit(t, dev, cfg, target)
		uniform, e := st.Epochs[3], st.Epochs[len(st.Epochs)-1]
		if e.Method != Pooled || !slices.Equal(e.Counts, uniform.Counts) || e.Cost != uniform.Cost {
			t.Fatalf("the last round is %+v, uniform %+v", e, uniform)
		}
		test := set.Tasks[3*target].Test
		got := must.Get(u.predictions(test, must.Get(u.model.units())(t)))(t)
		var xs *mat.Dense
		var ys [][]float64
		var sources []int
		for c := range 3 {
			var x [][]float64
			var y []float64
			var source []int
			for m, s := range u.problem.Sources {
				for _, row := range u.problem.draws.source[m][:e.Counts[m]] {
					v, has := 0.0, false
					for _, i := range s.Tasks {
						task := set.Tasks[i]
						same := task.Output == set.Tasks[3*target+c].Output
						if same {
							v = float64(task.Labels[row])
						}
						if classes {
							has = has || len(s.Tasks) == 3 || task.Labels[row] == 1
						} else if same {
							has = slices.Contains(task.Train, row)
						}
					}
					if has {
						x, y, source = append(x, features(set, s.Pool, int(row))), append(y, v), append(source, m)
					}
				}
			}
			all := mat.NewDense(len(x), d, nil)
			for i := range x {
				all.SetRow(i, x[i])
			}
			samples := u.problem.draws.target[:cfg.TargetSamples]
			if !classes {
				numbers := make([][]float64, len(u.problem.Sources)+1)
				for i, m := range source {
					numbers[m] = append(numbers[m], y[i])
				}
				for _, row := range samples {
					if task := set.Tasks[3*target+c]; slices.Contains(task.Train, row) {
						numbers[len(u.problem.Sources)] = append(numbers[len(u.problem.Sources)], float64(task.Labels[row]))
					}
				}
				for _, unlike := range dataset.UnlikeSources(numbers) {
					for i, m := range source {
						if m == unlike.Source {
							y[i] = unlike.Of(y[i])
						}
					}
				}
			}
			if classes { // the classes of a column share lambda and rho
				xs, ys, sources = all, append(ys, y), source
				if c < 2 {
					continue
				}
			} else {
				xs, ys, sources = all, [][]float64{y}, source
			}
			labels := mat.NewDense(len(y), len(ys), nil)
			for j, of := range ys {
				labels.SetCol(j, of)
			}
			fit := levelledFit(xs, labels, sources)
			for j := range ys {
				output := c
				if classes {
					output = j
				}
				says := func(row int32) float64 {
					return fit.intercept[j] + linalg.Dot(features(set, target, int(row)), mat.Col(nil, j, fit.beta))
				}
				own, centre, labelled := mat.NewDense(len(samples), d, nil), columnMeans(xs), []int{}
				z, y := make([]float64, len(samples)), make([]float64, len(samples))
				for i, row := range samples {
					own.SetRow(i, features(set, target, int(row)))
					floats.Sub(own.RawRowView(i), centre)
					z[i] = says(row)
					if task := set.Tasks[3*target+output]; classes || slices.Contains(task.Train, row) {
						y[i], labelled = float64(task.Labels[row]), append(labelled, i)
					}
				}
				v, shift := plainly(t, fit.penalized, own, z, y, fit.level, labelled)
				var want []float64
				for _, row := range test {
					at := features(set, target, int(row))
					floats.Sub(at, centre)
					want = append(want, says(row)+shift+linalg.Dot(at, v))
				}
				closeVectors(t, fmt.Sprintf("classes %v: predictions of output %d", classes, output), wide(got[output]), want, 1e-4, 0)
			}
		}
	}
}

// Pooled is refused where sources are tasks and where no method comes before it, and its result does not depend on the parameters of the
// state before.
func TestPooledMethods(t *testing.T) {
	rng := testrand.New(t)
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = []string{Active, Pooled}, SourcesTasks
	must.Fail(t, "tasks", must.Err(NewProblem(shops(rng, 3, 100, 4, 2, true), cfg, 0)), "pooled", "pools")
	cfg.Methods = []string{Pooled}
	must.Fail(t, "alone", must.Err(NewProblem(shops(rng, 3, 100, 4, 2, true), cfg, 0)),
		"pooled comes first: expected active or uniform before it, as in uniform,pooled")
	// A round that continues from the state of the round before leaves the same head.
	cfg.Methods, cfg.Sources = []string{Uniform, Pooled}, SourcesPools
	dev := openDevice(t, 1, shops(rng, 4, 100, 4, 2, false))
	u, st := runUnit(t, dev, cfg, 0)
	again := must.Get(u.Solve(context.Background(), State{Epochs: st.Epochs[:1], Theta: st.Theta, Head: st.Head}, quiet, unsaved))(t)
	if !slices.Equal(again.Head, st.Head) {
		t.Error("the head depends on the round before")
	}
}

// columnMeans returns the mean of each column of x.
func columnMeans(x *mat.Dense) []float64 {
	n, d := x.Dims()
	out := make([]float64, d)
	for j := range out {
		out[j] = mat.Sum(x.ColView(j)) / float64(n)
	}
	return out
}

// For a column that no source has, pooled predicts what constant does.
func TestPooledOfTheTargetAlone(t *testing.T) {
	rng := testrand.New(t)
	for _, classes := range []bool{true, false} {
		for _, shared := range []int{2, 0} { // outputs of the target that the sources have too
			set := shops(rng, 3, 90, 4, 4, classes)
			for i := range set.Tasks {
				if o := &set.Tasks[i].Output; i%4 >= shared && i < 4 {
					o.Name = "own" + o.Name
				} else if i%4 >= shared {
					o.Name = "other" + o.Name
				}
				set.Tasks[i].Test = nil
			}
			cfg := defaultConfig(t)
			cfg.TargetSamples = len(set.Tasks[0].Train)
			dev, last, heads := openDevice(t, 1, set), map[string]Epoch{}, map[string][]float64{}
			for _, method := range []string{Constant, Pooled} {
				cfg.Methods = []string{Uniform, method}
				u, st := runUnit(t, dev, cfg, 0)
				last[method] = st.Epochs[1]
				for c := shared; c < 4; c++ {
					heads[method] = append(heads[method], download(t, u.queue, u.headOf(c))...)
				}
			}
			got, want := last[Pooled], last[Constant]
			must.Hold(t, slices.Equal(heads[Pooled], heads[Constant]), "classes %v: heads %v, expected %v", classes, heads[Pooled], heads[Constant])
			must.Hold(t, shared > 0 || got.Score == want.Score && near(got.LogLoss, want.LogLoss, 1e-9), "%+v, expected %+v", got, want)
			must.Hold(t, shared > 0 || near(got.TargetLoss, want.TargetLoss, 1e-5), "loss %g, expected %g", got.TargetLoss, want.TargetLoss)
			must.Hold(t, shared > 0 || classes || near(got.LeaveOneOut, want.LeaveOneOut, 1e-5),
				"leave-one-out %g, expected %g", got.LeaveOneOut, want.LeaveOneOut)
		}
	}
}
