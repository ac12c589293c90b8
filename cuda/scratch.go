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
func (s *scratch) floats(n int) (nv.DevicePtr, error) {
	b, err := s.q.take(s.op, 8*int64(n))
	if err != nil {
		return 0, err
	}
	s.blocks = append(s.blocks, b)
	return b.addr, nil
}

// matrix returns a rows by cols matrix.
func (s *scratch) matrix(rows, cols int) (matrix, error) {
	at, err := s.floats(rows * cols)
	return matrix{at, rows, cols, max(cols, 1), true}, err
}

func (s *scratch) free() {
	for _, b := range s.blocks {
		s.q.pool.give(b, s.q)
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
