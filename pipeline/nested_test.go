package pipeline

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The residual of a sample is that of the regression on all other samples, at what the samples of the other folds alone choose.
func TestNested(t *testing.T) {
	rng := testrand.New(t)
	for _, n := range []int{3, 12, 25, 40} {
		const d = 7
		x := mat.NewDense(n, d, normals(rng, n*d))
		of := func(rows []int) *targetRegression {
			r := &targetRegression{
				rows: rowsApart(someRows(x, rows)), a: mat.NewDense(len(rows), 2, nil), y: mat.NewDense(len(rows), 1, nil),
				mean: mat.NewDense(len(rows), 1, nil), rho: math.Inf(1), least: leastPower, kappas: kappas, lambda: RidgeAuto,
			}
			for at, i := range rows {
				v := x.RawRowView(i)
				r.a.SetRow(at, []float64{v[0] + v[1], v[2]})
				r.mean.Set(at, 0, v[0]-v[3])
				r.y.Set(at, 0, v[0]+math.Sin(5*v[1])+math.Cos(7*v[4]))
			}
			return r
		}
		all := of(samplesWithout(make([]int, n), 1))
		found := must.Get(all.search())(t)
		must.Do(t, all.nested(found))
		got := mat.Col(nil, 0, found.fit.residual)
		fold, want := stratified(make([]int, n), together{}), make([]float64, n)
		for i, f := range fold {
			chosen := must.Get(of(samplesWithout(fold, f)).search())(t)
			again := of(samplesWithout(make([]int, n), 1))
			k := must.Get(newKernelRidge(again.rows, again.a, again.y, again.rho, again.least))(t)
			again.mean.Scale(chosen.g, again.mean)
			again.y.Sub(again.y, again.mean)
			want[i] = k.of(again.y).at(chosen.fit.kappa, chosen.fit.lambda).residual.At(i, 0)
		}
		must.Hold(t, floats.EqualApprox(got, want, 1e-7*(1+floats.Norm(want, math.Inf(1)))), "%d samples: residuals %v, want %v", n, got, want)
	}
}

// The mean squared residual is that of a sample which the search has not seen. That of the search itself is less: it takes what happens to
// fit, here where all labels are noise.
func TestNestedOfNoise(t *testing.T) {
	rng := testrand.New(t)
	const n, d, repeats = 15, 10, 300
	before, after := make([]float64, repeats), make([]float64, repeats)
	for at := range repeats {
		all := targetRegression{
			rows: rowsApart(mat.NewDense(n+1, d, normals(rng, (n+1)*d))), a: mat.NewDense(n+1, 3, normals(rng, 3*(n+1))),
			y: mat.NewDense(n+1, 1, normals(rng, n+1)), mean: mat.NewDense(n+1, 1, normals(rng, n+1)),
			rho: math.Inf(1), least: leastPowerNumbers, kappas: kappas, lambda: RidgeAuto,
		}
		drawn := samplesWithout(append(make([]int, n), 1), 1)
		r := all.of(drawn, rowsApart(someRows(all.rows.x, drawn)))
		found := must.Get(r.search())(t)
		before[at] = squares(found.fit.residual) / n
		must.Do(t, r.nested(found))
		after[at] = squares(found.fit.residual) / n
		all.mean.Scale(found.g, all.mean)
		all.y.Sub(all.y, all.mean)
		k := must.Get(newKernelRidge(all.rows, all.a, all.y, all.rho, all.least))(t)
		left := k.at(found.fit.kappa, found.fit.lambda).residual.At(n, 0)
		before[at] -= left * left
		after[at] -= left * left
	}
	off := func(less []float64) float64 {
		return stat.Mean(less, nil) / stat.StdErr(stat.StdDev(less, nil), repeats)
	}
	must.Hold(t, off(before) < -1 && math.Abs(off(after)) < 4.5,
		"the mean square of the residuals is %g standard errors from fresh samples' after the search and %g nested", off(before), off(after))
}

func squares(m mat.Matrix) float64 { return mat.Norm(m, 2) * mat.Norm(m, 2) }
