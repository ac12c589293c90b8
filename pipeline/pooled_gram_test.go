package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A regression on R gives the weights of features, the covariance of samples and the mean eigenvalue of the regression on X.
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
		plain := pooledGram{centre: l.problem.meanRow(some)}
		of := mat.NewDense(rows, d, l.problem.centred(some, plain.centre, each))
		plain.squares, plain.products = mat.NewSymDense(d, nil), new(mat.Dense)
		plain.squares.SymOuterK(1, of.T())
		plain.products.Mul(of.T(), y)
		wide := pooledGram{centre: plain.centre}
		samples := l.problem.targetPoolRows([]int32{3, 1, 4, 59}[:rng.IntN(5)])
		must.Do(t, l.pooledRoot(&wide, some, samples, each, y))
		if len(samples) > 0 { // their covariance given the rows, also outside the span of the rows
			x := mat.NewDense(len(samples), d, l.problem.centred(samples, plain.centre, each))
			penalized := func(g pooledGram) *mat.SymDense { return pooledSystem{squares: g.squares, unit: 1}.penalized(lambda) }
			want := plain.added(x, penalized(plain)).covariance()
			var off mat.Dense
			off.Sub(wide.added(x, penalized(wide)).covariance(), want)
			must.Hold(t, mat.Norm(&off, 2) < 1e-5*mat.Norm(want, 2), "the covariance of samples is off by %g", mat.Norm(&off, 2))
		}
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

// R R' is X X' also where samples that are alike lie far from the rows of the sources.
func TestRootOfFarSamples(t *testing.T) {
	rng := testrand.New(t)
	for _, far := range []float64{1, 1e2, 1e4, 1e6, 1e15} {
		set := smallSet(5, 4, 60, 200, false)
		target := set.Pools[set.Tasks[3].Pool]
		for i := range target.F32 {
			target.F32[i] += float32(far * (1 + 0.1*float64(i%7)))
		}
		d := target.Cols
		copy(target.F32[d:2*d], target.F32[:d])
		l := must.Get(newLearner(openDevice(t, 1, set), defaultConfig(t), 3))(t)
		defer l.Close()
		var rows []poolRow
		for range 10 + rng.IntN(20) {
			rows = append(rows, poolRow{set.Tasks[0].Pool, rng.IntN(60)})
		}
		g := pooledGram{centre: l.problem.meanRow(rows)}
		must.Do(t, l.pooledRoot(&g, rows, l.problem.targetPoolRows([]int32{0, 1, 2, 3}), nil, nil))
		var want, got mat.Dense
		want.Mul(g.wide, g.wide.T())
		got.Mul(g.root, g.root.T())
		got.Sub(&got, &want)
		must.Hold(t, mat.Norm(&got, 2) < 1e-8*mat.Norm(&want, 2), "%g away: R R' is off by %g of %g", far, mat.Norm(&got, 2), mat.Norm(&want, 2))
	}
}

// With fewer rows than features, samples among the rows determine the slope of a feature that is 0 in all rows of the sources.
func TestPooledOnRows(t *testing.T) {
	rng := testrand.New(t)
	const d, own = 24, 20
	set := shops(rng, 3, 60, d, 1, false)
	for m, pool := range set.Pools {
		for i := range pool.Rows {
			x := pool.F32[i*d : (i+1)*d]
			if clear(x[own/2:]); m == 0 {
				x[own] = float32(rng.NormFloat64())
			}
		}
	}
	cfg := defaultConfig(t)
	cfg.Centring = CentringGlobal
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	in := Round{Sources: make([]Labelled, len(l.problem.Sources))}
	for i := range 5 {
		for m := range in.Sources {
			in.Sources[m].Rows, in.Sources[m].Y = append(in.Sources[m].Rows, int32(i)), append(in.Sources[m].Y, float32(rng.NormFloat64()))
		}
		in.Target.Rows, in.Target.Y = append(in.Target.Rows, int32(i)), append(in.Target.Y, 50*set.Pools[0].F32[i*d+own])
	}
	found := must.Get(l.regressSquared(t.Context(), in, []int{0}, units{scale: 1}, math.MaxInt))(t)
	of := func(p prediction) float64 { return float64(p.head[len(p.head)-d+own]) }
	must.Hold(t, of(found.sources[0]) == 0 && of(found.with[0][0]) > 0, "the slope of the sources is %g, with the samples %g",
		of(found.sources[0]), of(found.with[0][0]))
}

// With more features than are decomposed, pooled learns what all sources have in common.
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
	_, st := runUnit(t, openDevice(t, 1, set), pooledConfig(t), 0)
	last := st.Epochs[len(st.Epochs)-1]
	must.Hold(t, last.Method == Pooled && last.Score.Value < 0.3, "%s errs %g", last.Method, last.Score.Value)
}
