//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/kernels"
)

func (q *queue) Gemm(transA, transB bool, alpha float64, a, b backend.Matrix, beta float64, cm backend.Matrix) error {
	c := q.check("Gemm")
	o := c.Gemm(transA, transB, a, b, cm)
	ao, bo, co, m, n := o.A, o.B, o.C, o.M, o.N
	c.blasSizes("a", ao)
	c.blasSizes("b", bo)
	c.blasSizes("c", co)
	return q.issue(c, m*n, func(e *emitter) {
		e.gemm(transA, transB, alpha, view(ao), view(bo), beta, view(co))
	})
}

func (q *queue) Syrk(trans bool, alpha float64, a backend.Matrix, beta float64, cm backend.Matrix) error {
	c := q.check("Syrk")
	o := c.Syrk(trans, a, cm)
	ao, co, n := o.A, o.C, o.N
	c.blasSizes("a", ao)
	c.blasSizes("c", co)
	return q.issue(c, n, func(e *emitter) {
		e.gemm(trans, !trans, alpha, view(ao), view(ao), beta, view(co))
		e.mirror(view(co))
	})
}

func (q *queue) Gemv(trans bool, alpha float64, a backend.Matrix, x backend.Vector, beta float64, y backend.Vector) error {
	c := q.check("Gemv")
	o := c.Gemv(trans, a, x, y)
	ao, xo, yo, m := o.A, o.B, o.C, o.M
	c.blasSizes("a", ao)
	return q.issue(c, m, func(e *emitter) {
		e.gemv(trans, alpha, view(ao), start(xo), beta, start(yo), m)
	})
}

func (q *queue) ScaleColumns(a backend.Matrix, x backend.Vector) error {
	c := q.check("ScaleColumns")
	ao, xo := c.ScaleColumns(a, x)
	return q.elementwise(c, ao.Rows*ao.Cols, func() kernels.Launch {
		return kernels.ScaleColumns(real(ao), ao.Rows, ao.Cols, place(ao), ptr(xo))
	})
}
