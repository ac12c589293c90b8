package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestLogistic compares a fit with its optimality conditions and with a fit from another start, and its leave-one-out predictions with
// fits without the row.
func TestLogistic(t *testing.T) {
	rng := testrand.New(t)
	const n, d = 60, 4
	for at, lambda := range []float64{0.03, 0.3, 3, 0.03, 0.3, 3} {
		x := mat.NewDense(n, d, normals(rng, n*d))
		var gram mat.Dense
		gram.Mul(x, x.T())
		gram.Scale(1.0/d, &gram)
		kernel := KernelMatrix{G: &gram}
		if at >= 3 {
			x.Scale(1/math.Sqrt(d), x)
			kernel = KernelMatrix{Z: x}
		}
		r := &Logistic{Kernel: kernel, Free: mat.NewDense(n, 1, slices.Repeat([]float64{1}, n)), Y: make([]float64, n)}
		for i := range n {
			if x.At(i, 0)+0.5*x.At(i, 1)+rng.NormFloat64() > 0.7 {
				r.Y[i] = 1
			}
		}
		fit := r.fit(lambda, nil, newtonTolerance)
		must.Hold(t, fit != nil, "no fit at %g", lambda)
		sum := 0.0
		for i, a := range fit.Alpha {
			e := r.Y[i] - Sigmoid(fit.f[i])
			sum += e
			must.Hold(t, math.Abs(lambda*a-e) < 1e-4, "lambda alpha_%d is %g, expected the residual %g", i, lambda*a, e)
		}
		must.Hold(t, math.Abs(sum) < 1e-3, "the residuals add up to %g", sum)
		again := r.fit(lambda, r.fit(10*lambda, nil, searchTolerance), newtonTolerance)
		for i, f := range fit.f {
			must.Hold(t, math.Abs(again.f[i]-f) < 1e-3, "from another start f_%d is %g, not %g", i, again.f[i], f)
		}
		for i := range n {
			keep := func(from []float64) (v []float64) { return append(append(v, from[:i]...), from[i+1:]...) }
			small := mat.NewDense(n-1, n-1, nil)
			for j, row := range keep(indices(n)) {
				small.SetRow(j, keep(gram.RawRowView(int(row))))
			}
			one := mat.NewDense(n-1, 1, slices.Repeat([]float64{1}, n-1))
			without := &Logistic{Kernel: KernelMatrix{G: small}, Free: one, Y: keep(r.Y)}
			left := without.fit(lambda, nil, newtonTolerance)
			want := left.B[0]
			for j, a := range left.Alpha {
				want += a * keep(gram.RawRowView(i))[j]
			}
			p, q := Sigmoid(fit.Left[i]), Sigmoid(want)
			must.Hold(t, math.Abs(p-q) < 0.05, "without row %d its probability is %g, expected %g", i, p, q)
		}
	}
}

func indices(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}

// A class without a row counts as half a row.
func TestLogOddsOfOneClass(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n := 1 + rng.IntN(1000)
		want := math.Log((float64(n) + 0.5) / 0.5)
		for p, want := range map[float64]float64{0: -want, 1: want} {
			got := LogOdds(p, n)
			must.Hold(t, math.Abs(got-want) < 1e-9, "a part %g of %d rows has the log-odds %g, expected %g", p, n, got, want)
		}
		p := (1 + float64(rng.IntN(n))) / float64(n+1)
		must.Hold(t, math.Abs(Sigmoid(LogOdds(p, n))-p) < 1e-9, "a part %g of %d rows has the log-odds %g", p, n, LogOdds(p, n))
	}
}

// Where a feature separates the classes, the less a fit is drawn to 0 the better, and the search ends at its least lambda.
func TestLogisticSearchOfSeparateClasses(t *testing.T) {
	rng := testrand.New(t)
	const n = 40
	x, y := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		y[i] = float64(i % 2)
		x.Set(i, 0, 2*y[i]-1+0.1*rng.NormFloat64())
	}
	fit := (&Logistic{Kernel: KernelMatrix{Z: x}, Free: OnlyConstant(n), Y: y}).Search()
	must.Hold(t, fit != nil && math.Abs(fit.Lambda/1e-4-1) < 1e-6, "the search ends at %+v", fit)
}
