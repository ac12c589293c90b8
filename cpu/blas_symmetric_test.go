package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"

	"github.com/amtrl/amtrl/internal/testrand"
)

// Dsymv and Dsyr2k give gonum's results up to the rounding of each term, and leave the other triangle and the padding as they are.
func TestSymmetric(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		n, k := []int{rng.IntN(20), rng.IntN(150)}[rng.IntN(2)], 1+rng.IntN(40)
		uplo := []blas.Uplo{blas.Lower, blas.Lower, blas.Upper}[rng.IntN(3)]
		alpha, beta := []float64{1, -1, 0, rng.NormFloat64()}[rng.IntN(4)], []float64{0, 1, rng.NormFloat64()}[rng.IntN(3)]
		lda, ldb, ldc, incX, incY := max(1, n, k)+rng.IntN(3), max(1, k)+rng.IntN(3), max(1, n)+rng.IntN(3), 1+rng.IntN(3), 1+rng.IntN(3)
		a, b, c, x, y := numbers(rng, n*lda), numbers(rng, n*ldb), numbers(rng, n*ldc), numbers(rng, n*incX), numbers(rng, n*incY)
		outside := func(at, stride int) bool { // of the triangle, in a matrix of n columns
			return at%stride >= n || (uplo == blas.Lower) == (at%stride > at/stride) && at%stride != at/stride
		}
		triangle, readY, readC := spoiled(a, func(at int) bool { return outside(at, lda) }), y, c
		if beta == 0 { // neither y nor C is read then
			readY, readC = spoiled(y, func(at int) bool { return at%incY == 0 }), spoiled(c, func(at int) bool { return !outside(at, ldc) })
		}
		symv := func(by blas.Float64Level2, alpha, beta float64, a, x, y []float64) []float64 {
			out := slices.Clone(y)
			by.Dsymv(uplo, n, alpha, a, lda, x, incX, beta, out, incY)
			return out
		}
		syr2k := func(by blas.Float64Level3, alpha, beta float64, a, b, c []float64) []float64 {
			out := slices.Clone(c)
			by.Dsyr2k(uplo, blas.NoTrans, n, k, alpha, a, lda, b, ldb, beta, out, ldc)
			return out
		}
		plain := gonum.Implementation{}
		what := fmt.Sprintf("n %d, k %d, %c, alpha %g, beta %g, strides %d and %d", n, k, uplo, alpha, beta, incX, incY)
		compare(t, "Dsymv, "+what, n+3, symv(BLAS{}, alpha, beta, triangle, x, readY), symv(plain, alpha, beta, a, x, readY),
			symv(plain, math.Abs(alpha), math.Abs(beta), absolute(a), absolute(x), absolute(y)), func(at int) bool { return at%incY > 0 })
		compare(t, "Dsyr2k, "+what, 2*k+3, syr2k(BLAS{}, alpha, beta, a, b, readC), syr2k(plain, alpha, beta, a, b, readC),
			syr2k(plain, math.Abs(alpha), math.Abs(beta), absolute(a), absolute(b), absolute(c)),
			func(at int) bool { return outside(at, ldc) })
	}
}

// BenchmarkTridiagonal measures the reduction of a matrix to a tridiagonal one, with gonum and with BLAS.
func BenchmarkTridiagonal(b *testing.B) {
	for _, impl := range []struct {
		name string
		blas.Float64
	}{{"gonum", gonum.Implementation{}}, {"amtrl", BLAS{}}} {
		for _, n := range []int{500, 1200} {
			b.Run(fmt.Sprintf("%d rows/%s", n, impl.name), func(b *testing.B) {
				blas64.Use(impl)
				defer blas64.Use(gonum.Implementation{})
				a := make([]float64, n*n)
				for i := range n {
					for j := range n {
						a[i*n+j] = 1 / float64(i+j+1)
					}
				}
				for b.Loop() {
					d, e, tau, work := make([]float64, n), make([]float64, n-1), make([]float64, n-1), make([]float64, 32*n)
					lapack.Implementation{}.Dsytrd(blas.Lower, n, slices.Clone(a), n, d, e, tau, work, len(work))
				}
			})
		}
	}
}
