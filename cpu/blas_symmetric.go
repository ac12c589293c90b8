package cpu

import (
	"gonum.org/v1/gonum/blas"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// symmetricBlock is the number of rows of a lower triangle that Dsymv and Dsyr2k take at a time. What lies left of a block's own
// triangle, they compute by products. These operations, on lower triangles, are what a reduction to tridiagonal form spends its time in;
// other forms are left to gonum.
const symmetricBlock = 12

// Dsymv computes y = alpha A x + beta y for a symmetric A, as [gonum.Implementation.Dsymv].
func (b BLAS) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if ul != blas.Lower || n < symmetricBlock || alpha == 0 || incX < 1 || incY < 1 || !vec.HasDgemm() || !holds(a, n, n, lda) ||
		len(x) <= (n-1)*incX || len(y) <= (n-1)*incY {
		b.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	buf := doubles.Get(3 * n)
	defer doubles.Put(buf)
	of, scaled, sums := (*buf)[:n], (*buf)[n:2*n], (*buf)[2*n:]
	for i := range n {
		of[i] = x[i*incX]
		scaled[i], sums[i] = alpha*of[i], 0
		if beta != 0 {
			sums[i] = beta * y[i*incY]
		}
	}
	for i := 0; i < n; i += symmetricBlock {
		end := min(i+symmetricBlock, n)
		if i > 0 {
			vec.DotRows(alpha, a[i*lda:], lda, end-i, of[:i], sums[i:], 1)
			vec.AddRows(scaled[i:end], a[i*lda:], lda, sums[:i])
		}
		for j := i; j < end; j++ {
			row := a[j*lda+i : j*lda+j]
			sum := of[j] * a[j*lda+j]
			for k, v := range row {
				sum += v * of[i+k]
				sums[i+k] += v * scaled[j]
			}
			sums[j] += alpha * sum
		}
	}
	for i, v := range sums {
		y[i*incY] = v
	}
}

// Dsyr2k computes C = alpha (A B' + B A') + beta C, or the same with A' and B' for A and B, and touches one triangle of
// C, as [gonum.Implementation.Dsyr2k].
func (b BLAS) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, of []float64, ldb int, beta float64,
	c []float64, ldc int) {
	if ul != blas.Lower || tA != blas.NoTrans || n < symmetricBlock || k < 1 || alpha == 0 || !vec.HasDgemm() ||
		!holds(a, n, k, lda) || !holds(of, n, k, ldb) || !holds(c, n, n, ldc) {
		b.Implementation.Dsyr2k(ul, tA, n, k, alpha, a, lda, of, ldb, beta, c, ldc)
		return
	}
	for i := 0; i < n; i += symmetricBlock {
		rows := min(symmetricBlock, n-i)
		ai, bi, ci := a[i*lda:], of[i*ldb:], c[i*ldc:]
		if i > 0 {
			b.Dgemm(blas.NoTrans, blas.Trans, rows, i, k, alpha, ai, lda, of, ldb, beta, ci, ldc)
			b.Dgemm(blas.NoTrans, blas.Trans, rows, i, k, alpha, bi, ldb, a, lda, 1, ci, ldc)
		}
		b.Implementation.Dsyr2k(ul, tA, rows, k, alpha, ai, lda, bi, ldb, beta, ci[i:], ldc)
	}
}
