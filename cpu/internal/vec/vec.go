// Package vec holds the inner loops of the CPU backend.
//
// Every function runs on the calling goroutine alone and allocates nothing
// beyond pooled scratch. There are up to three implementations, see [Level]:
// plain Go, which works everywhere and is the reference, and AVX2 with FMA and
// AVX-512 in assembly. Each fixes its own order of summation, so that a result
// is the same bytes every time at one level, while levels differ by rounding.
//
// The caller must check shapes, and above all row indices: the assembly does
// not. Matrices are row-major with a stride in elements. Operands may start at
// any element; outputs must not overlap inputs.
package vec

//go:generate go -C gen run . ..

// Element is a type that rows are stored in: bytes, IEEE 754 binary16 bit patterns
// and float32.
type Element interface{ uint8 | uint16 | float32 }

// gradient is a task gradient over rows of one type, see [TaskGrad].
type gradient[E any] = func(x []E, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64)

// loops holds the loops over stored rows of one type.
type loops[E Element] struct {
	taskGrad gradient[E]
	gather   gather[E]
	convert  func(dst []float32, src []E, scale float32)
}

// kernels is one implementation of the package.
type kernels struct {
	name string

	u8  loops[uint8]
	f16 loops[uint16]
	f32 loops[float32]

	products, updates outputLoop

	gemm    func(g gemm)
	dgemm   func(g dgemm) // nil at level generic, like the next two
	addRows func(x, a []float64, stride int, y []float64)
	dotRows func(alpha float64, a []float64, stride, rows int, x, y []float64, yStride int)

	dot     func(x, y []float32) float64
	dots    func(d dots)
	axpy    func(alpha float32, x, y []float32)
	combine func(a []float32, aStride, rows int, coef, y []float32)

	conv   func(p *ConvProduct)
	pool   func(w int, top, bottom, bias, y []float32, ys int, arg []uint8, as int)
	unpool func(w int, dy []float32, ys int, arg []uint8, as int, top, bottom, db []float32)
	adam   func(r *AdamRates, g, m, v, theta []float32)
}

// of returns the loops in use over rows of one type.
func of[E Element]() *loops[E] {
	var l any
	switch any(E(0)).(type) {
	case uint8:
		l = &active.u8
	case uint16:
		l = &active.f16
	default:
		l = &active.f32
	}
	return l.(*loops[E])
}

// TaskGrad adds the gradient of half the squared error of one task over a
// chunk of its samples. With x_i the d elements of x from rows[i]*stride on,
//
//	r_i = scale x_i'p - (y_i - offset),  q += sum_i scale r_i x_i
//
// and the results are sum_i r_i^2 and sum_i r_i, in float64. p and q have d
// elements, y has one for each of rows. The order of summation depends on d and on
// the order of rows alone; the caller must fix how samples are cut into chunks.
func TaskGrad[E Element](x []E, stride, d int, rows []int32, y []float32, scale, offset float32, p, q []float32) (loss, total float64) {
	return of[E]().taskGrad(x, stride, d, rows, y[:len(rows)], scale, offset, p[:d], q[:d])
}

// Dot returns x'y with products and sums in float64, where products of float32
// neither overflow nor underflow. y has at least len(x) elements.
func Dot(x, y []float32) float64 { return active.dot(x, y[:len(x)]) }

// dots holds the arguments of [Dots].
type dots struct {
	a                   []float32
	aStride, rows       int
	x                   []float32
	xStride, vectors, n int
	out                 []float64
	outStride           int
}

// Dots computes out_ji = a_i'x_j for the given number of rows of a and of vectors,
// rows of x, each of n elements, with products and sums in float64. Each product
// has the bits that [Dot] gives. A row of a is read once for all rows of x that the
// caches hold.
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
func Scale(alpha float32, x []float32) { active.f32.convert(x, x, alpha) }

// Convert computes dst = scale src. dst has at least len(src) elements.
func Convert[E Element](dst []float32, src []E, scale float32) {
	of[E]().convert(dst[:len(src)], src, scale)
}
