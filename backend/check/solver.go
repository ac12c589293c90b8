package check

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

// SolveSPD checks the arguments of [backend.Solver].SolveSPD.
func (c *Call[M]) SolveSPD(n, k, r int, a, b backend.Buffer) (ao, bo Operand[M]) {
	if n < 0 || k < 0 || r < 0 {
		c.Failf("n, k, r", "are %d, %d, %d", n, k, r)
	}
	ao, bo = c.Blocks("a", a, n, k, k, Float64), c.Blocks("b", b, n, k, r, Float64)
	c.Apart("b", bo, "a", ao)
	return ao, bo
}

// SVD holds the checked operands of a singular value decomposition.
type SVD[M comparable] struct {
	A, U, S, VT Operand[M]
	// Vectors reports whether u and vt are wanted.
	Vectors bool
}

// SVD checks the arguments of [backend.Solver].SVD.
func (c *Call[M]) SVD(a, u backend.Matrix, s backend.Vector, vt backend.Matrix) (o SVD[M]) {
	o.A, o.S = c.Matrix("a", a, Float64), c.Vector("s", s, Float64)
	p := min(o.A.Rows, o.A.Cols)
	c.Length("s", o.S, p)
	c.Apart("s", o.S, "a", o.A)
	o.Vectors = u != backend.Matrix{} || vt != backend.Matrix{}
	if o.Vectors {
		o.U, o.VT = c.Matrix("u", u, Float64), c.Matrix("vt", vt, Float64)
		c.Shape("u", o.U, o.A.Rows, p)
		c.Shape("vt", o.VT, p, o.A.Cols)
		c.allApart([]named[M]{{"u", o.U}, {"vt", o.VT}}, named[M]{"a", o.A}, named[M]{"s", o.S})
	}
	return o
}

// Pinv checks the arguments of [backend.Solver].Pinv.
func (c *Call[M]) Pinv(a backend.Matrix, rcond float64, dst backend.Matrix) (ao, do Operand[M]) {
	ao, do = c.Matrix("a", a, Float64), c.Matrix("dst", dst, Float64)
	c.Shape("dst", do, ao.Cols, ao.Rows)
	c.Apart("dst", do, "a", ao)
	if math.IsNaN(rcond) {
		c.Failf("rcond", "is NaN")
	}
	return ao, do
}
