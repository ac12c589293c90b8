package cpu

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// gonum's decompositions cut matrices into blocks and compute the triangular blocks among these row by row, which takes
// most of their time at some hundred rows. Here a triangle is halved until it is small, and the block beside the halves
// is a matrix product. Dtrmm and Dtrsm do this in the forms that a Cholesky factorisation, the inverse of an upper
// triangle and divisions by an upper triangle need, and Dsyrk for an upper triangle; all other forms are left to gonum.
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
	if ul != blas.Upper || !isTranspose(tA) || n <= smallTriangle || k < 1 || tA == blas.NoTrans && k < smallTriangle || alpha == 0 ||
		!vec.HasDgemm() || !holds(a, rows, cols, lda) || !holds(c, n, n, ldc) {
		b.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	product := func(m, n int, x, y []float64, c []float64, ldc int) {
		dgemm(b.threads(), tA, tB, m, n, k, alpha, x, lda, y, lda, beta, c, ldc)
	}
	if n > smallSquare {
		h := half(n)
		b.Dsyrk(ul, tA, h, k, alpha, a, lda, beta, c, ldc)
		product(h, n-h, a, a[h*next:], c[h:], ldc)
		b.Dsyrk(ul, tA, n-h, k, alpha, a[h*next:], lda, beta, c[h*ldc+h:], ldc)
		return
	}
	buf := doubles.Get(n * n)
	defer doubles.Put(buf)
	square := *buf
	for i := range n {
		copy(square[i*n+i:(i+1)*n], c[i*ldc+i:])
	}
	product(n, n, a, a, square, n)
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
	if s != blas.Left && s != blas.Right || ul != blas.Upper || !isTranspose(tA) || d != blas.Unit && d != blas.NonUnit ||
		s == blas.Right && (tA != blas.NoTrans || size <= smallTriangle && m < smallTriangle) || alpha == 0 ||
		min(m, n) < 1 || !vec.HasDgemm() || !holds(a, size, size, lda) || !holds(x, m, n, ldx) {
		b.Implementation.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	if size <= smallTriangle {
		switch {
		case s == blas.Right:
			solveColumns(d, m, n, alpha, a, lda, x, ldx)
		case tA == blas.NoTrans:
			solveRowsUp(d, m, n, alpha, a, lda, x, ldx)
		default:
			solveRows(d, m, n, alpha, a, lda, x, ldx)
		}
		return
	}
	h, rest := half(size), size-half(size)
	beside, last := a[h:], a[h*lda+h:]
	switch {
	case s == blas.Right:
		b.Dtrsm(s, ul, tA, d, m, h, alpha, a, lda, x, ldx)
		b.Dgemm(blas.NoTrans, blas.NoTrans, m, rest, h, -1, x, ldx, beside, lda, alpha, x[h:], ldx)
		b.Dtrsm(s, ul, tA, d, m, rest, 1, last, lda, x[h:], ldx)
	case tA == blas.NoTrans:
		b.Dtrsm(s, ul, tA, d, rest, n, alpha, last, lda, x[h*ldx:], ldx)
		b.Dgemm(blas.NoTrans, blas.NoTrans, h, n, rest, -1, beside, lda, x[h*ldx:], ldx, alpha, x, ldx)
		b.Dtrsm(s, ul, tA, d, h, n, 1, a, lda, x, ldx)
	default:
		b.Dtrsm(s, ul, tA, d, h, n, alpha, a, lda, x, ldx)
		b.Dgemm(blas.Trans, blas.NoTrans, rest, n, h, -1, beside, lda, x, ldx, alpha, x[h*ldx:], ldx)
		b.Dtrsm(s, ul, tA, d, rest, n, 1, last, lda, x[h*ldx:], ldx)
	}
}

// solveRows is Dtrsm for A'X = alpha B with an A of at most smallTriangle rows. It subtracts from each row of X all rows
// before it at once.
func solveRows(d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	var of [smallTriangle]float64
	for i := range m {
		row := x[i*ldx : i*ldx+n]
		scaleRow(alpha, row)
		for k := range i {
			of[k] = -a[k*lda+i]
		}
		vec.AddRows(of[:i], x, ldx, row)
		divideRow(d, a[i*lda+i], row)
	}
}

// solveRowsUp is solveRows for A X = alpha B, where each row depends on those behind it.
func solveRowsUp(d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	var of [smallTriangle]float64
	for i := m - 1; i >= 0; i-- {
		row := x[i*ldx : i*ldx+n]
		scaleRow(alpha, row)
		behind := of[:m-1-i]
		for k := range behind {
			behind[k] = -a[i*lda+i+1+k]
		}
		if len(behind) > 0 {
			vec.AddRows(behind, x[(i+1)*ldx:], ldx, row)
		}
		divideRow(d, a[i*lda+i], row)
	}
}

// divideRow divides a row by an element of the diagonal. A zero stays zero whatever it is divided by, as where gonum
// divides from the right.
func divideRow(d blas.Diag, by float64, row []float64) {
	if d == blas.Unit {
		return
	}
	if inverse := 1 / by; !math.IsInf(inverse, 0) {
		floats.Scale(inverse, row)
		return
	}
	for i, v := range row {
		if v != 0 {
			row[i] = v / by
		}
	}
}

// solvedTogether is the number of rows that solveColumns takes at a time, so that they stay in the first-level cache.
const solvedTogether = 128

// solveColumns is Dtrsm for X A = alpha B with an upper triangular A of at most smallTriangle columns. It goes through
// the columns, which are long, where gonum goes through the rows.
func solveColumns(d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	buf := doubles.Get(n * solvedTogether)
	defer doubles.Put(buf)
	columns := *buf
	for ; m > 0; m -= solvedTogether {
		rows := min(m, solvedTogether)
		vec.Transpose(columns, solvedTogether, x, ldx, rows, n)
		solveRows(d, n, rows, alpha, a, lda, columns, solvedTogether) // A'X' = alpha B'
		vec.Transpose(x, ldx, columns, solvedTogether, n, rows)
		x = x[min(rows*ldx, len(x)):]
	}
}
