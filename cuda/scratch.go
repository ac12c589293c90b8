//go:build linux && cgo && (amd64 || arm64)

package cuda

import "github.com/amtrl/amtrl/cuda/internal/nv"

// scratch issues the work of one call that cannot be recorded, and allocates the call's scratch
// memory, all in float64s.
type scratch struct {
	emitter
	op     string
	blocks []block
}

// compute runs fn, the part of an operation that needs scratch memory, in the queue's turn and then
// frees that memory.
func (q *queue) compute(op string, fn func(w *scratch)) error {
	return q.do(op, func() error {
		w := scratch{emitter: emitter{q: q}, op: op}
		defer w.free()
		fn(&w)
		return w.err
	})
}

// floats returns device memory for n float64s.
func (w *scratch) floats(n int) (at nv.DevicePtr) {
	w.do(func() error {
		b, err := w.q.take(w.op, 8*int64(n))
		if err == nil {
			w.blocks, at = append(w.blocks, b), b.addr
		}
		return err
	})
	return at
}

// matrix returns a rows by cols matrix.
func (w *scratch) matrix(rows, cols int) matrix {
	return matrix{w.floats(rows * cols), rows, cols, max(cols, 1), true}
}

// set sets every byte of n float64s to value.
func (w *scratch) set(at nv.DevicePtr, value uint8, n int) {
	w.do(func() error { return w.q.lib.Driver.MemsetD8Async(at, value, 8*int64(n), w.q.stream) })
}

// read waits for the queue's work and copies device memory to the host.
func (w *scratch) read(to []byte, from nv.DevicePtr) {
	w.do(func() error { return w.q.download(to, from) })
}

func (w *scratch) free() {
	for _, b := range w.blocks {
		w.q.dev.pool.give(b, w.q)
	}
}

// solve calls cuSOLVER with the queue's handle, which the first call creates.
func (w *scratch) solve(call func(*nv.Solver, nv.SolverHandle) error) {
	q, lib := w.q, w.q.lib.Solver
	w.do(func() error {
		return q.whole(func() error { // cuSOLVER may allocate memory and wait for the device
			setStream := func(h nv.SolverHandle) error { return lib.SetStream(h, q.stream) }
			if err := handle(q, &q.solver, lib.Create, setStream, lib.Destroy); err != nil {
				return err
			}
			return call(lib, q.solver)
		})
	})
}
