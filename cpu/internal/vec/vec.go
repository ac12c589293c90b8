// Package vec holds the inner loops of the CPU backend.
//
// Every function runs on the calling goroutine alone and allocates nothing
// beyond pooled scratch. There are up to three implementations, see [Level]:
// plain Go, which works everywhere and is the reference, and AVX2 with FMA and
// AVX-512 in assembly. Each fixes its own order of summation, so that a result
// is the same bytes every time at one level, while levels differ by rounding.
//
// Shapes are the caller's to check, row indices above all: the assembly does
// not. Matrices are row-major with a leading dimension in elements. Operands
// may start at any element; outputs must not overlap inputs.
package vec

//go:generate go -C gen run . ..

// gradient is a task gradient over rows of one type, see [TaskGradU8].
type gradient[E any] = func(x []E, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64)

// kernels is one implementation of the package.
type kernels struct {
	name string

	taskGradU8  gradient[uint8]
	taskGradF16 gradient[uint16]
	taskGradF32 gradient[float32]

	gatherU8  gather[uint8]
	gatherF16 gather[uint16]
	gatherF32 gather[float32]
	products  outputLoop
	updates   outputLoop

	gemm  func(g gemm)
	dgemm func(g dgemm) // nil at level generic

	dot        func(x, y []float32) float64
	dots       func(d dots)
	axpy       func(alpha float32, x, y []float32)
	combine    func(a []float32, aStride, rows int, coef, y []float32)
	convertU8  func(dst []float32, src []uint8, scale float32)
	convertF16 func(dst []float32, src []uint16, scale float32)
	convertF32 func(dst, src []float32, scale float32)

	conv   func(p *ConvProduct)
	pool   func(w int, top, bottom, bias, y []float32, ys int, arg []uint8, as int)
	unpool func(w int, dy []float32, ys int, arg []uint8, as int, top, bottom, db []float32)
	adam   func(r *AdamRates, g, m, v, theta []float32)
}

// TaskGradU8 adds the gradient of half the squared error of one task over a
// chunk of its samples. With x_i the d elements of x from rows[i]*stride on,
//
//	r_i = scale x_i'p - (y_i - offset),  q += sum_i scale r_i x_i
//
// and the results are sum_i r_i^2 and sum_i r_i, in float64. p and q have d
// elements, y has one for each of rows. The order of summation depends on d and on the order
// of rows alone; how samples are cut into chunks is the caller's to fix.
func TaskGradU8(x []uint8, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64) {
	return active.taskGradU8(x, stride, d, rows, y[:len(rows)], scale, offset, p[:d], q[:d])
}

// TaskGradF16 is [TaskGradU8] over IEEE 754 binary16 bit patterns.
func TaskGradF16(x []uint16, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64) {
	return active.taskGradF16(x, stride, d, rows, y[:len(rows)], scale, offset, p[:d], q[:d])
}

// TaskGradF32 is [TaskGradU8] over float32 rows.
func TaskGradF32(x []float32, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64) {
	return active.taskGradF32(x, stride, d, rows, y[:len(rows)], scale, offset, p[:d], q[:d])
}

// Dot returns x'y with products and sums in float64, where products of float32
// neither overflow nor underflow. y has at least len(x) elements.
func Dot(x, y []float32) float64 { return active.dot(x, y[:len(x)]) }

// dots are the products of rows of a and of x.
type dots struct {
	a                   []float32
	aStride, rows       int
	x                   []float32
	xStride, vectors, n int
	out                 []float64
	outStride           int
}

// Dots computes out_ji = a_i'x_j for the given number of rows of a and of vectors,
// rows of x, each of n elements, with products and sums in float64. Each has the
// bits that [Dot] gives. A row of a is read once for all x that the caches hold.
func Dots(a []float32, aStride, rows int, x []float32, xStride, vectors, n int, out []float64, outStride int) {
	if rows > 0 && vectors > 0 {
		active.dots(dots{a, aStride, rows, x, xStride, vectors, n, out, outStride})
	}
}

// Axpy computes y += alpha x. y has at least len(x) elements.
func Axpy(alpha float32, x, y []float32) { active.axpy(alpha, x, y[:len(x)]) }

// Combine computes y += sum_i coef_i a_i over rows of a, each of len(y)
// elements, in the order of the rows.
func Combine(a []float32, aStride, rows int, coef []float32, y []float32) {
	active.combine(a, aStride, rows, coef[:rows], y)
}

// Scale computes x *= alpha.
func Scale(alpha float32, x []float32) { active.convertF32(x, x, alpha) }

// ConvertU8 computes dst = scale src. dst has at least len(src) elements.
func ConvertU8(dst []float32, src []uint8, scale float32) {
	active.convertU8(dst[:len(src)], src, scale)
}

// ConvertF16 computes dst = scale src, src being IEEE 754 binary16 bit
// patterns. dst has at least len(src) elements.
func ConvertF16(dst []float32, src []uint16, scale float32) {
	active.convertF16(dst[:len(src)], src, scale)
}
