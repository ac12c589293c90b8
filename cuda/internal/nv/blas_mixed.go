//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo noescape nv_cublasGemmEx
// #cgo nocallback nv_cublasGemmEx
// #cgo noescape nv_cublasGemmStridedBatchedEx
// #cgo nocallback nv_cublasGemmStridedBatchedEx
// #include "nv.h"
import "C"

import "unsafe"

// scalar holds a scalar as wide as the compute type asks for.
func scalar(v float64, compute ComputeType) [8]byte {
	var buf [8]byte
	if compute == Compute64F || compute == Compute64FPedantic {
		*(*float64)(unsafe.Pointer(&buf)) = v
	} else {
		*(*float32)(unsafe.Pointer(&buf)) = float32(v)
	}
	return buf
}

// GemmEx computes C = alpha op(A) op(B) + beta C for matrices of the given types
// in the precision of compute.
func (b *BLAS) GemmEx(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, at DataType, lda int,
	bp DevicePtr, bt DataType, ldb int, beta float64, c DevicePtr, ct DataType, ldc int, compute ComputeType, algo int) error {
	calpha, cbeta := scalar(alpha, compute), scalar(beta, compute)
	return b.err("cublasGemmEx", C.nv_cublasGemmEx(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k),
		unsafe.Pointer(&calpha), C.uint64_t(a), C.int32_t(at), C.int32_t(lda), C.uint64_t(bp), C.int32_t(bt), C.int32_t(ldb),
		unsafe.Pointer(&cbeta), C.uint64_t(c), C.int32_t(ct), C.int32_t(ldc), C.int32_t(compute), C.int32_t(algo)))
}

// GemmStridedBatchedEx is GemmEx for batch matrices whose starts are sa, sb and sc
// elements apart.
func (b *BLAS) GemmStridedBatchedEx(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, at DataType, lda int, sa int64,
	bp DevicePtr, bt DataType, ldb int, sb int64, beta float64, c DevicePtr, ct DataType, ldc int, sc int64, batch int, compute ComputeType, algo int) error {
	calpha, cbeta := scalar(alpha, compute), scalar(beta, compute)
	return b.err("cublasGemmStridedBatchedEx", C.nv_cublasGemmStridedBatchedEx(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k),
		unsafe.Pointer(&calpha), C.uint64_t(a), C.int32_t(at), C.int32_t(lda), C.int64_t(sa), C.uint64_t(bp), C.int32_t(bt), C.int32_t(ldb), C.int64_t(sb),
		unsafe.Pointer(&cbeta), C.uint64_t(c), C.int32_t(ct), C.int32_t(ldc), C.int64_t(sc), C.int32_t(batch), C.int32_t(compute), C.int32_t(algo)))
}
