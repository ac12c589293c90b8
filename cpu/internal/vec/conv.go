package vec

// Panel is the number of columns that the loops of a convolution work on at a
// time. Their matrices are packed: Panel elements per row.
const Panel = 16

// ConvRowBlock is the largest number of rows of A that [Conv] reads at a time, at any level: where M is no multiple of
// it, A must be as long as if M were rounded up to one.
const ConvRowBlock = 12

// ConvProduct is the product of A, a matrix whose elements lie in memory as the windows of an image do, and a packed
// matrix B of Segs N rows.
type ConvProduct struct {
	// M is the number of rows of A. The inner dimension is Segs segments of N.
	M, Segs, N int
	// Element (3g+i, s N+p) of A, i < 3 and p < N, is A[g Group + i Row + s Jump + p Col].
	Row, Group, Jump, Col int
	A, B, C               []float32
	// Add selects C += A B in place of C = A B.
	Add bool
}

// Conv computes C = A B, or C += A B. Each element of C is one sum in order, so it does not depend on M.
func Conv(p *ConvProduct) {
	if p.M > 0 {
		active.conv(p)
	}
}

// Pool reduces w windows of 2 by 2 by Panel values: rows top and bottom hold 2w
// packed vectors each. With the window's four vectors v_0 (top left), v_1 (top
// right), v_2 and v_3,
//
//	y = max(0, v_0 + bias, v_1 + bias, v_2 + bias, v_3 + bias)
//
// and arg is the number of the largest vector, the first of equal ones, or 4 where
// none is above 0. The Panel elements of window j are at y[j*ys] and arg[j*as].
func Pool(w int, top, bottom, bias, y []float32, ys int, arg []uint8, as int) {
	if w > 0 {
		active.pool(w, top, bottom, bias, y, ys, arg, as)
	}
}

// Unpool writes the gradient of [Pool] with respect to the windows' values to
// top and bottom: dy at the place that arg names and zero elsewhere. It adds the
// gradient with respect to the bias to db.
func Unpool(w int, dy []float32, ys int, arg []uint8, as int, top, bottom, db []float32) {
	if w > 0 {
		active.unpool(w, dy, ys, arg, as, top, bottom, db)
	}
}

// AdamRates holds the scalars of [AdamStep].
type AdamRates struct {
	Beta1, Rest1, Beta2, Rest2    float32
	Correct2, Epsilon, Rate, Pull float32
}

// AdamStep computes, element by element,
//
//	m = Beta1 m + Rest1 g,  v = Beta2 v + Rest2 g^2
//	theta -= Pull theta + Rate m / (sqrt(Correct2 v) + Epsilon)
func AdamStep(r *AdamRates, g, m, v, theta []float32) {
	n := len(g)
	active.adam(r, g, m[:n], v[:n], theta[:n])
}
