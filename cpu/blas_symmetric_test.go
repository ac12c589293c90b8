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

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Dsymv and Dsyr2k give exactly gonum's results, and leave the other triangle and the padding as they are.
func TestSymmetric(t *testing.T) {
	rng := testrand.New(t)
	numbers := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64() * math.Exp(rng.NormFloat64()) * float64(rng.IntN(4))
		}
		return x
	}
	for range 300 {
		n, k := []int{rng.IntN(20), rng.IntN(150)}[rng.IntN(2)], 1+rng.IntN(40)
		uplo := []blas.Uplo{blas.Lower, blas.Lower, blas.Upper}[rng.IntN(3)]
		alpha, beta := []float64{1, -1, 0, rng.NormFloat64()}[rng.IntN(4)], []float64{0, 1, rng.NormFloat64()}[rng.IntN(3)]
		lda, ldb, ldc, incX, incY := max(1, n, k)+rng.IntN(3), max(1, k)+rng.IntN(3), max(1, n)+rng.IntN(3), 1+rng.IntN(3), 1+rng.IntN(3)
		a, b, c, x, y := numbers(n*lda), numbers(n*ldb), numbers(n*ldc), numbers(n*incX), numbers(n*incY)
		want, got := slices.Clone(y), slices.Clone(y)
		gonum.Implementation{}.Dsymv(uplo, n, alpha, a, lda, x, incX, beta, want, incY)
		BLAS{}.Dsymv(uplo, n, alpha, a, lda, x, incX, beta, got, incY)
		must.Hold(t, slices.Equal(got, want), "Dsymv of %d, %c, alpha %g, beta %g, strides %d and %d: %v, expected %v", n, uplo, alpha, beta,
			incX, incY, got, want)
		want, got = slices.Clone(c), slices.Clone(c)
		gonum.Implementation{}.Dsyr2k(uplo, blas.NoTrans, n, k, alpha, a, lda, b, ldb, beta, want, ldc)
		BLAS{}.Dsyr2k(uplo, blas.NoTrans, n, k, alpha, a, lda, b, ldb, beta, got, ldc)
		must.Hold(t, slices.Equal(got, want), "Dsyr2k of %d and %d, %c, alpha %g, beta %g", n, k, uplo, alpha, beta)
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
