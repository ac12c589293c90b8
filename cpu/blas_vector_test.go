package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/amtrl/amtrl/internal/testrand"
)

// Dgemv and Dger give gonum's results up to the rounding of each term, and leave the padding as it is.
func TestVectors(t *testing.T) {
	rng := testrand.New(t)
	plain := gonum.Implementation{}
	for range 300 {
		m, n := 1+[]int{rng.IntN(20), rng.IntN(150)}[rng.IntN(2)], 1+[]int{rng.IntN(20), rng.IntN(150)}[rng.IntN(2)]
		trans := []blas.Transpose{blas.NoTrans, blas.Trans}[rng.IntN(2)]
		alpha, beta := []float64{1, -1, 0, rng.NormFloat64()}[rng.IntN(4)], []float64{0, 1, rng.NormFloat64()}[rng.IntN(3)]
		incX, incY, lda := 1+rng.IntN(3), 1+rng.IntN(3), n+rng.IntN(3)
		a, x, y := numbers(rng, m*lda), numbers(rng, max(m, n)*incX), numbers(rng, max(m, n)*incY)
		finite := y
		if beta == 0 { // y is not read then
			y = spoiled(y, func(at int) bool { return at%incY == 0 })
		}
		gemv := func(by blas.Float64Level2, alpha, beta float64, a, x, y []float64) []float64 {
			out := slices.Clone(y)
			by.Dgemv(trans, m, n, alpha, a, lda, x, incX, beta, out, incY)
			return out
		}
		ger := func(by blas.Float64Level2, alpha float64, a, x, y []float64) []float64 {
			out := slices.Clone(a)
			by.Dger(m, n, alpha, x, incX, y, incY, out, lda)
			return out
		}
		what := fmt.Sprintf("%d by %d, %c, alpha %g, beta %g, strides %d and %d", m, n, trans, alpha, beta, incX, incY)
		compare(t, "Dgemv, "+what, max(m, n)+3, gemv(BLAS{}, alpha, beta, a, x, y), gemv(plain, alpha, beta, a, x, y),
			gemv(plain, math.Abs(alpha), math.Abs(beta), absolute(a), absolute(x), absolute(finite)), func(at int) bool { return at%incY > 0 })
		compare(t, "Dger, "+what, 3, ger(BLAS{}, alpha, a, x, finite), ger(plain, alpha, a, x, finite),
			ger(plain, math.Abs(alpha), absolute(a), absolute(x), absolute(finite)), func(at int) bool { return at%lda >= n })
	}
}
