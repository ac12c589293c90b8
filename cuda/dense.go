//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
)

func (q *queue) Gemm(transA, transB bool, alpha float64, a, b backend.Matrix, beta float64, cm backend.Matrix) error {
	c := q.check("Gemm")
	ao, bo, co := c.Matrix("a", a, check.Real), c.Matrix("b", b, check.Real), c.Matrix("c", cm, check.Real)
	c.SameType("b", bo, ao)
	c.SameType("c", co, ao)
	m, k := oriented(ao, transA)
	kb, n := oriented(bo, transB)
	if c.Err == nil && k != kb {
		c.Failf("b", "has inner dimension %d, a has %d", kb, k)
	}
	c.Shape("c", co, m, n)
	c.Apart("c", co, "a", ao)
	c.Apart("c", co, "b", bo)
	c.blasSizes("a", ao)
	c.blasSizes("b", bo)
	c.blasSizes("c", co)
	if c.Err != nil || m == 0 || n == 0 {
		return c.Err
	}
	return q.submit(c, &command{emit: func(e *emitter) error {
		return e.gemm(transA, transB, alpha, view(ao), view(bo), beta, view(co))
	}})
}

// oriented is the shape of op(o).
func oriented(o operand, trans bool) (rows, cols int) {
	if trans {
		return o.Cols, o.Rows
	}
	return o.Rows, o.Cols
}

func (q *queue) Syrk(trans bool, alpha float64, a backend.Matrix, beta float64, cm backend.Matrix) error {
	c := q.check("Syrk")
	ao, co := c.Matrix("a", a, check.Real), c.Matrix("c", cm, check.Real)
	c.SameType("c", co, ao)
	n, _ := oriented(ao, trans)
	c.Shape("c", co, n, n)
	c.Apart("c", co, "a", ao)
	c.blasSizes("a", ao)
	c.blasSizes("c", co)
	if c.Err != nil || n == 0 {
		return c.Err
	}
	return q.submit(c, &command{emit: func(e *emitter) error {
		if err := e.gemm(trans, !trans, alpha, view(ao), view(ao), beta, view(co)); err != nil {
			return err
		}
		return e.mirror(view(co))
	}})
}

func (q *queue) Gemv(trans bool, alpha float64, a backend.Matrix, x backend.Vector, beta float64, y backend.Vector) error {
	c := q.check("Gemv")
	ao, xo, yo := c.Matrix("a", a, check.Real), c.Vector("x", x, check.Real), c.Vector("y", y, check.Real)
	c.SameType("x", xo, ao)
	c.SameType("y", yo, ao)
	m, n := oriented(ao, trans)
	c.Length("x", xo, n)
	c.Length("y", yo, m)
	c.Apart("y", yo, "x", xo)
	c.Apart("y", yo, "a", ao)
	c.blasSizes("a", ao)
	if c.Err != nil || m == 0 {
		return c.Err
	}
	return q.submit(c, &command{emit: func(e *emitter) error {
		return e.gemv(trans, alpha, view(ao), start(xo), beta, start(yo), m)
	}})
}
