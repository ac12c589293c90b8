//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo noescape nv_cublasDaxpy_v2
// #cgo nocallback nv_cublasDaxpy_v2
// #cgo noescape nv_cublasDgeam
// #cgo nocallback nv_cublasDgeam
// #cgo noescape nv_cublasDgemmStridedBatched
// #cgo nocallback nv_cublasDgemmStridedBatched
// #cgo noescape nv_cublasDgemm_v2
// #cgo nocallback nv_cublasDgemm_v2
// #cgo noescape nv_cublasDgemm_v2_64
// #cgo nocallback nv_cublasDgemm_v2_64
// #cgo noescape nv_cublasDgemv_v2
// #cgo nocallback nv_cublasDgemv_v2
// #cgo noescape nv_cublasDscal_v2
// #cgo nocallback nv_cublasDscal_v2
// #cgo noescape nv_cublasDsyrk_v2
// #cgo nocallback nv_cublasDsyrk_v2
// #cgo noescape nv_cublasDtrsm_v2
// #cgo nocallback nv_cublasDtrsm_v2
// #include "nv.h"
import "C"

// Dgemm computes C = alpha op(A) op(B) + beta C in float64; op(A) is m by k and op(B) k by n.
func (b *BLAS) Dgemm(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, lda int, bp DevicePtr, ldb int, beta float64, c DevicePtr, ldc int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgemm_v2", C.nv_cublasDgemm_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(bp), C.int32_t(ldb), &cbeta, C.uint64_t(c), C.int32_t(ldc)))
}

// Dgemm64 is Dgemm with 64-bit sizes. The function is optional.
func (b *BLAS) Dgemm64(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, lda int, bp DevicePtr, ldb int, beta float64, c DevicePtr, ldc int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgemm_v2_64", C.nv_cublasDgemm_v2_64(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int64_t(m), C.int64_t(n), C.int64_t(k), &calpha, C.uint64_t(a), C.int64_t(lda), C.uint64_t(bp), C.int64_t(ldb), &cbeta, C.uint64_t(c), C.int64_t(ldc)))
}

// DgemmStridedBatched is Dgemm for batch matrices whose starts are sa, sb and sc elements apart.
func (b *BLAS) DgemmStridedBatched(h BLASHandle, ta, tb Operation, m, n, k int, alpha float64, a DevicePtr, lda int, sa int64, bp DevicePtr, ldb int, sb int64, beta float64, c DevicePtr, ldc int, sc int64, batch int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgemmStridedBatched", C.nv_cublasDgemmStridedBatched(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), C.int64_t(sa), C.uint64_t(bp), C.int32_t(ldb), C.int64_t(sb), &cbeta, C.uint64_t(c), C.int32_t(ldc), C.int64_t(sc), C.int32_t(batch)))
}

// Dgemv computes y = alpha op(A) x + beta y in float64; A is m by n.
func (b *BLAS) Dgemv(h BLASHandle, ta Operation, m, n int, alpha float64, a DevicePtr, lda int, x DevicePtr, incx int, beta float64, y DevicePtr, incy int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgemv_v2", C.nv_cublasDgemv_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(x), C.int32_t(incx), &cbeta, C.uint64_t(y), C.int32_t(incy)))
}

// Dsyrk computes the triangle uplo of C = alpha op(A) op(A)^T + beta C in float64; op(A) is n by k. The function is optional.
func (b *BLAS) Dsyrk(h BLASHandle, uplo FillMode, trans Operation, n, k int, alpha float64, a DevicePtr, lda int, beta float64, c DevicePtr, ldc int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDsyrk_v2", C.nv_cublasDsyrk_v2(b.t, C.uintptr_t(h), C.int32_t(uplo), C.int32_t(trans), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), &cbeta, C.uint64_t(c), C.int32_t(ldc)))
}

// Dtrsm overwrites the m by n matrix B with alpha op(A)^-1 B, or alpha B op(A)^-1 for SideRight, in float64; A is triangular. The function is optional.
func (b *BLAS) Dtrsm(h BLASHandle, side Side, uplo FillMode, trans Operation, diag Diag, m, n int, alpha float64, a DevicePtr, lda int, bp DevicePtr, ldb int) error {
	calpha := C.double(alpha)
	return b.err("cublasDtrsm_v2", C.nv_cublasDtrsm_v2(b.t, C.uintptr_t(h), C.int32_t(side), C.int32_t(uplo), C.int32_t(trans), C.int32_t(diag), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(bp), C.int32_t(ldb)))
}

// Daxpy adds alpha x to y in float64.
func (b *BLAS) Daxpy(h BLASHandle, n int, alpha float64, x DevicePtr, incx int, y DevicePtr, incy int) error {
	calpha := C.double(alpha)
	return b.err("cublasDaxpy_v2", C.nv_cublasDaxpy_v2(b.t, C.uintptr_t(h), C.int32_t(n), &calpha, C.uint64_t(x), C.int32_t(incx), C.uint64_t(y), C.int32_t(incy)))
}

// Dscal multiplies x by alpha in float64.
func (b *BLAS) Dscal(h BLASHandle, n int, alpha float64, x DevicePtr, incx int) error {
	calpha := C.double(alpha)
	return b.err("cublasDscal_v2", C.nv_cublasDscal_v2(b.t, C.uintptr_t(h), C.int32_t(n), &calpha, C.uint64_t(x), C.int32_t(incx)))
}

// Dnrm2 writes the Euclidean norm of x to result, a float64.
func (b *BLAS) Dnrm2(h BLASHandle, n int, x DevicePtr, incx int, result DevicePtr) error {
	return b.err("cublasDnrm2_v2", C.nv_cublasDnrm2_v2(b.t, C.uintptr_t(h), C.int32_t(n), C.uint64_t(x), C.int32_t(incx), C.uint64_t(result)))
}

// Ddot writes x^T y to result, a float64.
func (b *BLAS) Ddot(h BLASHandle, n int, x DevicePtr, incx int, y DevicePtr, incy int, result DevicePtr) error {
	return b.err("cublasDdot_v2", C.nv_cublasDdot_v2(b.t, C.uintptr_t(h), C.int32_t(n), C.uint64_t(x), C.int32_t(incx), C.uint64_t(y), C.int32_t(incy), C.uint64_t(result)))
}

// Ddgmm computes C = diag(x) A, or A diag(x) for SideRight, in float64; A and C are m by n and may be the same.
func (b *BLAS) Ddgmm(h BLASHandle, side Side, m, n int, a DevicePtr, lda int, x DevicePtr, incx int, c DevicePtr, ldc int) error {
	return b.err("cublasDdgmm", C.nv_cublasDdgmm(b.t, C.uintptr_t(h), C.int32_t(side), C.int32_t(m), C.int32_t(n), C.uint64_t(a), C.int32_t(lda), C.uint64_t(x), C.int32_t(incx), C.uint64_t(c), C.int32_t(ldc)))
}

// Dgeam computes C = alpha op(A) + beta op(B) in float64; C is m by n.
func (b *BLAS) Dgeam(h BLASHandle, ta, tb Operation, m, n int, alpha float64, a DevicePtr, lda int, beta float64, bp DevicePtr, ldb int, c DevicePtr, ldc int) error {
	calpha := C.double(alpha)
	cbeta := C.double(beta)
	return b.err("cublasDgeam", C.nv_cublasDgeam(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), &cbeta, C.uint64_t(bp), C.int32_t(ldb), C.uint64_t(c), C.int32_t(ldc)))
}
