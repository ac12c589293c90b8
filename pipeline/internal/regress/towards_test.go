package regress

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// searchTowards returns the regression of y - g f, for the predictions f of the mean head and the g of generalised least squares, or the
// regression of y: whichever is better by leave-one-out.
func TestSearchTowards(t *testing.T) {
	rng := testrand.New(t)
	taken := 0
	for range 20 {
		n, outputs, rho := 10+rng.IntN(30), 1+rng.IntN(3), 0.3
		x, a, f := dense(rng, n, 12), dense(rng, n, 3), dense(rng, n, outputs)
		truth, part, y := 2*rng.Float64(), dense(rng, n, outputs), mat.DenseCopyOf(f)
		y.Scale(truth, y)
		part.Scale(0.2, part)
		y.Add(y, part)
		rows := rowsApart(mat.DenseCopyOf(x))
		k := must.Get(NewKernelRidge(rows, a, y, rho, LeastPower))(t)
		plain := must.Get(NewKernelRidge(rows, a, y, rho, LeastPower))(t).search(Kappas, Chosen)
		from, fit, g := k.searchTowards(f, Kappas, Chosen)
		if g == 0 {
			if from != k || fit.Loo != plain.Loo {
				t.Errorf("without a mean the leave-one-out residual is %g, expected %g", fit.Loo, plain.Loo)
			}
			continue
		}
		taken++
		if !(fit.Loo < plain.Loo) {
			t.Errorf("the leave-one-out residual is %g, without the mean %g", fit.Loo, plain.Loo)
		}
		solve := func(kappa, lambda float64, of *mat.Dense) *mat.Dense {
			system, out := kernelOf(x, a, kappa, lambda, rho), new(mat.Dense)
			for i := range n {
				system.Set(i, i, system.At(i, i)+lambda)
			}
			must.Do(t, out.Solve(system, of))
			return out
		}
		onF, left := solve(plain.Kappa, plain.Lambda, f), mat.DenseCopyOf(f)
		var num, den mat.Dense
		num.Mul(onF.T(), y)
		den.Mul(onF.T(), f)
		if want := mat.Trace(&num) / mat.Trace(&den); !near(g, want, 1e-5) {
			t.Errorf("g is %g, expected %g", g, want)
		}
		left.Scale(-g, left)
		left.Add(left, y)
		closeVectors(t, "alpha", fit.Alpha.RawMatrix().Data, solve(fit.Kappa, fit.Lambda, left).RawMatrix().Data, 1e-5, 0)
	}
	if taken < 10 {
		t.Errorf("the mean was taken %d times of 20", taken)
	}
}

// Predictions of the sources' heads do not count where they are below the rounding of the labels to float32, whatever the unit of both.
func TestNegligibleHeads(t *testing.T) {
	rng := testrand.New(t)
	const n, outputs = 20, 2
	x, a, f, y := dense(rng, n, 12), dense(rng, n, 3), dense(rng, n, outputs), dense(rng, n, outputs)
	times := func(by float64, m *mat.Dense) *mat.Dense {
		out := new(mat.Dense)
		out.Scale(by, m)
		return out
	}
	for _, unit := range []float64{1, 1e-9, 1e9} {
		y := times(unit, y)
		alone := must.Get(NewKernelRidge(rowsApart(mat.DenseCopyOf(x)), nil, y, 0.3, LeastPower))(t).search(Kappas, Chosen)
		for _, size := range []float64{1e-44, 1e-9} {
			k := must.Get(NewKernelRidge(rowsApart(mat.DenseCopyOf(x)), times(size*unit, a), y, 0.3, LeastPower))(t)
			_, fit, g := k.searchTowards(times(size*unit, f), Kappas, Chosen)
			must.Hold(t, g == 0 && near(fit.Loo, alone.Loo, 1e-9), "heads of %g of the labels: factor %g, leave-one-out %g, without %g",
				size, g, fit.Loo, alone.Loo)
		}
		k := must.Get(NewKernelRidge(rowsApart(mat.DenseCopyOf(x)), times(1e-3*unit, a), y, 0.3, LeastPower))(t)
		must.Hold(t, k.Unit > 0, "heads of a thousandth of labels of unit %g say nothing", unit)
	}
}
