//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo noescape nv_cublasDgeam
// #cgo nocallback nv_cublasDgeam
// #cgo noescape nv_cublasDgemm_v2
// #cgo nocallback nv_cublasDgemm_v2
// #cgo noescape nv_cublasDgemv_v2
// #cgo nocallback nv_cublasDgemv_v2
// #cgo noescape nv_cublasDtrsm_v2
// #cgo nocallback nv_cublasDtrsm_v2
// #cgo noescape nv_cublasSgeam
// #cgo nocallback nv_cublasSgeam
// #cgo noescape nv_cublasSgemm_v2
// #cgo nocallback nv_cublasSgemm_v2
// #cgo noescape nv_cublasSgemv_v2
// #cgo nocallback nv_cublasSgemv_v2
// #include "nv.h"
import "C"

// The products take matrices as cuBLAS does: column-major, each followed by its leading dimension.

// Sgemm computes C = alpha op(A) op(B) + beta C in float32; op(A) is m by k and op(B) k by n.
func (b *BLAS) Sgemm(h BLASHandle, ta, tb Operation, m, n, k int, alpha float32, a DevicePtr, aStride int,
	bp DevicePtr, bStride int, beta float32, c DevicePtr, cStride int) error {
	calpha, cbeta := C.float(alpha), C.float(beta)
	return b.err("cublasSgemm_v2", C.nv_cublasSgemm_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb),
		C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(aStride),
		C.uint64_t(bp), C.int32_t(bStride), &cbeta, C.uint64_t(c), C.int32_t(cStride)))
}

// Sgemv computes y = alpha op(A) x + beta y in float32; A is m by n.
func (b *BLAS) Sgemv(h BLASHandle, ta Operation, m, n int, alpha float32, a DevicePtr, aStride int,
	x DevicePtr, incx int, beta float32, y DevicePtr, incy int) error {
	calpha, cbeta := C.float(alpha), C.float(beta)
	return b.err("cublasSgemv_v2", C.nv_cublasSgemv_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(m), C.int32_t(n),
		&calpha, C.uint64_t(a), C.int32_t(aStride), C.uint64_t(x), C.int32_t(incx), &cbeta, C.uint64_t(y), C.int32_t(incy)))
}

// Sgeam computes C = alpha op(A) + beta op(B) in float32; C is m by n.
func (b *BLAS) Sgeam(h BLASHandle, ta, tb Operation, m, n int, alpha float32, a DevicePtr, aStride int,
	beta float32, bp DevicePtr, bStride int, c DevicePtr, cStride int) error {
	calpha, cbeta := C.float(alpha), C.float(beta)
	return b.err("cublasSgeam", C.nv_cublasSgeam(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n),
		&calpha, C.uint64_t(a), C.int32_t(aStride), &cbeta, C.uint64_t(bp), C.int32_t(bStride), C.uint64_t(c), C.int32_t(cStride)))
}

// Dgemm computes C = alpha op(A) op(B) + beta C in float64; op(A) is m by k and op(B) k by n.
func (b *BLAS) Dgemm(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, aStride int,
	bp DevicePtr, bStride int, beta float64, c DevicePtr, cStride int) error {
	calpha, cbeta := C.double(alpha), C.double(beta)
	return b.err("cublasDgemm_v2", C.nv_cublasDgemm_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb),
		C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(aStride),
		C.uint64_t(bp), C.int32_t(bStride), &cbeta, C.uint64_t(c), C.int32_t(cStride)))
}

// Dgemv computes y = alpha op(A) x + beta y in float64; A is m by n.
func (b *BLAS) Dgemv(h BLASHandle, ta Operation, m, n int, alpha float64, a DevicePtr, aStride int,
	x DevicePtr, incx int, beta float64, y DevicePtr, incy int) error {
	calpha, cbeta := C.double(alpha), C.double(beta)
	return b.err("cublasDgemv_v2", C.nv_cublasDgemv_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(m), C.int32_t(n),
		&calpha, C.uint64_t(a), C.int32_t(aStride), C.uint64_t(x), C.int32_t(incx), &cbeta, C.uint64_t(y), C.int32_t(incy)))
}

// Dgeam computes C = alpha op(A) + beta op(B) in float64; C is m by n.
func (b *BLAS) Dgeam(h BLASHandle, ta, tb Operation, m, n int, alpha float64, a DevicePtr, aStride int,
	beta float64, bp DevicePtr, bStride int, c DevicePtr, cStride int) error {
	calpha, cbeta := C.double(alpha), C.double(beta)
	return b.err("cublasDgeam", C.nv_cublasDgeam(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n),
		&calpha, C.uint64_t(a), C.int32_t(aStride), &cbeta, C.uint64_t(bp), C.int32_t(bStride), C.uint64_t(c), C.int32_t(cStride)))
}

// Dtrsm overwrites the m by n matrix B with the solution X of op(A) X = alpha B, or of X op(A) = alpha B
// (SideRight), in float64. A is triangular; its other triangle is not read.
func (b *BLAS) Dtrsm(h BLASHandle, side Side, uplo FillMode, ta Operation, diag Diagonal, m, n int, alpha float64, a DevicePtr, aStride int,
	bp DevicePtr, bStride int) error {
	calpha := C.double(alpha)
	return b.err("cublasDtrsm_v2", C.nv_cublasDtrsm_v2(b.t, C.uintptr_t(h), C.int32_t(side), C.int32_t(uplo), C.int32_t(ta), C.int32_t(diag),
		C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(aStride), C.uint64_t(bp), C.int32_t(bStride)))
}
