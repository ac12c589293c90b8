//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/check"
	"github.com/amtrl/amtrl/kernels"
)

func (q *queue) Pinv(a backend.Matrix, rcond float64, dst backend.Matrix) (int, error) {
	c := q.checkNow("Pinv")
	ao, do := c.Matrix("a", a, check.Float64), c.Matrix("dst", dst, check.Float64)
	c.Shape("dst", do, ao.Cols, ao.Rows)
	c.Apart("dst", do, "a", ao)
	c.cutoff(rcond)
	c.blasSizes("a", ao)
	c.blasSizes("dst", do)
	if c.Err != nil || ao.Rows == 0 || ao.Cols == 0 {
		return 0, c.Err
	}
	return q.inverse(c, ao, rcond, func(w *scratch, inv *inverse) error {
		e, d := emitter{q: q}, view(do)
		if inv.wide { // (V diag(1/s) U')'
			return e.gemm(true, true, inv.scale, inv.ut, inv.v, 0, d)
		}
		return e.gemm(false, false, inv.scale, inv.v, inv.ut, 0, d)
	})
}

func (q *queue) MinNorm(a, b backend.Matrix, rcond float64, x backend.Matrix) (int, error) {
	c := q.checkNow("MinNorm")
	ao, bo, xo := c.Matrix("a", a, check.Float64), c.Matrix("b", b, check.Float64), c.Matrix("x", x, check.Float64)
	c.Shape("b", bo, ao.Rows, bo.Cols)
	c.Shape("x", xo, ao.Cols, bo.Cols)
	c.Apart("x", xo, "a", ao)
	c.Apart("x", xo, "b", bo)
	c.cutoff(rcond)
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

func (c *checker) cutoff(rcond float64) {
	if math.IsNaN(rcond) {
		c.Failf("rcond", "is NaN")
	}
}

// inverse is a pseudo-inverse as a product: of a matrix that is not wide it is
// scale v ut, of a wide one scale (v ut)', with v = V diag(1/s) p by rank and ut
// rank by rows.
type inverse struct {
	wide  bool
	v, ut matrix
	rank  int
	scale float64
}

// inverse decomposes a and lets use work with its pseudo-inverse.
func (q *queue) inverse(c *checker, a operand, rcond float64, use func(*scratch, *inverse) error) (rank int, err error) {
	err = q.do(c.Op, func() error {
		w := scratch{q: q, op: c.Op}
		defer w.free()
		f, err := w.decompose(view(a), true)
		if err != nil {
			return err
		}
		if rcond < 0 {
			rcond = float64(max(f.ut.cols, f.v.cols)) * 0x1p-52
		}
		rank = f.rank(rcond)
		inv := &inverse{f.wide, f.v, f.ut, rank, math.Ldexp(1, -f.exp)}
		inv.v.cols, inv.ut.rows = rank, rank
		if rank > 0 {
			if err := w.divide(f, rcond); err != nil {
				return err
			}
		}
		return use(&w, inv)
	})
	if err != nil {
		return 0, err
	}
	return rank, nil
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
