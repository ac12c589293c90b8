package cpu

import (
	"math"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// narrowest is the number of rows or columns of C below which tiles would be mostly empty.
const narrowest = 4

// narrow is [vec.Dgemm] for a C of few rows or few columns, which it computes by whole rows or columns, and of A B' by
// [vec.DotRows]. It does not compute A'B', with both factors transposed.
func narrow(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	switch {
	case transB:
		dotProducts(m, n, k, alpha, a, lda, b, ldb, c, ldc)
	case m < n:
		rowsTimes(transA, m, n, k, alpha, a, lda, b, ldb, c, ldc)
	case transA:
		timesColumns(m, n, k, alpha, a, lda, b, ldb, c, ldc)
	default:
		chains(m, n, k, alpha, a, lda, b, ldb, c, ldc)
	}
}

// dotProducts computes C += alpha A B'.
func dotProducts(m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	if m < n {
		for i := range m {
			vec.DotRows(alpha, b, ldb, n, a[i*lda:i*lda+k], c[i*ldc:], 1)
		}
		return
	}
	for j := range n {
		vec.DotRows(alpha, a, lda, m, b[j*ldb:j*ldb+k], c[j:], ldc)
	}
}

// rowsTimes computes C += alpha op(A) B for a C of few, long rows.
func rowsTimes(transA bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	row, next := lda, 1
	if transA {
		row, next = 1, lda
	}
	buf := doubles.Get(k)
	defer doubles.Put(buf)
	scaled := *buf
	for i := range m {
		for p := range scaled {
			scaled[p] = alpha * a[i*row+p*next]
		}
		vec.AddRows(scaled, b, ldb, c[i*ldc:i*ldc+n])
	}
}

// timesColumns computes C += alpha A'B for a C of few, long columns. It copies each column out of C, adds to it and
// copies it back.
func timesColumns(m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	buf := doubles.Get(m + k)
	defer doubles.Put(buf)
	column, of := (*buf)[:m], (*buf)[m:]
	if alpha != 1 && alpha != -1 { // a sign can be applied to b with the same bits
		scaled := make([]float64, k*m)
		for p := range k {
			for i, v := range a[p*lda : p*lda+m] {
				scaled[p*m+i] = alpha * v
			}
		}
		a, lda, alpha = scaled, m, 1
	}
	for j := range n {
		gonum.Implementation{}.Dcopy(m, c[j:], ldc, column, 1)
		for p := range of {
			of[p] = alpha * b[p*ldb+j]
		}
		vec.AddRows(of, a, lda, column)
		gonum.Implementation{}.Dcopy(m, column, 1, c[j:], ldc)
	}
}

// chains computes C += alpha A B for a C of few, long columns. It takes four rows at a time, so that the sums of one
// row do not wait for those of another.
func chains(m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	const together = 4
	i := 0
	for ; i+together <= m; i += together {
		r0, r1, r2, r3 := a[i*lda:][:k], a[(i+1)*lda:][:k], a[(i+2)*lda:][:k], a[(i+3)*lda:][:k]
		for j := range n {
			s0, s1, s2, s3 := c[i*ldc+j], c[(i+1)*ldc+j], c[(i+2)*ldc+j], c[(i+3)*ldc+j]
			at := j
			for p, v := range r0 {
				y := b[at]
				s0 = math.FMA(alpha*v, y, s0)
				s1 = math.FMA(alpha*r1[p], y, s1)
				s2 = math.FMA(alpha*r2[p], y, s2)
				s3 = math.FMA(alpha*r3[p], y, s3)
				at += ldb
			}
			c[i*ldc+j], c[(i+1)*ldc+j], c[(i+2)*ldc+j], c[(i+3)*ldc+j] = s0, s1, s2, s3
		}
	}
	for ; i < m; i++ {
		row := a[i*lda:][:k]
		for j := range n {
			s := c[i*ldc+j]
			for p, v := range row {
				s = math.FMA(alpha*v, b[p*ldb+j], s)
			}
			c[i*ldc+j] = s
		}
	}
}
