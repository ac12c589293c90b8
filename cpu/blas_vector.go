package cpu

import (
	"gonum.org/v1/gonum/blas"

	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// vectorLeast is the number of columns from which on a product with a vector is faster by package vec.
const vectorLeast = 48

// Dgemv computes y = alpha op(A) x + beta y, as [gonum.Implementation.Dgemv].
func (b BLAS) Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64,
	y []float64, incY int) {
	from, to := n, m
	if tA != blas.NoTrans {
		from, to = m, n
	}
	if !isTranspose(tA) || m < 1 || n < vectorLeast || alpha == 0 || incX < 1 || incY != 1 && tA != blas.NoTrans || incY < 1 ||
		!vec.HasDgemm() || !holds(a, m, n, lda) || len(x) <= (from-1)*incX || len(y) <= (to-1)*incY {
		b.Implementation.Dgemv(tA, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	if incY == 1 {
		scaleRow(beta, y[:to])
	} else {
		for i := range to {
			scaleRow(beta, y[i*incY:][:1])
		}
	}
	if tA == blas.NoTrans && incX == 1 {
		vec.DotRows(alpha, a, lda, m, x[:n], y, incY)
		return
	}
	buf := doubles.Get(from)
	defer doubles.Put(buf)
	of := *buf
	for i := range of {
		of[i] = x[i*incX]
	}
	if tA == blas.NoTrans {
		vec.DotRows(alpha, a, lda, m, of, y, incY)
		return
	}
	scaleRow(alpha, of)
	vec.AddRows(of, a, lda, y[:n])
}

// Dger computes A += alpha x y', as [gonum.Implementation.Dger].
func (b BLAS) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if m < 1 || n < vectorLeast || alpha == 0 || incX < 1 || incY < 1 || !vec.HasDgemm() ||
		!holds(a, m, n, lda) || len(x) <= (m-1)*incX || len(y) <= (n-1)*incY {
		b.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	buf := doubles.Get(n + 1)
	defer doubles.Put(buf)
	of, by := (*buf)[:n], (*buf)[n:]
	for j := range of {
		of[j] = y[j*incY]
	}
	for i := range m {
		by[0] = alpha * x[i*incX]
		vec.AddRows(by, of, n, a[i*lda:i*lda+n])
	}
}
