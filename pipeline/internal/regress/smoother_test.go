package regress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// For other heads of the sources and changed labels, a Smoother returns the head that a regression from scratch fits. Its residuals are the
// leave-one-out residuals of the regression.
func TestSmoother(t *testing.T) {
	rng := testrand.New(t)
	const k, d, m = 3, 7, 5
	for _, n := range []int{4, 20} {
		for _, kappa := range []float64{0, 0.1, 10} {
			lambda, rho := math.Pow(10, -3*rng.Float64()), 5*rng.Float64()
			phi, heads, y := mat.NewDense(n, k+1, normals(rng, n*(k+1))), mat.NewDense(m, k+1, normals(rng, m*(k+1))), normals(rng, 2*n)
			for i := range n {
				phi.Set(i, k, 1)
			}
			labels := mat.NewDense(n, 2, y)
			rows := rowsApart(mat.NewDense(n, d, normals(rng, n*d)))
			reference := func(heads, labels *mat.Dense) (*mat.Dense, KernelFit) {
				root, _ := linalg.Root(heads)
				var a, dual, w mat.Dense
				a.Mul(phi, root)
				regression := must.Get(NewKernelRidge(rows, &a, labels, rho, LeastPower))(t)
				fit := regression.At(kappa, lambda)
				dual.Mul(a.T(), fit.Alpha)
				w.Mul(root, &dual)
				w.Scale(regression.Unit/(1+kappa), &w)
				return &w, fit
			}
			_, fit := reference(heads, labels)
			s := must.Get(NewSmoother(phi, heads, labels, rows, Groups{}, fit, 1/(1+kappa)))(t)
			closeVectors(t, "leave-one-out", s.Left.RawMatrix().Data, fit.Residual.RawMatrix().Data, 1e-6, 0)
			for range 3 {
				other, change := mat.NewDense(m, k+1, normals(rng, m*(k+1))), mat.NewDense(n, 2, normals(rng, 2*n))
				square, lu, err := s.Factorize(other)
				must.Do(t, err)
				var moved mat.Dense
				moved.Add(labels, change)
				want, _ := reference(other, &moved)
				got := must.Get(s.HeadsFor(square, lu, change))(t)
				closeVectors(t, "the heads", got.RawMatrix().Data, want.RawMatrix().Data, 1e-6, 0)
			}
		}
	}
}
