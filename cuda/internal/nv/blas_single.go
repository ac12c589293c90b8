//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo noescape nv_cublasSgeam
// #cgo nocallback nv_cublasSgeam
// #cgo noescape nv_cublasSgemm_v2
// #cgo nocallback nv_cublasSgemm_v2
// #cgo noescape nv_cublasSgemv_v2
// #cgo nocallback nv_cublasSgemv_v2
// #include "nv.h"
import "C"

// Sgemm computes C = alpha op(A) op(B) + beta C in float32; op(A) is m by k and op(B) k by n.
func (b *BLAS) Sgemm(h BLASHandle, ta, tb Operation, m, n, k int, alpha float32, a DevicePtr, lda int, bp DevicePtr, ldb int, beta float32, c DevicePtr, ldc int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgemm_v2", C.nv_cublasSgemm_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(bp), C.int32_t(ldb), &cbeta, C.uint64_t(c), C.int32_t(ldc)))
}

// Sgemv computes y = alpha op(A) x + beta y in float32; A is m by n.
func (b *BLAS) Sgemv(h BLASHandle, ta Operation, m, n int, alpha float32, a DevicePtr, lda int, x DevicePtr, incx int, beta float32, y DevicePtr, incy int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgemv_v2", C.nv_cublasSgemv_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(x), C.int32_t(incx), &cbeta, C.uint64_t(y), C.int32_t(incy)))
}

// Sgeam computes C = alpha op(A) + beta op(B) in float32; C is m by n.
func (b *BLAS) Sgeam(h BLASHandle, ta, tb Operation, m, n int, alpha float32, a DevicePtr, lda int, beta float32, bp DevicePtr, ldb int, c DevicePtr, ldc int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgeam", C.nv_cublasSgeam(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), &cbeta, C.uint64_t(bp), C.int32_t(ldb), C.uint64_t(c), C.int32_t(ldc)))
}
