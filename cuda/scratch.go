//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// scratch is device memory of one call, made of float64s.
type scratch struct {
	q      *queue
	op     string
	blocks []block
}

// floats returns room for n float64s.
func (w *scratch) floats(n int) (nv.DevicePtr, error) {
	b, err := w.q.take(w.op, 8*int64(n))
	if err != nil {
		return 0, err
	}
	w.blocks = append(w.blocks, b)
	return b.addr, nil
}

// matrix returns a rows by cols matrix.
func (w *scratch) matrix(rows, cols int) (matrix, error) {
	at, err := w.floats(rows * cols)
	return matrix{at, rows, cols, max(cols, 1), true}, err
}

func (w *scratch) free() {
	for _, b := range w.blocks {
		w.q.dev.pool.give(b, w.q)
	}
}

// solverHandle returns the queue's cuSOLVER handle.
func (q *queue) solverHandle() (nv.SolverHandle, error) {
	if q.solver != 0 {
		return q.solver, nil
	}
	lib := q.lib.Solver
	h, err := lib.Create()
	if err != nil {
		return 0, err
	}
	if err := lib.SetStream(h, q.stream); err != nil {
		_ = lib.Destroy(h)
		return 0, err
	}
	q.solver = h
	return h, nil
}
