package regress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The nested residual of a sample is that of the regression on all other samples, at the kappa, lambda and g that the samples of the other
// folds alone choose.
func TestNested(t *testing.T) {
	rng := testrand.New(t)
	for _, n := range []int{3, 12, 25, 40} {
		const d = 7
		x := mat.NewDense(n, d, normals(rng, n*d))
		of := func(rows []int) *Regression {
			r := &Regression{
				Rows: rowsApart(linalg.SomeRows(x, rows)), A: mat.NewDense(len(rows), 2, nil), Y: mat.NewDense(len(rows), 1, nil),
				Mean: mat.NewDense(len(rows), 1, nil), Rho: math.Inf(1), Least: LeastPower, Kappas: Kappas, Lambda: Chosen,
			}
			for at, i := range rows {
				v := x.RawRowView(i)
				r.A.SetRow(at, []float64{v[0] + v[1], v[2]})
				r.Mean.Set(at, 0, v[0]-v[3])
				r.Y.Set(at, 0, v[0]+math.Sin(5*v[1])+math.Cos(7*v[4]))
			}
			return r
		}
		all := of(SamplesWithout(make([]int, n), 1))
		found := must.Get(all.Search())(t)
		must.Do(t, all.Nested(found))
		got := mat.Col(nil, 0, found.Fit.Residual)
		fold, want := Stratified(make([]int, n), Groups{}), make([]float64, n)
		for i, f := range fold {
			chosen := must.Get(of(SamplesWithout(fold, f)).Search())(t)
			again := of(SamplesWithout(make([]int, n), 1))
			k := must.Get(NewKernelRidge(again.Rows, again.A, again.Y, again.Rho, again.Least))(t)
			again.Mean.Scale(chosen.G, again.Mean)
			again.Y.Sub(again.Y, again.Mean)
			want[i] = k.Of(again.Y).At(chosen.Fit.Kappa, chosen.Fit.Lambda).Residual.At(i, 0)
		}
		must.Hold(t, floats.EqualApprox(got, want, 1e-7*(1+floats.Norm(want, math.Inf(1)))), "%d samples: residuals %v, want %v", n, got, want)
	}
}

// Where all labels are noise, the nested residuals have the mean square of the residual of a sample that the search has not seen. That of
// the search's own residuals is less: it takes what happens to fit.
func TestNestedOfNoise(t *testing.T) {
	rng := testrand.New(t)
	const n, d, repeats = 15, 10, 300
	before, after := make([]float64, repeats), make([]float64, repeats)
	for at := range repeats {
		all := Regression{
			Rows: rowsApart(mat.NewDense(n+1, d, normals(rng, (n+1)*d))), A: mat.NewDense(n+1, 3, normals(rng, 3*(n+1))),
			Y: mat.NewDense(n+1, 1, normals(rng, n+1)), Mean: mat.NewDense(n+1, 1, normals(rng, n+1)),
			Rho: math.Inf(1), Least: -2, Kappas: Kappas, Lambda: Chosen,
		}
		drawn := SamplesWithout(append(make([]int, n), 1), 1)
		r := all.of(drawn, rowsApart(linalg.SomeRows(all.Rows.X, drawn)))
		found := must.Get(r.Search())(t)
		before[at] = squares(found.Fit.Residual) / n
		must.Do(t, r.Nested(found))
		after[at] = squares(found.Fit.Residual) / n
		all.Mean.Scale(found.G, all.Mean)
		all.Y.Sub(all.Y, all.Mean)
		k := must.Get(NewKernelRidge(all.Rows, all.A, all.Y, all.Rho, all.Least))(t)
		left := k.At(found.Fit.Kappa, found.Fit.Lambda).Residual.At(n, 0)
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

// The order of the rows changes the residuals of a regression on the samples alone by no more than rounding.
func TestOrderOfGroups(t *testing.T) {
	rng := testrand.New(t)
	const n, d = 40, 6
	x, numbers := dense(rng, n, d), make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(rng.IntN(15))
	}
	residuals := func(order []int) []float64 {
		of := GroupsOf(numbers).Some(order)
		r := &Regression{Rows: rowsApart(linalg.SomeRows(x, order)), Y: dense(rng, n, 1), Least: -2,
			Kappas: []float64{1}, Lambda: Chosen, Rho: 1}
		for at, i := range order {
			r.Y.Set(at, 0, x.At(i, 0)+x.At(i, 1)*x.At(i, 2)+float64(numbers[i]%3))
		}
		r.Rows.Groups = of
		found := must.Get(r.Search())(t)
		must.Do(t, r.Nested(found))
		out := make([]float64, n)
		for at, i := range order {
			out[i] = found.Fit.Residual.At(at, 0)
		}
		return out
	}
	closeVectors(t, "residuals", residuals(rng.Perm(n)), residuals(rng.Perm(n)), 1e-6, 0)
}
