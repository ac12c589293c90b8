//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/kernels"
)

func (q *queue) Pinv(a backend.Matrix, rcond float64, dst backend.Matrix) (int, error) {
	c := q.checkNow("Pinv")
	ao, do := c.Pinv(a, rcond, dst)
	c.blasSizes("a", ao)
	c.blasSizes("dst", do)
	if c.Err != nil || ao.Rows == 0 || ao.Cols == 0 {
		return 0, c.Err
	}
	return q.inverse(c, ao, rcond, func(w *scratch, inv *inverse) error {
		e, d := emitter{q: q}, view(do)
		if inv.whole {
			if err := e.copyMatrix(inv.wide, inv.ut, d); err != nil {
				return err
			}
			return e.scale(inv.scale, d)
		}
		if inv.wide { // (V diag(1/s) U')'
			return e.gemm(true, true, inv.scale, inv.ut, inv.v, 0, d)
		}
		return e.gemm(false, false, inv.scale, inv.v, inv.ut, 0, d)
	})
}

func (q *queue) MinNorm(a, b backend.Matrix, rcond float64, x backend.Matrix) (int, error) {
	c := q.checkNow("MinNorm")
	ao, bo, xo := c.MinNorm(a, b, rcond, x)
	c.blasSizes("a", ao)
	c.blasSizes("b", bo)
	c.blasSizes("x", xo)
	if c.Err != nil {
		return 0, c.Err
	}
	if ao.Rows == 0 || ao.Cols == 0 {
		return 0, q.do(c.Op, func() error { return (&emitter{q: q}).scale(0, view(xo)) })
	}
	return q.inverse(c, ao, rcond, func(w *scratch, inv *inverse) error {
		e, b, x := emitter{q: q}, view(bo), view(xo)
		if b.cols == 0 {
			return nil
		}
		if inv.whole {
			return e.gemm(inv.wide, false, inv.scale, inv.ut, b, 0, x)
		}
		t, err := w.matrix(inv.rank, b.cols)
		if err != nil {
			return err
		}
		left, right := inv.v, inv.ut
		if inv.wide {
			left, right = inv.ut, inv.v
		}
		if inv.rank > 0 {
			if err := e.gemm(inv.wide, false, 1, right, b, 0, t); err != nil {
				return err
			}
		}
		return e.gemm(inv.wide, false, inv.scale, left, t, 0, x)
	})
}

// inverse is a pseudo-inverse as a product: of a matrix that is not wide it is
// scale v ut, of a wide one scale (v ut)', with v = V diag(1/s) p by rank and ut
// rank by rows. Where it is whole, ut is the product and there is no v.
type inverse struct {
	wide, whole bool
	v, ut       matrix
	rank        int
	scale       float64
}

// inverse lets use work with the pseudo-inverse of a. Singular values at or below
// rcond s_max count as zero.
func (q *queue) inverse(c *checker, a operand, rcond float64, use func(*scratch, *inverse) error) (rank int, err error) {
	if rcond < 0 {
		rcond = float64(max(a.Rows, a.Cols)) * 0x1p-52
	}
	err = q.do(c.Op, func() error {
		w := scratch{q: q, op: c.Op}
		defer w.free()
		t, err := w.upright(view(a))
		if err != nil {
			return err
		}
		inv := &inverse{wide: t.wide, scale: math.Ldexp(1, -t.exp)}
		if inv.ut, inv.whole, err = w.wellConditioned(t.t, rcond); err != nil {
			return err
		}
		if inv.rank = t.t.rows; !inv.whole {
			if err := w.invert(t, rcond, inv); err != nil {
				return err
			}
		}
		rank = inv.rank
		return use(&w, inv)
	})
	if err != nil {
		return 0, err
	}
	return rank, nil
}

// invert inverts by the singular value decomposition.
func (w *scratch) invert(t upright, rcond float64, inv *inverse) error {
	f, err := w.decompose(t, true)
	if err != nil {
		return err
	}
	inv.rank, inv.v, inv.ut = f.rank(rcond), f.v, f.ut
	inv.v.cols, inv.ut.rows = inv.rank, inv.rank
	if inv.rank == 0 {
		return nil
	}
	return w.divide(f, rcond)
}

// divide divides the columns of V by their singular values.
func (w *scratch) divide(f factors, rcond float64) error {
	kept, err := w.floats(1)
	if err != nil {
		return err
	}
	e := emitter{q: w.q}
	return e.launch(kernels.ScaleInverse(len(f.s), kernels.Ptr(f.values), rcond, f.v.rows, f.v.cols, kernels.Ptr(f.v.at), f.v.stride, false, kernels.Ptr(kept)))
}
