package cpu

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// gonum's decompositions cut matrices into blocks and compute the triangular blocks among these row by row, which takes
// most of their time at some hundred rows. Here a triangle is halved until it is small, and the block beside the halves
// is a matrix product. The terms of each element are added in gonum's order. Dtrmm and Dtrsm do this in the forms that
// a Cholesky factorisation, the inverse of an upper triangle and the division of rows by an upper triangle need, and
// Dsyrk for an upper triangle; all other forms are left to gonum.
const (
	smallTriangle = 16 // most rows of a triangle that is not halved
	smallSquare   = 32 // most rows of a symmetric product of which both triangles are computed
)

// half returns where n is cut in two: about the middle, at a multiple of smallTriangle.
func half(n int) int { return (n/2 + smallTriangle - 1) / smallTriangle * smallTriangle }

// Dsyrk computes C = alpha op(A) op(A)' + beta C and touches one triangle of C, as [gonum.Implementation.Dsyrk].
func (b BLAS) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	rows, cols, next, tB := k, n, 1, blas.NoTrans // next: from one row of op(A) to the next
	if tA == blas.NoTrans {
		rows, cols, next, tB = n, k, lda, blas.Trans
	}
	if ul != blas.Upper || n <= smallTriangle || k < 1 || tA == blas.NoTrans && k < smallTriangle || alpha == 0 ||
		!vec.HasDgemm() || !holds(a, rows, cols, lda) || !holds(c, n, n, ldc) {
		b.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	product := func(m, n int, x, y []float64, c []float64, ldc int) { // gonum does not cut these sums along k
		dgemm(b.threads(), k, tA, tB, m, n, k, alpha, x, lda, y, lda, beta, c, ldc)
	}
	if n > smallSquare {
		h := half(n)
		b.Dsyrk(ul, tA, h, k, alpha, a, lda, beta, c, ldc)
		product(h, n-h, a, a[h*next:], c[h:], ldc)
		b.Dsyrk(ul, tA, n-h, k, alpha, a[h*next:], lda, beta, c[h*ldc+h:], ldc)
		return
	}
	var square [smallSquare * smallSquare]float64
	for i := range n {
		copy(square[i*n+i:(i+1)*n], c[i*ldc+i:])
	}
	product(n, n, a, a, square[:], n)
	for i := range n {
		copy(c[i*ldc+i:i*ldc+n], square[i*n+i:])
	}
}

// Dtrmm computes B = alpha op(A) B or B = alpha B op(A) for a triangular A, as [gonum.Implementation.Dtrmm].
func (b BLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int,
	x []float64, ldx int) {
	if s != blas.Left || ul != blas.Upper || tA != blas.NoTrans || m <= smallTriangle || n < 1 || alpha == 0 ||
		!holds(a, m, m, lda) || !holds(x, m, n, ldx) {
		b.Implementation.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	h := half(m)
	b.Dtrmm(s, ul, tA, d, h, n, alpha, a, lda, x, ldx)
	b.Dgemm(blas.NoTrans, blas.NoTrans, h, n, m-h, alpha, a[h:], lda, x[h*ldx:], ldx, 1, x, ldx)
	b.Dtrmm(s, ul, tA, d, m-h, n, alpha, a[h*lda+h:], lda, x[h*ldx:], ldx)
}

// Dtrsm solves op(A) X = alpha B or X op(A) = alpha B for a triangular A and overwrites B with X, as
// [gonum.Implementation.Dtrsm].
func (b BLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int,
	x []float64, ldx int) {
	size := m
	if s == blas.Right {
		size = n
	}
	if ul != blas.Upper || (s == blas.Left) != (tA == blas.Trans) || s == blas.Left && alpha != 1 && alpha != -1 || alpha == 0 ||
		min(m, n) < 1 || !holds(a, size, size, lda) || !holds(x, m, n, ldx) || size <= smallTriangle && (s == blas.Left || m < smallTriangle) {
		b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	if size <= smallTriangle {
		solveColumns(d, m, n, alpha, a, lda, x, ldx)
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

// solvedTogether is the number of rows that solveColumns takes at a time, so that they stay in the first-level cache.
const solvedTogether = 128

// solveColumns is Dtrsm for X A = alpha B with an upper triangular A of at most smallTriangle columns. It goes through
// the columns, which are long, where gonum goes through the rows.
func solveColumns(d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	var columns [smallTriangle][solvedTogether]float64
	for ; m > 0; m -= solvedTogether {
		rows := min(m, solvedTogether)
		for i := range rows {
			for j, v := range x[i*ldx : i*ldx+n] {
				columns[j][i] = alpha * v
			}
		}
		for k := range n {
			column := columns[k][:rows]
			if d == blas.NonUnit {
				for i, v := range column {
					if v != 0 { // gonum skips zeros, whatever they would be divided by
						column[i] = v / a[k*lda+k]
					}
				}
			}
			for j := k + 1; j < n; j++ {
				gonum.Implementation{}.Daxpy(rows, -a[k*lda+j], column, 1, columns[j][:rows], 1)
			}
		}
		for i := range rows {
			row := x[i*ldx : i*ldx+n]
			for j := range row {
				row[j] = columns[j][i]
			}
		}
		x = x[min(rows*ldx, len(x)):]
	}
}
