//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// spdKernel is the largest order that our kernel solves, with one block of threads
// per system, in shared memory. cuSOLVER solves larger ones, one after the other.
const spdKernel = 74

func (q *queue) SolveSPD(n, k, r int, a, b backend.Buffer) error {
	c := q.checkNow("SolveSPD")
	ao, bo := c.SolveSPD(n, k, r, a, b)
	c.blasSizes("a", ao)
	c.blasSizes("b", bo)
	if c.Err != nil || n == 0 || k == 0 {
		return c.Err
	}
	return q.do(c.Op, func() error {
		w := scratch{q: q, op: c.Op}
		defer w.free()
		var orders []int32
		var err error
		if k <= spdKernel {
			orders, err = w.solveBlocks(n, k, r, ptr(ao), ptr(bo))
		} else {
			orders, err = w.solveLarge(n, k, r, start(ao), start(bo))
		}
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(orders, func(o int32) bool { return o != 0 }); i >= 0 {
			return &backend.NotPositiveDefiniteError{Op: c.Op, Block: i, Order: int(orders[i])}
		}
		return nil
	})
}

// solveBlocks solves all systems by one kernel. It returns the order of the first
// leading minor of each that is not positive, or 0.
func (w *scratch) solveBlocks(n, k, r int, a, b kernels.Ptr) ([]int32, error) {
	info, err := w.floats((n + 1) / 2)
	if err != nil {
		return nil, err
	}
	e := emitter{q: w.q}
	if err := e.launch(kernels.SolveSPD(n, k, r, a, b, kernels.Ptr(info))); err != nil {
		return nil, err
	}
	orders := make([]int32, n)
	return orders, w.q.download(bytesOf(orders), info)
}

// solveLarge is solveBlocks for large systems. What is row-major here is the
// transpose there: the lower triangle is the upper one, and B is transposed.
func (w *scratch) solveLarge(n, k, r int, a, b nv.DevicePtr) ([]int32, error) {
	lib, e := w.q.lib.Solver, emitter{q: w.q}
	h, err := w.q.solverHandle()
	if err != nil {
		return nil, err
	}
	size, err := lib.DpotrfBufferSize(h, nv.FillUpper, k, a, k)
	if err != nil {
		return nil, err
	}
	work, err := w.floats(size)
	if err != nil {
		return nil, err
	}
	x, err := w.matrix(r, k)
	if err != nil {
		return nil, err
	}
	// For each system the place of a diagonal element that is not finite, which
	// cuSOLVER need not see, and its info; and an info for what cannot fail.
	room, err := w.floats(n + n/2 + 1)
	if err != nil {
		return nil, err
	}
	infos := room + nv.DevicePtr(8*n)
	if err := w.q.lib.Driver.MemsetD8Async(room, 0xff, int64(8*n), w.q.stream); err != nil {
		return nil, err
	}
	for i := range n {
		block, rhs := a+nv.DevicePtr(8*i*k*k), matrix{b + nv.DevicePtr(8*i*k*r), k, r, max(r, 1), true}
		if err := lib.Dpotrf(h, nv.FillUpper, k, block, k, work, size, infos+nv.DevicePtr(4*i)); err != nil {
			return nil, err
		}
		if err := e.launch(kernels.FindNonFinite(k, 1, kernels.Ptr(block), k+1, kernels.Ptr(room).At(i, 8))); err != nil {
			return nil, err
		}
		if r == 0 {
			continue
		}
		if err := e.copyMatrix(true, rhs, x); err != nil {
			return nil, err
		}
		if err := lib.Dpotrs(h, nv.FillUpper, k, r, block, k, x.at, k, infos+nv.DevicePtr(4*n)); err != nil {
			return nil, err
		}
		if err := e.copyMatrix(true, x, rhs); err != nil {
			return nil, err
		}
	}
	bad, orders := make([]uint64, n), make([]int32, n)
	if err := w.q.download(bytesOf(bad), room); err != nil {
		return nil, err
	}
	if err := w.q.download(bytesOf(orders), infos); err != nil {
		return nil, err
	}
	for i := range orders {
		if orders[i] < 0 {
			return nil, w.status("cusolverDnDpotrf", orders[i])
		}
		if bad[i] < uint64(k) && (orders[i] == 0 || int(bad[i]) < int(orders[i])) {
			orders[i] = int32(bad[i]) + 1
		}
	}
	return orders, nil
}
