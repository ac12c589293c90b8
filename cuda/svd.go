//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

func (q *queue) SVD(a, u backend.Matrix, s backend.Vector, vt backend.Matrix) error {
	c := q.checkNow("SVD")
	o := c.SVD(a, u, s, vt)
	ao, so, uo, vo, vectors := o.A, o.S, o.U, o.VT, o.Vectors
	p := min(ao.Rows, ao.Cols)
	c.blasSizes("a", ao)
	if c.Err != nil || p == 0 {
		return c.Err
	}
	return q.do(c.Op, func() error {
		w := scratch{q: q, op: c.Op}
		defer w.free()
		t, err := w.upright(view(ao))
		if err != nil {
			return err
		}
		f, err := w.decompose(t, vectors)
		if err != nil {
			return err
		}
		for i := range f.s {
			f.s[i] = math.Ldexp(f.s[i], t.exp)
		}
		if err := q.upload(start(so), bytesOf(f.s)); err != nil || !vectors {
			return err
		}
		e := emitter{q: q}
		if t.wide { // A = V diag(s) U'
			if err := e.copyMatrix(false, f.v, view(uo)); err != nil {
				return err
			}
			return e.copyMatrix(false, f.ut, view(vo))
		}
		if err := e.copyMatrix(true, f.ut, view(uo)); err != nil {
			return err
		}
		return e.copyMatrix(true, f.v, view(vo))
	})
}
