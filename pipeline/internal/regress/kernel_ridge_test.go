package regress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// kernelOf returns G + lambda rho 11' by its definition, for X less its mean row; rho is MaxRho where kappa is above 0.
func kernelOf(x, a *mat.Dense, kappa, lambda, rho float64) *mat.Dense {
	n, _ := x.Dims()
	centred := func(m *mat.Dense) *mat.Dense {
		c := mat.DenseCopyOf(m)
		linalg.Centre(c)
		return c
	}
	g, part := mat.NewDense(n, n, nil), new(mat.Dense)
	xc := centred(x)
	part.Mul(xc, xc.T())
	part.Scale(kappa/(1+kappa)/linalg.MeanSquareNorm(xc), part)
	g.Add(g, part)
	if a != nil {
		part.Mul(a, a.T())
		part.Scale(1/(1+kappa)/linalg.MeanSquareNorm(centred(a)), part)
		g.Add(g, part)
	}
	if kappa > 0 {
		rho = MaxRho
	}
	for i := range n {
		for j := range n {
			g.Set(i, j, g.At(i, j)+lambda*rho)
		}
	}
	return g
}

// Each fit solves the system of its definition, and its leave-one-out residuals are those of fits to n-1 rows, whatever the shapes, also
// where the columns of A are outside the span of those of X.
func TestKernelRidge(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][3]int{{12, 30, 3}, {40, 7, 3}, {9, 9, 12}, {25, 4, 30}, {30, 1, 1}, {2, 5, 1}} {
		n, d, c := shape[0], shape[1], shape[2]
		x, outputs := dense(rng, n, d), 1+rng.IntN(3)
		for i := range n {
			x.Set(i, 0, x.At(i, 0)+5)
		}
		falling := dense(rng, n, c) // columns of falling size, as of heads fitted with a nuclear norm penalty
		for j := range c {
			linalg.ScaleColumn(falling, j, math.Pow(10, -4*float64(j)))
		}
		for _, a := range []*mat.Dense{dense(rng, n, c), falling, nil} {
			rows := rowsApart(mat.DenseCopyOf(x))
			rho := []float64{0, 0.1, 3}[rng.IntN(3)]
			k := must.Get(NewKernelRidge(rows, a, dense(rng, n, outputs), rho, LeastPower))(t)
			mu := math.Pow(10, -3*rng.Float64())
			for _, kappa := range []float64{0, 0.1, 10, 0, 10} {
				// Regressions at one mu share factors, also where their labels differ.
				lambda, y := mu, dense(rng, n, outputs)
				if kappa > 0 {
					lambda *= kappa / (1 + kappa)
				}
				k = k.Of(y)
				k.atShift([]float64{0, 0.1, 10}[rng.IntN(3)], mu)
				fit := k.atShift(kappa, mu)
				given := k.At(kappa, lambda)
				if fit.Kappa != kappa || !near(fit.Lambda, lambda, 1e-12) || !near(fit.Loo, given.Loo, 1e-9) {
					t.Errorf("kappa %g, mu %g: leave-one-out %g, found kappa %g, lambda %g: %g", kappa, mu, given.Loo, fit.Kappa, fit.Lambda, fit.Loo)
				}
				g := kernelOf(x, a, kappa, lambda, rho)
				var system, alpha mat.Dense
				system.CloneFrom(g)
				for i := range n {
					system.Set(i, i, g.At(i, i)+lambda)
				}
				must.Do(t, alpha.Solve(&system, y))
				if e := mat.Norm(difference(&alpha, fit.Alpha), 2); e > 1e-6*mat.Norm(&alpha, 2) {
					t.Errorf("n=%d d=%d c=%d kappa %g: alpha is off by %g", n, d, c, kappa, e)
				}
				loo := 0.0
				for out := range n {
					keep := without(n, out)
					var part, coef mat.Dense
					part.CloneFrom(submatrix(&system, keep, keep))
					must.Do(t, coef.Solve(&part, submatrix(y, keep, all(outputs))))
					var predicted mat.Dense
					predicted.Mul(submatrix(g, []int{out}, keep), &coef)
					for o := range outputs {
						want := y.At(out, o) - predicted.At(0, o)
						loo += want * want / float64(n)
						if got := fit.Residual.At(out, o); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
							t.Fatalf("n=%d d=%d c=%d kappa %g lambda %g: row %d left out has the residual %g, want %g", n, d, c, kappa, lambda, out, got, want)
						}
					}
				}
				if !near(fit.Loo, loo, 1e-5) {
					t.Errorf("the mean square is %g, want %g", fit.Loo, loo)
				}
			}
		}
	}
}

// With a kappa above 0 the intercept is free: a constant added to all labels does not change the dual coefficients.
func TestKernelRidgeFreeIntercept(t *testing.T) {
	rng := testrand.New(t)
	x, a, y := dense(rng, 20, 30), dense(rng, 20, 2), dense(rng, 20, 1)
	moved := mat.DenseCopyOf(y)
	for i := range 20 {
		moved.Set(i, 0, y.At(i, 0)+3)
	}
	rows := rowsApart(x)
	fit := must.Get(NewKernelRidge(rows, a, y, 0.1, LeastPower))(t).At(1, 0.3)
	again := must.Get(NewKernelRidge(rows, a, moved, 0.1, LeastPower))(t).At(1, 0.3)
	if e := mat.Norm(difference(fit.Alpha, again.Alpha), 2); e > 1e-4*mat.Norm(fit.Alpha, 2) {
		t.Errorf("the coefficients differ by %g", e)
	}
}

// The search finds a fit that is as good by leave-one-out as the best on a grid over the same kappas and lambdas.
func TestKernelSearch(t *testing.T) {
	rng := testrand.New(t)
	x, a := dense(rng, 60, 20), dense(rng, 60, 4)
	var y mat.Dense
	y.Mul(a, dense(rng, 4, 1))
	y.Add(&y, dense(rng, 60, 1))
	k := must.Get(NewKernelRidge(rowsApart(x), a, &y, 1, LeastPower))(t)
	best := k.search(Kappas, Chosen)
	for _, kappa := range Kappas {
		unit := 1.1
		if kappa == 0 {
			unit = 1
		}
		for e := -6.0; e <= 3; e += 0.25 {
			if fit := k.atShift(kappa, unit*math.Pow(10, e)); fit.Loo < best.Loo*(1-1e-3) {
				t.Errorf("kappa %g, lambda %g: leave-one-out %g, the search found %g", kappa, fit.Lambda, fit.Loo, best.Loo)
			}
		}
	}
	if fit := k.search(Kappas, 0.7); fit.Lambda != 0.7 {
		t.Errorf("asked for lambda 0.7, found %g", fit.Lambda)
	}
}

// Where all rows are the same and the sources' predictions are 0, the prediction is the mean of the labels.
func TestKernelRidgeOfNothing(t *testing.T) {
	x, y := mat.NewDense(4, 3, nil), mat.NewDense(4, 1, []float64{1, 2, 3, 6})
	rows := rowsApart(x)
	k := must.Get(NewKernelRidge(rows, mat.NewDense(4, 2, nil), y, math.Inf(1), LeastPower))(t)
	fit := k.search(Kappas, Chosen)
	for i := range 4 {
		if got := y.At(i, 0) - fit.Lambda*fit.Alpha.At(i, 0); !near(got, 3, 1e-4) {
			t.Errorf("row %d: %g, want the mean 3", i, got)
		}
	}
}

func difference(a, b *mat.Dense) *mat.Dense {
	var d mat.Dense
	d.Sub(a, b)
	return &d
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func without(n, i int) []int { return append(all(n)[:i:i], all(n)[i+1:]...) }

func submatrix(m *mat.Dense, rows, cols []int) *mat.Dense {
	out := mat.NewDense(len(rows), len(cols), nil)
	for i, r := range rows {
		for j, c := range cols {
			out.Set(i, j, m.At(r, c))
		}
	}
	return out
}

// rowsApart returns the rows of x, whose features share one scale and whose samples are each on their own.
func rowsApart(x *mat.Dense) *Rows {
	n, _ := x.Dims()
	return NewRows(x, Ungrouped(n))
}
