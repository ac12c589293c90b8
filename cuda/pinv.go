//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/kernels"
)

func (q *queue) Pinv(a backend.Matrix, rcond float64, dst backend.Matrix) (int, error) {
	c := q.checkUnrecordable("Pinv")
	ao, do := c.Pinv(a, rcond, dst)
	c.blasSizes("a", ao)
	c.blasSizes("dst", do)
	if c.Err != nil || ao.Rows == 0 || ao.Cols == 0 {
		return 0, c.Err
	}
	if rcond < 0 {
		rcond = float64(max(ao.Rows, ao.Cols)) * 0x1p-52
	}
	var inv inverse
	err := q.compute(c.Op, func(w *scratch) {
		t := w.upright(view(ao))
		inv = inverse{wide: t.wide, scale: math.Ldexp(1, -t.exp), rank: t.t.rows}
		var whole bool
		if inv.v, inv.ut, whole = w.fullRank(t, rcond); !whole {
			w.fill(t)
			w.invert(t, rcond, &inv)
		}
		w.write(inv, view(do))
	})
	if err != nil {
		return 0, err
	}
	return inv.rank, nil
}

// inverse is a pseudo-inverse in factors: scale v ut, or scale (v ut)' where the matrix is wide. v
// is p by rank and ut is rank by rows: V diag(1/s) and U' of the singular value decomposition, or W
// and Q of [scratch.fullRank].
type inverse struct {
	wide  bool
	v, ut matrix
	rank  int
	scale float64
}

// write multiplies the factors into D.
func (e *emitter) write(inv inverse, d matrix) {
	if inv.wide {
		e.gemm(true, true, inv.scale, inv.ut, inv.v, 0, d)
	} else {
		e.gemm(false, false, inv.scale, inv.v, inv.ut, 0, d)
	}
}

// invert computes the factors by singular value decomposition and destroys t.t.
func (w *scratch) invert(t upright, rcond float64, inv *inverse) {
	f := w.decompose(t, true)
	inv.rank, inv.v, inv.ut = f.rank(rcond), f.v, f.ut
	inv.v.cols, inv.ut.rows = inv.rank, inv.rank
	if inv.rank > 0 {
		w.divide(f, rcond)
	}
}

// divide divides each column of V by its singular value s_j, and sets it to zero where s_j is at or
// below rcond times the largest.
func (w *scratch) divide(f factors, rcond float64) {
	kept := kernels.Ptr(w.floats(1))
	w.launch(kernels.ScaleInverse(len(f.s), kernels.Ptr(f.values), rcond, f.v.rows, f.v.cols, f.v.place(), false, kept))
}
