package vec

// dgemm holds the arguments of one product C += alpha op(A) op(B).
type dgemm struct {
	transA, transB            bool
	m, n, k, block            int
	alpha                     float64
	a, b, c                   []float64
	aStride, bStride, cStride int
}

// Dgemm computes C += alpha op(A) op(B) in float64 with op(A) m by k, op(B) k by n and C
// m by n, all row-major and none empty; op transposes where the flag is set. C overlaps
// neither A nor B. For finite numbers the result is gonum's to the bit:
//
//	c_ij += (alpha a_ip) b_pj,  p = 0, 1, ...
//
// with each step rounded, except for A B'. There c_ij += alpha x'y for every block terms along
// k, with x'y = (s_1 + s_3) + (s_0 + s_2), where s_q sums the terms p = q mod 4 below the last
// multiple of 4, and s_0 the remaining terms too. So a caller may split C by rows and columns
// among goroutines. The level generic has no Dgemm, see [HasDgemm].
func Dgemm(transA, transB bool, m, n, k, block int, alpha float64, a []float64, aStride int, b []float64, bStride int, c []float64,
	cStride int) {
	active.dgemm(dgemm{transA, transB, m, n, k, block, alpha, a, b, c, aStride, bStride, cStride})
}

// HasDgemm reports whether the implementation in use has [Dgemm], [AddRows] and [DotRows].
func HasDgemm() bool { return active.dgemm != nil }
