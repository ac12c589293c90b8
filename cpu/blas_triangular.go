package cpu

import (
	"gonum.org/v1/gonum/blas"
)

// gonum's decompositions cut matrices into blocks and go through the triangles among these row by
// row, which at some hundred rows takes most of their time. Here a triangle is halved until it is
// small, and what lies beside the halves is a product. Each element has its terms in gonum's
// order. The forms of each routine are those of a Cholesky factorisation and of the inverse
// of an upper triangle; others are gonum's.
const (
	smallTriangle = 16 // rows of one that is gonum's
	smallSquare   = 32 // rows of a symmetric product that is computed whole
)

// half is where n is cut in two.
func half(n int) int { return (n/2 + smallTriangle - 1) / smallTriangle * smallTriangle }

// Dsyrk computes C = alpha op(A) op(A)' + beta C, of which it touches one triangle, as
// [gonum.Implementation.Dsyrk].
func (b BLAS) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if ul != blas.Upper || tA == blas.NoTrans || n <= smallTriangle || k < 1 || alpha == 0 || !holds(a, k, n, lda) || !holds(c, n, n, ldc) {
		b.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	if n > smallSquare {
		h := half(n)
		b.Dsyrk(ul, tA, h, k, alpha, a, lda, beta, c, ldc)
		b.Dgemm(blas.Trans, blas.NoTrans, h, n-h, k, alpha, a, lda, a[h:], lda, beta, c[h:], ldc)
		b.Dsyrk(ul, tA, n-h, k, alpha, a[h:], lda, beta, c[h*ldc+h:], ldc)
		return
	}
	var square [smallSquare * smallSquare]float64
	for i := range n {
		copy(square[i*n+i:(i+1)*n], c[i*ldc+i:])
	}
	b.Dgemm(blas.Trans, blas.NoTrans, n, n, k, alpha, a, lda, a, lda, beta, square[:], n)
	for i := range n {
		copy(c[i*ldc+i:i*ldc+n], square[i*n+i:])
	}
}

// Dtrmm computes B = alpha op(A) B or alpha B op(A) for a triangle A, as [gonum.Implementation.Dtrmm].
func (b BLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int,
	x []float64, ldx int) {
	if s != blas.Left || ul != blas.Upper || tA != blas.NoTrans || m <= smallTriangle || alpha == 0 ||
		!holds(a, m, m, lda) || !holds(x, m, n, ldx) {
		b.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	h := half(m)
	b.Dtrmm(s, ul, tA, d, h, n, alpha, a, lda, x, ldx)
	b.Dgemm(blas.NoTrans, blas.NoTrans, h, n, m-h, alpha, a[h:], lda, x[h*ldx:], ldx, 1, x, ldx)
	b.Dtrmm(s, ul, tA, d, m-h, n, alpha, a[h*lda+h:], lda, x[h*ldx:], ldx)
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B for a triangle A and puts X into B, as
// [gonum.Implementation.Dtrsm].
func (b BLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int,
	x []float64, ldx int) {
	size := m
	if s == blas.Right {
		size = n
	}
	if ul != blas.Upper || (s == blas.Left) != (tA == blas.Trans) || size <= smallTriangle || alpha != 1 && alpha != -1 ||
		!holds(a, size, size, lda) || !holds(x, m, n, ldx) {
		b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	h, rest := half(size), size-half(size)
	last := a[h*lda+h:]
	if s == blas.Left {
		b.Dtrsm(s, ul, tA, d, h, n, alpha, a, lda, x, ldx)
		b.Dgemm(blas.Trans, blas.NoTrans, rest, n, h, -1, a[h:], lda, x, ldx, alpha, x[h*ldx:], ldx)
		b.Dtrsm(s, ul, tA, d, rest, n, 1, last, lda, x[h*ldx:], ldx)
		return
	}
	b.Dtrsm(s, ul, tA, d, m, h, alpha, a, lda, x, ldx)
	b.Dgemm(blas.NoTrans, blas.NoTrans, m, rest, h, -1, x, ldx, a[h:], lda, alpha, x[h:], ldx)
	b.Dtrsm(s, ul, tA, d, m, rest, 1, last, lda, x[h:], ldx)
}
