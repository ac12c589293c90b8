//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"slices"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// spdKernel is the largest order that the kernel of package kernels solves, with one block of
// threads per system, in shared memory. cuSOLVER solves larger systems, one after the other.
const spdKernel = 74

func (q *queue) SolveSPD(n, k, r int, a, b backend.Buffer) error {
	c := q.checkUnrecordable("SolveSPD")
	ao, bo := c.SolveSPD(n, k, r, a, b)
	c.blasSizes("a", ao)
	c.blasSizes("b", bo)
	if c.Err != nil || n == 0 || k == 0 {
		return c.Err
	}
	return q.compute(c.Op, func(w *scratch) {
		orders := w.solveSPD(n, k, r, start(ao), start(bo))
		if i := slices.IndexFunc(orders, func(o int32) bool { return o != 0 }); i >= 0 && w.err == nil {
			w.err = &backend.NotPositiveDefiniteError{Op: c.Op, Block: i, Order: int(orders[i])}
		}
	})
}

// solveSPD solves n systems of order k with r right-hand sides each. The Cholesky factors overwrite
// a and the solutions overwrite b. It returns for each system the order of the first leading minor
// that is not positive, or 0.
func (w *scratch) solveSPD(n, k, r int, a, b nv.DevicePtr) []int32 {
	if k > spdKernel {
		return w.solveLarge(n, k, r, a, b)
	}
	info := w.floats((n + 1) / 2)
	w.launch(kernels.SolveSPD(n, k, r, kernels.Ptr(a), kernels.Ptr(b), kernels.Ptr(info)))
	orders := make([]int32, n)
	w.read(bytesOf(orders), info)
	return orders
}

// solveLarge is solveSPD by cuSOLVER, which reads row-major memory as the transpose: the lower
// triangle is its upper one, and B is transposed for it and back.
func (w *scratch) solveLarge(n, k, r int, a, b nv.DevicePtr) []int32 {
	factor, x := w.cholesky(k, a), w.matrix(r, k)
	// For each system, the index of the first diagonal element that is not finite, which cuSOLVER
	// may miss, and the info of its factorisation; and one info for the solves, which cannot fail.
	room := w.floats(n + n/2 + 1)
	infos := room + nv.DevicePtr(8*n)
	w.set(room, 0xff, n)
	for i := range n {
		block, rhs := a+nv.DevicePtr(8*i*k*k), matrix{b + nv.DevicePtr(8*i*k*r), k, r, max(r, 1), true}
		factor(block, infos+nv.DevicePtr(4*i))
		w.launch(kernels.FindNonFinite(k, 1, kernels.Matrix{At: kernels.Ptr(block), Stride: k + 1}, kernels.Ptr(room).At(i, 8)))
		if r == 0 {
			continue
		}
		w.copyMatrix(true, rhs, x)
		w.solve(func(lib *nv.Solver, h nv.SolverHandle) error {
			return lib.Dpotrs(h, nv.FillUpper, k, r, block, k, x.at, k, infos+nv.DevicePtr(4*n))
		})
		w.copyMatrix(true, x, rhs)
	}
	bad, orders := make([]uint64, n), make([]int32, n)
	w.read(bytesOf(bad), room)
	w.read(bytesOf(orders), infos)
	for i := range orders {
		if orders[i] < 0 {
			w.status("cusolverDnDpotrf", orders[i])
		}
		if bad[i] < uint64(k) && (orders[i] == 0 || int(bad[i]) < int(orders[i])) {
			orders[i] = int32(bad[i]) + 1
		}
	}
	return orders
}

// cholesky returns a function by which cuSOLVER overwrites the lower triangle of a matrix of order
// k with its Cholesky factor and writes its info. The workspace is that for a.
func (w *scratch) cholesky(k int, a nv.DevicePtr) func(a, info nv.DevicePtr) {
	size := 0
	w.solve(func(lib *nv.Solver, h nv.SolverHandle) (err error) {
		size, err = lib.DpotrfBufferSize(h, nv.FillUpper, k, a, k)
		return err
	})
	work := w.floats(size)
	return func(a, info nv.DevicePtr) {
		w.solve(func(lib *nv.Solver, h nv.SolverHandle) error {
			return lib.Dpotrf(h, nv.FillUpper, k, a, k, work, size, info)
		})
	}
}

// factor overwrites the lower triangle of A with its Cholesky factor L, A = L L'. info, an int32,
// becomes 0 or the order of a leading minor that is not positive; a NaN may go unnoticed.
func (w *scratch) factor(a matrix, info nv.DevicePtr) {
	if a.rows > spdKernel {
		w.cholesky(a.rows, a.at)(a.at, info)
		return
	}
	w.launch(kernels.SolveSPD(1, a.rows, 0, kernels.Ptr(a.at), kernels.Ptr(a.at), kernels.Ptr(info)))
}
