//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// matrix is a row-major matrix on the device.
//
// cuBLAS is column-major: it reads the same memory as the transpose, with the stride as the leading
// dimension. So C = A B is computed as C' = B' A': the operands change places and keep their
// transpose flags. Only the methods in this file deal with that.
type matrix struct {
	at                 nv.DevicePtr
	rows, cols, stride int
	double             bool
}

func view(o operand) matrix {
	return matrix{start(o), o.Rows, o.Cols, max(o.Stride, 1), o.Buf.DType() == backend.Float64}
}

// blasSizes refuses an operand whose size or stride exceeds cuBLAS's 32-bit integers.
func (c *checker) blasSizes(arg string, o operand) {
	if c.Err == nil && max(o.Rows, o.Cols, o.Stride) > math.MaxInt32 {
		c.Failf(arg, "is %d by %d with a stride of %d, each of which may be %d at most on CUDA", o.Rows, o.Cols, o.Stride, math.MaxInt32)
	}
}

func operation(trans bool) nv.Operation {
	if trans {
		return nv.OpT
	}
	return nv.OpN
}

// Workspace sizes in bytes that NVIDIA recommends for cuBLAS on Hopper and later devices, and on
// earlier ones. Each queue provides the workspace: cuBLAS would allocate its own while a graph is
// captured, and results would depend on what else runs.
const (
	workspaceHopper = 32 << 20
	workspaceBefore = 4 << 20
	hopper          = 9 // major compute capability
)

// product calls cuBLAS with the queue's handle, which the first call creates.
func (e *emitter) product(call func(*nv.BLAS, nv.BLASHandle) error) {
	q, lib := e.q, e.q.lib.BLAS
	if q.capturing && q.blas != 0 { // the program has run before, so cuBLAS has loaded its code
		e.do(func() error { return call(lib, q.blas) })
		return
	}
	e.do(func() error {
		return q.whole(func() error { // cuBLAS loads code at its first use
			if err := handle(q, &q.blas, lib.Create, q.configure, lib.Destroy); err != nil {
				return err
			}
			return call(lib, q.blas)
		})
	})
}

// handle creates and configures a library's handle and stores it in *h, unless *h holds one.
func handle[H ~uintptr](q *queue, h *H, create func() (H, error), configure, destroy func(H) error) error {
	if *h != 0 {
		return nil
	}
	var made H
	err := q.again(func() (err error) {
		made, err = create()
		return err
	})
	if err != nil {
		return err
	}
	if err := configure(made); err != nil {
		_ = destroy(made)
		return err
	}
	*h = made
	return nil
}

func (q *queue) configure(h nv.BLASHandle) error {
	lib := q.lib.BLAS
	size := int64(workspaceBefore)
	if q.dev.about.major >= hopper {
		size = workspaceHopper
	}
	if q.workspace.addr == 0 {
		var err error
		if q.workspace, err = q.take("cuBLAS workspace", size); err != nil {
			return err
		}
	}
	// SetStream resets the workspace, so it comes first.
	if err := lib.SetStream(h, q.stream); err != nil {
		return err
	}
	if err := lib.SetWorkspace(h, q.workspace.addr, size); err != nil {
		return err
	}
	if err := lib.SetPointerMode(h, nv.PointerHost); err != nil {
		return err
	}
	mode := nv.MathDefault
	if q.dev.tf32 {
		mode = nv.MathTF32
	}
	return lib.SetMathMode(h, mode)
}

// gemm computes C = alpha op(A) op(B) + beta C; C must not be empty.
func (e *emitter) gemm(transA, transB bool, alpha float64, a, b matrix, beta float64, c matrix) {
	k := a.cols
	if transA {
		k = a.rows
	}
	if k == 0 || alpha == 0 {
		e.scale(beta, c)
		return
	}
	ta, tb := operation(transA), operation(transB)
	e.product(func(lib *nv.BLAS, h nv.BLASHandle) error {
		if c.double {
			return lib.Dgemm(h, tb, ta, c.cols, c.rows, k, alpha, b.at, b.stride, a.at, a.stride, beta, c.at, c.stride)
		}
		return lib.Sgemm(h, tb, ta, c.cols, c.rows, k, float32(alpha), b.at, b.stride, a.at, a.stride, float32(beta), c.at, c.stride)
	})
}

// gemv computes y = alpha op(A) x + beta y for y of length n.
func (e *emitter) gemv(trans bool, alpha float64, a matrix, x nv.DevicePtr, beta float64, y nv.DevicePtr, n int) {
	if a.rows == 0 || a.cols == 0 || alpha == 0 {
		e.scale(beta, matrix{y, 1, n, n, a.double})
		return
	}
	t := operation(!trans)
	e.product(func(lib *nv.BLAS, h nv.BLASHandle) error {
		if a.double {
			return lib.Dgemv(h, t, a.cols, a.rows, alpha, a.at, a.stride, x, 1, beta, y, 1)
		}
		return lib.Sgemv(h, t, a.cols, a.rows, float32(alpha), a.at, a.stride, x, 1, float32(beta), y, 1)
	})
}

// scale computes C = beta C without reading C when beta is 0.
func (e *emitter) scale(beta float64, c matrix) {
	if beta == 1 || c.rows == 0 || c.cols == 0 {
		return
	}
	e.product(func(lib *nv.BLAS, h nv.BLASHandle) error {
		if c.double {
			return lib.Dgeam(h, nv.OpN, nv.OpN, c.cols, c.rows, beta, c.at, c.stride, 0, c.at, c.stride, c.at, c.stride)
		}
		return lib.Sgeam(h, nv.OpN, nv.OpN, c.cols, c.rows, float32(beta), c.at, c.stride, 0, c.at, c.stride, c.at, c.stride)
	})
}

// add computes C = alpha A + beta B in float64.
func (e *emitter) add(alpha float64, a matrix, beta float64, b, c matrix) {
	e.product(func(lib *nv.BLAS, h nv.BLASHandle) error {
		return lib.Dgeam(h, nv.OpN, nv.OpN, c.cols, c.rows, alpha, a.at, a.stride, beta, b.at, b.stride, c.at, c.stride)
	})
}

// trsm overwrites B with op(L)^-1 B in float64, L being the lower triangle of l.
func (e *emitter) trsm(trans bool, l, b matrix) {
	e.product(func(lib *nv.BLAS, h nv.BLASHandle) error {
		return lib.Dtrsm(h, nv.SideRight, nv.FillUpper, operation(trans), nv.DiagonalGiven, b.cols, b.rows, 1, l.at, l.stride, b.at, b.stride)
	})
}

// mirror copies the lower triangle of the square matrix C to its upper one, which makes C exactly
// symmetric.
func (e *emitter) mirror(c matrix) {
	e.launch(kernels.Symmetrise(c.real(), c.rows, c.place(), true))
}

// copyMatrix copies A, or A' if trans is set, to C.
func (e *emitter) copyMatrix(trans bool, a, c matrix) {
	kernel := kernels.CopyMatrix
	if trans {
		kernel = kernels.Transpose
	}
	e.launch(kernel(a.real(), a.rows, a.cols, a.place(), c.place()))
}

func (m matrix) place() kernels.Matrix {
	return kernels.Matrix{At: kernels.Ptr(m.at), Stride: m.stride}
}

func (m matrix) real() kernels.Real {
	if m.double {
		return kernels.Float64
	}
	return kernels.Float32
}
