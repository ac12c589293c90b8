package check

import "github.com/amtrl/amtrl/backend"

// Pair checks the operands of [backend.Vectors].Axpy and Dot.
func (c *Call[M]) Pair(x, y backend.Vector) (xo, yo Operand[M]) {
	xo, yo = c.Vector("x", x, Real), c.Vector("y", y, Real)
	c.SameType("y", yo, xo)
	c.Length("y", yo, xo.Cols)
	c.SamePlace("y", yo, "x", xo)
	return xo, yo
}

// Copy checks the arguments of [backend.Vectors].Copy.
func (c *Call[M]) Copy(dst, src backend.Vector) (do, so Operand[M]) {
	do, so = c.Vector("dst", dst, Real), c.Vector("src", src, Real)
	c.Length("dst", do, so.Cols)
	c.SamePlace("dst", do, "src", so)
	return do, so
}

// Dots checks the arguments of [backend.Vectors].Dots for n results.
func (c *Call[M]) Dots(a, x backend.Matrix, n int) (ao, xo Operand[M]) {
	xo = c.Matrix("x", x, Real)
	want := Float64
	if c.Err == nil && x.Buf.DType() == backend.Float32 {
		want = Storable
	}
	ao = c.Matrix("a", a, want)
	c.Shape("x", xo, xo.Rows, ao.Cols)
	c.Slice("out", n, xo.Rows*ao.Rows)
	return ao, xo
}

// Combine checks the arguments of [backend.Vectors].Combine for n coefficients.
func (c *Call[M]) Combine(n int, a backend.Matrix, y backend.Vector) (ao, yo Operand[M]) {
	ao, yo = c.Matrix("a", a, Real), c.Vector("y", y, Real)
	c.SameType("y", yo, ao)
	c.Length("y", yo, ao.Cols)
	c.Apart("y", yo, "a", ao)
	c.Slice("coef", n, ao.Rows)
	return ao, yo
}
