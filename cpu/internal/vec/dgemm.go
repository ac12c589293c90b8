package vec

// dgemm holds the arguments of one product C += alpha op(A) op(B).
type dgemm struct {
	transA, transB            bool
	m, n, k                   int
	alpha                     float64
	a, b, c                   []float64
	aStride, bStride, cStride int
}

// Dgemm computes C += alpha op(A) op(B) in float64 with op(A) m by k, op(B) k by n and C
// m by n, all row-major and none empty; op transposes where the flag is set. C overlaps
// neither A nor B. Each element is a chain of fused multiply-adds,
//
//	c_ij = fma(alpha a_ip, b_pj, c_ij),  p = 0, 1, ...
//
// with alpha a_ip rounded, at all levels and for all sizes. So a caller may split C by rows
// and columns among goroutines. The level generic has no Dgemm, see [HasDgemm].
func Dgemm(transA, transB bool, m, n, k int, alpha float64, a []float64, aStride int, b []float64, bStride int, c []float64, cStride int) {
	active.dgemm(dgemm{transA, transB, m, n, k, alpha, a, b, c, aStride, bStride, cStride})
}

// HasDgemm reports whether the implementation in use has [Dgemm], [AddRows] and [DotRows].
func HasDgemm() bool { return active.dgemm != nil }
