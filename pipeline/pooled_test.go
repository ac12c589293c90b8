package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// crossValidation is the generalised cross-validation of a lambda, by the matrix that takes centred labels to
// predictions.
func crossValidation(x, y *mat.Dense, lambda float64) float64 {
	n, d := x.Dims()
	var gram, inverse, hat, predicted, left mat.Dense
	gram.Mul(x.T(), x)
	unit := lambda * mat.Trace(&gram) / float64(d)
	for j := range d {
		gram.Set(j, j, gram.At(j, j)+unit)
	}
	if inverse.Inverse(&gram) != nil {
		panic("the system is singular")
	}
	hat.Product(x, &inverse, x.T())
	predicted.Mul(&hat, y)
	left.Sub(y, &predicted)
	return math.Pow(mat.Norm(&left, 2)/(1-(1+mat.Trace(&hat))/float64(n)), 2)
}

// Pooled is ridge regression with an intercept on the rows that uniform drew, those
// with a label of the column, in which the classes that a source lacks are 0 where it says of which other a row is.
func TestPooled(t *testing.T) {
	const d, target = 6, 2
	rng := testrand.New(t)
	for _, classes := range []bool{true, false} {
		set := shops(rng, 5, 150, d, 3, classes)
		lacks := 3 * 4 // the first output of the last pool, which has it no more
		set.Tasks = slices.Delete(set.Tasks, lacks, lacks+1)
		dev := openDevice(t, 1, set)
		cfg := defaultConfig(t)
		cfg.Head.Loss = LossSquared
		u, st := runUnit(t, dev, cfg, target)
		uniform, e := st.Epochs[3], st.Epochs[len(st.Epochs)-1]
		if e.Method != Pooled || !slices.Equal(e.Counts, uniform.Counts) || e.Cost != uniform.Cost {
			t.Fatalf("the last round is %+v, uniform %+v", e, uniform)
		}
		test := set.Tasks[3*target].Test
		got := must.Get(u.predictions(test, must.Get(u.model.units())(t)))(t)
		for c := range 3 {
			var x [][]float64
			var y []float64
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
						x, y = append(x, features(set, s.Pool, int(row))), append(y, v)
					}
				}
			}
			rows, labels := mat.NewDense(len(x), d, nil), mat.NewDense(len(x), 1, y)
			for i := range x {
				rows.SetRow(i, x[i])
			}
			centre, mean := centreDense(rows), centreDense(labels)[0]
			var gram, cross mat.Dense
			gram.Mul(rows.T(), rows)
			cross.Mul(rows.T(), labels)
			if !classes && c > 0 { // the lambda that is recorded is that of the first column
				continue
			}
			if !classes {
				got := crossValidation(rows, labels, e.HeadRidge)
				for step := range 19 {
					lambda := math.Pow(10, -7+float64(step)/2)
					other := crossValidation(rows, labels, lambda)
					must.Hold(t, got <= (1+1e-6)*other, "lambda %g has %g, lambda %g %g", e.HeadRidge, got, lambda, other)
				}
			}
			unit := e.HeadRidge * mat.Trace(&gram) / d
			for j := range d {
				gram.Set(j, j, gram.At(j, j)+unit)
			}
			beta := solveDense(gram.RawMatrix().Data, cross.RawMatrix().Data)
			var want []float64
			for _, row := range test {
				v := mean
				for j, f := range features(set, target, int(row)) {
					v += (f - centre[j]) * beta[j]
				}
				want = append(want, v)
			}
			closeVectors(t, fmt.Sprintf("classes %v: predictions of output %d", classes, c), wide(got[c]), want, 1e-4, 0)
		}
	}
}

// Methods that pooled cannot do without are asked for, and a state that it is carried on from does not matter.
func TestPooledMethods(t *testing.T) {
	rng := testrand.New(t)
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = []string{Active, Pooled}, SourcesTasks
	must.Fail(t, "tasks", must.Err(NewProblem(shops(rng, 3, 100, 4, 2, true), cfg, 0)), "pooled", "pools")
	cfg.Methods = []string{Pooled}
	must.Fail(t, "alone", must.Err(NewProblem(shops(rng, 3, 100, 4, 2, true), cfg, 0)), "pooled comes first")
	// A round that is carried on from the one before leaves the same.
	cfg.Methods, cfg.Sources = []string{Uniform, Pooled}, SourcesPools
	dev := openDevice(t, 1, shops(rng, 4, 100, 4, 2, false))
	u, st := runUnit(t, dev, cfg, 0)
	again := must.Get(u.Solve(context.Background(), State{Epochs: st.Epochs[:1], Theta: st.Theta, Head: st.Head}, quiet, unsaved))(t)
	if !slices.Equal(again.Head, st.Head) {
		t.Error("the head depends on the round before")
	}
}

// Wide rows have a regression in their span, with the weights and predictions of that on their products.
func TestPooledWide(t *testing.T) {
	rng := testrand.New(t)
	for _, rows := range []int{5, 12, 40} {
		const d = 12
		set := shops(rng, 3, 60, d, 2, true)
		cfg := defaultConfig(t)
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		var each []float32
		if rows == 12 {
			each = narrow(slices.Repeat([]float64{0.5, 2, 1}, d/3))
		}
		var some []poolRow
		for range rows {
			some = append(some, poolRow{rng.IntN(3), rng.IntN(60)})
		}
		some[1] = some[0]
		y, lambda := mat.NewDense(rows, 2, normals(rng, 2*rows)), 0.1
		plain := must.Get(l.pooledGram(some, each, y))(t)
		wide := pooledGram{centre: plain.centre}
		must.Do(t, l.pooledRoot(&wide, some, each, y))
		solve := func(g pooledGram, c int) []float64 {
			m := g.squares.SymmetricDim()
			system := mat.DenseCopyOf(g.squares)
			for i := range m {
				system.Set(i, i, system.At(i, i)+lambda)
			}
			return g.weights(solveDense(system.RawMatrix().Data, mat.Col(nil, c, g.products)))
		}
		for c := range 2 {
			closeVectors(t, fmt.Sprintf("weights of %d rows", rows), solve(wide, c), solve(plain, c), 1e-6, 1e-6)
		}
		must.Hold(t, math.Abs(wide.unit()-plain.unit()) <= 1e-8*plain.unit(), "mean eigenvalue %g, expected %g", wide.unit(), plain.unit())
	}
}

// With more features than are decomposed, pooled knows what all sources have in common.
func TestPooledOfManyFeatures(t *testing.T) {
	rng := testrand.New(t)
	const d = pooledWide + 1
	set := shops(rng, 4, 90, d, 1, true)
	for m, pool := range set.Pools {
		for i := range pool.Rows {
			x := pool.F32[i*d : (i+1)*d]
			for j := 2; j < d; j++ {
				x[j] *= 0.01
			}
			set.Tasks[m].Labels[i] = float32(b2i(x[0]-x[1] > 0))
		}
	}
	_, st := runUnit(t, openDevice(t, 1, set), defaultConfig(t), 0)
	last := st.Epochs[len(st.Epochs)-1]
	must.Hold(t, last.Method == Pooled && last.Score.Value < 0.3, "%s errs %g", last.Method, last.Score.Value)
}
