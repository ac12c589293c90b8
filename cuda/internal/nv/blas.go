//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

import "cmp"

// BLAS calls cuBLAS. Scalars are passed by value, and the handle must be in mode [PointerHost].
// Products allocate nothing.
type BLAS struct{ binding }

func (b *BLAS) err(op string, status C.int32_t) error {
	return b.failed(op, status, blasMeans, func() (string, string) {
		return cmp.Or(goString(C.nv_cublasGetStatusName(b.t, status)), "CUBLAS_STATUS"), goString(C.nv_cublasGetStatusString(b.t, status))
	})
}

// GetProperty returns one number of the version: 0 major, 1 minor, 2 patch.
func (b *BLAS) GetProperty(property int) (int, error) {
	var v C.int32_t
	err := b.err("cublasGetProperty", C.nv_cublasGetProperty(b.t, C.int32_t(property), &v))
	return int(v), err
}

// Create makes a handle for the current context.
func (b *BLAS) Create() (BLASHandle, error) {
	var h C.uintptr_t
	err := b.err("cublasCreate_v2", C.nv_cublasCreate_v2(b.t, &h))
	return BLASHandle(h), err
}

// Destroy destroys a handle.
func (b *BLAS) Destroy(h BLASHandle) error {
	return b.err("cublasDestroy_v2", C.nv_cublasDestroy_v2(b.t, C.uintptr_t(h)))
}

// SetStream sets the stream, and resets the workspace to cuBLAS's own: call SetWorkspace after it.
func (b *BLAS) SetStream(h BLASHandle, s Stream) error {
	return b.err("cublasSetStream_v2", C.nv_cublasSetStream_v2(b.t, C.uintptr_t(h), C.uintptr_t(s)))
}

// SetWorkspace sets the device memory that cuBLAS works in, aligned to 256 bytes; it must outlive
// the handle's use and every graph that was captured with it.
func (b *BLAS) SetWorkspace(h BLASHandle, p DevicePtr, bytes int64) error {
	return b.err("cublasSetWorkspace_v2", C.nv_cublasSetWorkspace_v2(b.t, C.uintptr_t(h), C.uint64_t(p), C.uint64_t(bytes)))
}

// SetMathMode sets the math mode.
func (b *BLAS) SetMathMode(h BLASHandle, mode MathMode) error {
	return b.err("cublasSetMathMode", C.nv_cublasSetMathMode(b.t, C.uintptr_t(h), C.int32_t(mode)))
}

// SetPointerMode sets where scalars are, in host or device memory.
func (b *BLAS) SetPointerMode(h BLASHandle, mode PointerMode) error {
	return b.err("cublasSetPointerMode_v2", C.nv_cublasSetPointerMode_v2(b.t, C.uintptr_t(h), C.int32_t(mode)))
}
