package vec

// Splits of C at multiples of GemmRowBlock and GemmColBlock leave no partial tile inside, at any level.
const (
	GemmRowBlock = 12
	GemmColBlock = 32
)

// gemm holds the arguments of one product C = alpha op(A) op(B) + beta C.
type gemm struct {
	transA, transB            bool
	m, n, k                   int
	alpha, beta               float32
	a, b, c                   []float32
	aStride, bStride, cStride int
}

// Gemm computes C = alpha op(A) op(B) + beta C with op(A) m by k, op(B) k by n
// and C m by n, all row-major; op transposes where the flag is set. C overlaps
// neither A nor B. With beta == 0 the old C is never read, and with alpha == 0
// or k == 0 neither are A and B.
//
// An element of C depends on its row of op(A), its column of op(B), k, alpha,
// beta and its old value alone, so a caller may split C by rows and columns
// among goroutines and get the same bytes. Multiples of [GemmRowBlock] and
// [GemmColBlock] are the splits that cost nothing.
func Gemm(transA, transB bool, m, n, k int, alpha float32, a []float32, aStride int, b []float32, bStride int, beta float32,
	c []float32, cStride int) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		for i := range m {
			scaleRow(beta, c[i*cStride:][:n])
		}
		return
	}
	active.gemm(gemm{transA, transB, m, n, k, alpha, beta, a, b, c, aStride, bStride, cStride})
}

// scaleRow computes c *= beta without reading c for beta == 0.
func scaleRow(beta float32, c []float32) {
	switch beta {
	case 0:
		clear(c)
	case 1:
	default:
		for i := range c {
			c[i] *= beta
		}
	}
}
