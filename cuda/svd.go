//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
)

func (q *queue) SVD(a, u backend.Matrix, s backend.Vector, vt backend.Matrix) error {
	c := q.checkUnrecordable("SVD")
	o := c.SVD(a, u, s, vt)
	c.blasSizes("a", o.A)
	if c.Err != nil || min(o.A.Rows, o.A.Cols) == 0 {
		return c.Err
	}
	return q.compute(c.Op, func(w *scratch) {
		t := w.upright(view(o.A))
		f := w.decompose(t, o.Vectors)
		for i := range f.s {
			f.s[i] = math.Ldexp(f.s[i], t.exp)
		}
		w.do(func() error { return q.upload(start(o.S), bytesOf(f.s)) })
		if !o.Vectors {
			return
		}
		left, right := f.ut, f.v // A = U diag(s) V', or V diag(s) U' where A is wide
		if t.wide {
			left, right = f.v, f.ut
		}
		w.copyMatrix(!t.wide, left, view(o.U))
		w.copyMatrix(!t.wide, right, view(o.VT))
	})
}
