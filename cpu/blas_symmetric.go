package cpu

import "gonum.org/v1/gonum/blas"

// chainsBeside is the number of sums that Dsymv and Dsyr2k compute side by side, each in gonum's order. gonum computes
// one sum at a time, in a chain of additions that wait for each other. These operations, on lower triangles, are what a
// reduction to tridiagonal form spends its time in; other forms are left to gonum.
const chainsBeside = 4

// Dsymv computes y = alpha A x + beta y for a symmetric A, as [gonum.Implementation.Dsymv].
func (b BLAS) Dsymv(ul blas.Uplo, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if ul != blas.Lower || n < 2*chainsBeside || alpha == 0 || incX < 1 || incY < 1 || !holds(a, n, n, lda) ||
		len(x) <= (n-1)*incX || len(y) <= (n-1)*incY {
		b.Implementation.Dsymv(ul, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	of, sums := make([]float64, n), make([]float64, n)
	for i := range n {
		of[i] = x[i*incX]
		if beta != 0 {
			sums[i] = beta * y[i*incY]
		}
	}
	i := 0
	for ; i+chainsBeside <= n; i += chainsBeside {
		symmetricRows(i, alpha, a, lda, of, sums)
	}
	for ; i < n; i++ {
		symmetricRow(i, 0, 0, alpha, a, lda, of, sums)
	}
	for i := range n {
		y[i*incY] = sums[i]
	}
}

// symmetricRows adds to y the products of rows i to i + 3 of the lower triangle with x, and the products of the same
// elements as columns of the upper triangle.
func symmetricRows(i int, alpha float64, a []float64, lda int, x, y []float64) {
	r0, r1, r2, r3 := a[i*lda:][:i], a[(i+1)*lda:][:i], a[(i+2)*lda:][:i], a[(i+3)*lda:][:i]
	x0, x1, x2, x3 := alpha*x[i], alpha*x[i+1], alpha*x[i+2], alpha*x[i+3]
	var s0, s1, s2, s3 float64
	x, y = x[:i+chainsBeside], y[:i+chainsBeside]
	for j, v0 := range r0 {
		v1, v2, v3, of, sum := r1[j], r2[j], r3[j], x[j], y[j]
		s0 += float64(of * v0)
		s1 += float64(of * v1)
		s2 += float64(of * v2)
		s3 += float64(of * v3)
		sum += float64(x0 * v0)
		sum += float64(x1 * v1)
		sum += float64(x2 * v2)
		sum += float64(x3 * v3)
		y[j] = sum
	}
	for k, s := range [chainsBeside]float64{s0, s1, s2, s3} {
		symmetricRow(i+k, i, s, alpha, a, lda, x, y)
	}
}

// symmetricRow does the same for row i from element `from` on; s is the row's sum over the elements before.
func symmetricRow(i, from int, s, alpha float64, a []float64, lda int, x, y []float64) {
	xv := alpha * x[i]
	for j := from; j < i; j++ {
		v := a[i*lda+j]
		s += float64(x[j] * v)
		y[j] += float64(xv * v)
	}
	s += float64(x[i] * a[i*lda+i])
	s *= alpha
	y[i] += s
}

// Dsyr2k computes C = alpha (A B' + B A') + beta C, or the same with A' and B' for A and B, and touches one triangle of
// C, as [gonum.Implementation.Dsyr2k].
func (b BLAS) Dsyr2k(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, of []float64, ldb int, beta float64,
	c []float64, ldc int) {
	if ul != blas.Lower || tA != blas.NoTrans || n < 2*chainsBeside || k < 1 || alpha == 0 || beta == 0 ||
		!holds(a, n, k, lda) || !holds(of, n, k, ldb) || !holds(c, n, n, ldc) {
		b.Implementation.Dsyr2k(ul, tA, n, k, alpha, a, lda, of, ldb, beta, c, ldc)
		return
	}
	row := func(x []float64, i, stride int) []float64 { return x[i*stride:][:k] }
	for i := range n {
		ai, bi, ci := row(a, i, lda), row(of, i, ldb), c[i*ldc:][:i+1]
		j := 0
		for ; j+chainsBeside <= len(ci); j += chainsBeside {
			a0, a1, a2, a3 := row(a, j, lda), row(a, j+1, lda), row(a, j+2, lda), row(a, j+3, lda)
			b0, b1, b2, b3 := row(of, j, ldb), row(of, j+1, ldb), row(of, j+2, ldb), row(of, j+3, ldb)
			var s0, s1, s2, s3, t0, t1, t2, t3 float64
			for l, v := range ai {
				w := bi[l]
				s0 += float64(a0[l] * w)
				t0 += float64(v * b0[l])
				s1 += float64(a1[l] * w)
				t1 += float64(v * b1[l])
				s2 += float64(a2[l] * w)
				t2 += float64(v * b2[l])
				s3 += float64(a3[l] * w)
				t3 += float64(v * b3[l])
			}
			for at, sum := range [chainsBeside]float64{s0 + t0, s1 + t1, s2 + t2, s3 + t3} {
				ci[j+at] *= beta
				ci[j+at] += float64(alpha * sum)
			}
		}
		for ; j < len(ci); j++ {
			var s, t float64
			for l, v := range row(a, j, lda) {
				s += float64(v * bi[l])
				t += float64(ai[l] * of[j*ldb+l])
			}
			ci[j] *= beta
			ci[j] += float64(alpha * (s + t))
		}
	}
}
