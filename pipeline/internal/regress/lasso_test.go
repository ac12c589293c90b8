package regress

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The optimality conditions of the lasso: a_j'res = penalty sign(nu_j) where
// nu_j != 0, |a_j'res| <= penalty elsewhere.
func TestLassoIsOptimal(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		m, k := 1+rng.IntN(60), 1+rng.IntN(20)
		a, w := normals(rng, m*k), normals(rng, k)
		lambda := math.Pow(10, -2*rng.Float64())
		nu := Lasso(a, w, lambda)
		res := append([]float64(nil), w...)
		penalty, scale := 0.0, math.Sqrt(linalg.Dot(w, w))
		for j := range m {
			penalty = math.Max(penalty, math.Abs(linalg.Dot(a[j*k:(j+1)*k], w)))
			for i := range k {
				res[i] -= nu[j] * a[j*k+i]
			}
		}
		penalty *= lambda
		for j := range m {
			g := linalg.Dot(a[j*k:(j+1)*k], res)
			tol := 1e-4 * scale * math.Sqrt(linalg.Dot(a[j*k:(j+1)*k], a[j*k:(j+1)*k]))
			if nu[j] != 0 && math.Abs(g-math.Copysign(penalty, nu[j])) > tol {
				t.Fatalf("m=%d k=%d lambda=%g: nu[%d]=%g but its gradient is %g, penalty %g", m, k, lambda, j, nu[j], g, penalty)
			}
			if math.Abs(g) > penalty+tol {
				t.Fatalf("m=%d k=%d lambda=%g: nu[%d]=0 but its gradient is %g, penalty %g", m, k, lambda, j, g, penalty)
			}
		}
	}
}

func TestLassoCorners(t *testing.T) {
	for _, v := range Lasso([]float64{1, 2, 3, 4}, []float64{1, 1}, 1) {
		if v != 0 {
			t.Error("at lambda = 1 the minimiser is 0")
		}
	}
	for _, v := range Lasso([]float64{0, 0, 0, 0}, []float64{1, 1}, 0.1) {
		if v != 0 {
			t.Error("heads of zeros should give nu = 0")
		}
	}
	for _, v := range Lasso([]float64{1, 0, 0, 1}, []float64{0, 0}, 0.1) {
		if v != 0 {
			t.Error("a zero target should give nu = 0")
		}
	}
	// Orthonormal heads: soft thresholding.
	nu := Lasso([]float64{1, 0, 0, 1}, []float64{2, -0.5}, 0.5)
	if !near(nu[0], 1, 1e-6) || nu[1] != 0 {
		t.Errorf("soft thresholding of (2, -0.5) at 1 gives %v, want [1 0]", nu)
	}
}
