//go:build linux && cgo && (amd64 || arm64)

package nv

// #cgo noescape nv_cublasSaxpy_v2
// #cgo nocallback nv_cublasSaxpy_v2
// #cgo noescape nv_cublasSgeam
// #cgo nocallback nv_cublasSgeam
// #cgo noescape nv_cublasSgemmStridedBatched
// #cgo nocallback nv_cublasSgemmStridedBatched
// #cgo noescape nv_cublasSgemm_v2
// #cgo nocallback nv_cublasSgemm_v2
// #cgo noescape nv_cublasSgemm_v2_64
// #cgo nocallback nv_cublasSgemm_v2_64
// #cgo noescape nv_cublasSgemv_v2
// #cgo nocallback nv_cublasSgemv_v2
// #cgo noescape nv_cublasSscal_v2
// #cgo nocallback nv_cublasSscal_v2
// #cgo noescape nv_cublasSsyrk_v2
// #cgo nocallback nv_cublasSsyrk_v2
// #cgo noescape nv_cublasStrsm_v2
// #cgo nocallback nv_cublasStrsm_v2
// #include "nv.h"
import "C"

// Sgemm computes C = alpha op(A) op(B) + beta C in float32; op(A) is m by k and op(B) k by n.
func (b *BLAS) Sgemm(h BLASHandle, ta, tb Operation, m, n, k int, alpha float32, a DevicePtr, lda int, bp DevicePtr, ldb int, beta float32, c DevicePtr, ldc int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgemm_v2", C.nv_cublasSgemm_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(bp), C.int32_t(ldb), &cbeta, C.uint64_t(c), C.int32_t(ldc)))
}

// Sgemm64 is Sgemm with 64-bit sizes. The function is optional.
func (b *BLAS) Sgemm64(h BLASHandle, ta, tb Operation, m, n, k int, alpha float32, a DevicePtr, lda int, bp DevicePtr, ldb int, beta float32, c DevicePtr, ldc int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgemm_v2_64", C.nv_cublasSgemm_v2_64(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int64_t(m), C.int64_t(n), C.int64_t(k), &calpha, C.uint64_t(a), C.int64_t(lda), C.uint64_t(bp), C.int64_t(ldb), &cbeta, C.uint64_t(c), C.int64_t(ldc)))
}

// SgemmStridedBatched is Sgemm for batch matrices whose starts are sa, sb and sc elements apart.
func (b *BLAS) SgemmStridedBatched(h BLASHandle, ta, tb Operation, m, n, k int, alpha float32, a DevicePtr, lda int, sa int64, bp DevicePtr, ldb int, sb int64, beta float32, c DevicePtr, ldc int, sc int64, batch int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgemmStridedBatched", C.nv_cublasSgemmStridedBatched(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), C.int64_t(sa), C.uint64_t(bp), C.int32_t(ldb), C.int64_t(sb), &cbeta, C.uint64_t(c), C.int32_t(ldc), C.int64_t(sc), C.int32_t(batch)))
}

// Sgemv computes y = alpha op(A) x + beta y in float32; A is m by n.
func (b *BLAS) Sgemv(h BLASHandle, ta Operation, m, n int, alpha float32, a DevicePtr, lda int, x DevicePtr, incx int, beta float32, y DevicePtr, incy int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgemv_v2", C.nv_cublasSgemv_v2(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(x), C.int32_t(incx), &cbeta, C.uint64_t(y), C.int32_t(incy)))
}

// Ssyrk computes the triangle uplo of C = alpha op(A) op(A)^T + beta C in float32; op(A) is n by k. The function is optional.
func (b *BLAS) Ssyrk(h BLASHandle, uplo FillMode, trans Operation, n, k int, alpha float32, a DevicePtr, lda int, beta float32, c DevicePtr, ldc int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSsyrk_v2", C.nv_cublasSsyrk_v2(b.t, C.uintptr_t(h), C.int32_t(uplo), C.int32_t(trans), C.int32_t(n), C.int32_t(k), &calpha, C.uint64_t(a), C.int32_t(lda), &cbeta, C.uint64_t(c), C.int32_t(ldc)))
}

// Strsm overwrites the m by n matrix B with alpha op(A)^-1 B, or alpha B op(A)^-1 for SideRight, in float32; A is triangular. The function is optional.
func (b *BLAS) Strsm(h BLASHandle, side Side, uplo FillMode, trans Operation, diag Diag, m, n int, alpha float32, a DevicePtr, lda int, bp DevicePtr, ldb int) error {
	calpha := C.float(alpha)
	return b.err("cublasStrsm_v2", C.nv_cublasStrsm_v2(b.t, C.uintptr_t(h), C.int32_t(side), C.int32_t(uplo), C.int32_t(trans), C.int32_t(diag), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), C.uint64_t(bp), C.int32_t(ldb)))
}

// Saxpy adds alpha x to y in float32.
func (b *BLAS) Saxpy(h BLASHandle, n int, alpha float32, x DevicePtr, incx int, y DevicePtr, incy int) error {
	calpha := C.float(alpha)
	return b.err("cublasSaxpy_v2", C.nv_cublasSaxpy_v2(b.t, C.uintptr_t(h), C.int32_t(n), &calpha, C.uint64_t(x), C.int32_t(incx), C.uint64_t(y), C.int32_t(incy)))
}

// Sscal multiplies x by alpha in float32.
func (b *BLAS) Sscal(h BLASHandle, n int, alpha float32, x DevicePtr, incx int) error {
	calpha := C.float(alpha)
	return b.err("cublasSscal_v2", C.nv_cublasSscal_v2(b.t, C.uintptr_t(h), C.int32_t(n), &calpha, C.uint64_t(x), C.int32_t(incx)))
}

// Snrm2 writes the Euclidean norm of x to result, a float32.
func (b *BLAS) Snrm2(h BLASHandle, n int, x DevicePtr, incx int, result DevicePtr) error {
	return b.err("cublasSnrm2_v2", C.nv_cublasSnrm2_v2(b.t, C.uintptr_t(h), C.int32_t(n), C.uint64_t(x), C.int32_t(incx), C.uint64_t(result)))
}

// Sdot writes x^T y to result, a float32.
func (b *BLAS) Sdot(h BLASHandle, n int, x DevicePtr, incx int, y DevicePtr, incy int, result DevicePtr) error {
	return b.err("cublasSdot_v2", C.nv_cublasSdot_v2(b.t, C.uintptr_t(h), C.int32_t(n), C.uint64_t(x), C.int32_t(incx), C.uint64_t(y), C.int32_t(incy), C.uint64_t(result)))
}

// Sdgmm computes C = diag(x) A, or A diag(x) for SideRight, in float32; A and C are m by n and may be the same.
func (b *BLAS) Sdgmm(h BLASHandle, side Side, m, n int, a DevicePtr, lda int, x DevicePtr, incx int, c DevicePtr, ldc int) error {
	return b.err("cublasSdgmm", C.nv_cublasSdgmm(b.t, C.uintptr_t(h), C.int32_t(side), C.int32_t(m), C.int32_t(n), C.uint64_t(a), C.int32_t(lda), C.uint64_t(x), C.int32_t(incx), C.uint64_t(c), C.int32_t(ldc)))
}

// Sgeam computes C = alpha op(A) + beta op(B) in float32; C is m by n.
func (b *BLAS) Sgeam(h BLASHandle, ta, tb Operation, m, n int, alpha float32, a DevicePtr, lda int, beta float32, bp DevicePtr, ldb int, c DevicePtr, ldc int) error {
	calpha := C.float(alpha)
	cbeta := C.float(beta)
	return b.err("cublasSgeam", C.nv_cublasSgeam(b.t, C.uintptr_t(h), C.int32_t(ta), C.int32_t(tb), C.int32_t(m), C.int32_t(n), &calpha, C.uint64_t(a), C.int32_t(lda), &cbeta, C.uint64_t(bp), C.int32_t(ldb), C.uint64_t(c), C.int32_t(ldc)))
}
