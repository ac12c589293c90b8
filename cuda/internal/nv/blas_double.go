//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo noescape nv_cublasDgeam
// #cgo nocallback nv_cublasDgeam
// #cgo noescape nv_cublasDgemm_v2
// #cgo nocallback nv_cublasDgemm_v2
// #cgo noescape nv_cublasDgemv_v2
// #cgo nocallback nv_cublasDgemv_v2
// #include "nv.h"
import "C"

// Dgemm computes C = alpha op(A) op(B) + beta C in float64; op(A) is m by k and op(B) k by n.
func (b *BLAS) Dgemm(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, lda int, bp DevicePtr, ldb int, beta float64, c DevicePtr, ldc int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgemm_v2", C.nv_cublasDgemm_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(bp), C.int32_t(ldb), &cbeta, C.uint64_t(c), C.int32_t(ldc)))
}

// Dgemv computes y = alpha op(A) x + beta y in float64; A is m by n.
func (b *BLAS) Dgemv(h BLASHandle, ta Operation, m, n int, alpha float64, a DevicePtr, lda int, x DevicePtr, incx int, beta float64, y DevicePtr, incy int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgemv_v2", C.nv_cublasDgemv_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(x), C.int32_t(incx), &cbeta, C.uint64_t(y), C.int32_t(incy)))
}

// Dgeam computes C = alpha op(A) + beta op(B) in float64; C is m by n.
func (b *BLAS) Dgeam(h BLASHandle, ta, tb Operation, m, n int, alpha float64, a DevicePtr, lda int, beta float64, bp DevicePtr, ldb int, c DevicePtr, ldc int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgeam", C.nv_cublasDgeam(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), &cbeta, C.uint64_t(bp), C.int32_t(ldb), C.uint64_t(c), C.int32_t(ldc)))
}
