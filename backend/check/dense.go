package check

import "github.com/amtrl/amtrl/backend"

// Product holds the checked operands of a matrix product: A, B and C of Gemm; A and C of Syrk; A, x as B and y as C of
// Gemv. The product is M by N, and each of its elements is a sum of K terms.
type Product[M comparable] struct {
	A, B, C Operand[M]
	M, N, K int
}

// oriented returns the shape of op(o).
func oriented[M comparable](o Operand[M], trans bool) (rows, cols int) {
	if trans {
		return o.Cols, o.Rows
	}
	return o.Rows, o.Cols
}

// Gemm checks the arguments of [backend.Dense].Gemm.
func (c *Call[M]) Gemm(transA, transB bool, a, b, cm backend.Matrix) (o Product[M]) {
	o.A, o.B, o.C = c.Matrix("a", a, Real), c.Matrix("b", b, Real), c.Matrix("c", cm, Real)
	c.SameType("b", o.B, o.A)
	c.SameType("c", o.C, o.A)
	o.M, o.K = oriented(o.A, transA)
	kb, n := oriented(o.B, transB)
	o.N = n
	if c.Err == nil && o.K != kb {
		c.Failf("b", "has inner dimension %d, a has %d", kb, o.K)
	}
	c.Shape("c", o.C, o.M, o.N)
	c.Apart("c", o.C, "a", o.A)
	c.Apart("c", o.C, "b", o.B)
	return o
}

// Syrk checks the arguments of [backend.Dense].Syrk.
func (c *Call[M]) Syrk(trans bool, a, cm backend.Matrix) (o Product[M]) {
	o.A, o.C = c.Matrix("a", a, Real), c.Matrix("c", cm, Real)
	c.SameType("c", o.C, o.A)
	o.N, o.K = oriented(o.A, trans)
	o.M = o.N
	c.Shape("c", o.C, o.N, o.N)
	c.Apart("c", o.C, "a", o.A)
	return o
}

// ScaleColumns checks the arguments of [backend.Dense].ScaleColumns.
func (c *Call[M]) ScaleColumns(a backend.Matrix, x backend.Vector) (ao, xo Operand[M]) {
	ao, xo = c.Matrix("a", a, Real), c.Vector("x", x, Real)
	c.SameType("x", xo, ao)
	c.Length("x", xo, ao.Cols)
	c.Apart("a", ao, "x", xo)
	return ao, xo
}

// Gemv checks the arguments of [backend.Dense].Gemv.
func (c *Call[M]) Gemv(trans bool, a backend.Matrix, x, y backend.Vector) (o Product[M]) {
	o.A, o.B, o.C = c.Matrix("a", a, Real), c.Vector("x", x, Real), c.Vector("y", y, Real)
	c.SameType("x", o.B, o.A)
	c.SameType("y", o.C, o.A)
	o.M, o.K = oriented(o.A, trans)
	o.N = 1
	c.Length("x", o.B, o.K)
	c.Length("y", o.C, o.M)
	c.Apart("y", o.C, "x", o.B)
	c.Apart("y", o.C, "a", o.A)
	return o
}
