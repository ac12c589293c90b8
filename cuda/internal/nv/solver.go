//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

import "cmp"

// Solver calls cuSOLVER's dense routines in float64. An info is an int32 on the device: 0 where the
// routine succeeded, negative for a wrong argument, positive for a failure that the routine's
// comment names.
type Solver struct{ binding }

func (s *Solver) err(op string, status C.int32_t) error {
	return s.failed(op, status, solverMeans, func() (string, string) { return cmp.Or(solverNames[int(status)], "CUSOLVER_STATUS"), "" })
}

// GetProperty returns one number of the version: 0 major, 1 minor, 2 patch.
func (s *Solver) GetProperty(property int) (int, error) {
	var v C.int32_t
	err := s.err("cusolverGetProperty", C.nv_cusolverGetProperty(s.t, C.int32_t(property), &v))
	return int(v), err
}

// Create makes a handle for the current context.
func (s *Solver) Create() (SolverHandle, error) {
	var h C.uintptr_t
	if err := s.err("cusolverDnCreate", C.nv_cusolverDnCreate(s.t, &h)); err != nil {
		return 0, err // cuSOLVER leaves a number in h even where it fails
	}
	return SolverHandle(h), nil
}

// Destroy destroys a handle.
func (s *Solver) Destroy(h SolverHandle) error {
	return s.err("cusolverDnDestroy", C.nv_cusolverDnDestroy(s.t, C.uintptr_t(h)))
}

// SetStream sets the stream.
func (s *Solver) SetStream(h SolverHandle, stream Stream) error {
	return s.err("cusolverDnSetStream", C.nv_cusolverDnSetStream(s.t, C.uintptr_t(h), C.uintptr_t(stream)))
}

// DgesvdBufferSize returns the size of the workspace of Dgesvd in float64s.
func (s *Solver) DgesvdBufferSize(h SolverHandle, m, n int) (int, error) {
	var l C.int32_t
	err := s.err("cusolverDnDgesvd_bufferSize", C.nv_cusolverDnDgesvd_bufferSize(s.t, C.uintptr_t(h), C.int32_t(m), C.int32_t(n), &l))
	return int(l), err
}

// Dgesvd computes A = U diag(S) V^T for an m by n matrix A, m >= n, by bidiagonalisation, and
// destroys A. S is in descending order. rwork, n - 1 float64s, may be 0. A positive info is the
// number of superdiagonals that did not converge.
func (s *Solver) Dgesvd(h SolverHandle, jobu, jobvt byte, m, n int, a DevicePtr, lda int, sv, u DevicePtr, ldu int, vt DevicePtr, ldvt int,
	work DevicePtr, lwork int, rwork, info DevicePtr) error {
	return s.err("cusolverDnDgesvd", C.nv_cusolverDnDgesvd(s.t, C.uintptr_t(h), C.int8_t(jobu), C.int8_t(jobvt), C.int32_t(m), C.int32_t(n),
		C.uint64_t(a), C.int32_t(lda), C.uint64_t(sv), C.uint64_t(u), C.int32_t(ldu), C.uint64_t(vt), C.int32_t(ldvt),
		C.uint64_t(work), C.int32_t(lwork), C.uint64_t(rwork), C.uint64_t(info)))
}

// DpotrfBufferSize returns the size of the workspace of Dpotrf in float64s.
func (s *Solver) DpotrfBufferSize(h SolverHandle, uplo FillMode, n int, a DevicePtr, lda int) (int, error) {
	var l C.int32_t
	err := s.err("cusolverDnDpotrf_bufferSize", C.nv_cusolverDnDpotrf_bufferSize(s.t, C.uintptr_t(h), C.int32_t(uplo), C.int32_t(n),
		C.uint64_t(a), C.int32_t(lda), &l))
	return int(l), err
}

// Dpotrf overwrites the triangle uplo of the symmetric A of order n with its
// Cholesky factor. A positive info is the order of a leading minor that is not
// positive definite.
func (s *Solver) Dpotrf(h SolverHandle, uplo FillMode, n int, a DevicePtr, lda int, work DevicePtr, lwork int, info DevicePtr) error {
	return s.err("cusolverDnDpotrf", C.nv_cusolverDnDpotrf(s.t, C.uintptr_t(h), C.int32_t(uplo), C.int32_t(n),
		C.uint64_t(a), C.int32_t(lda), C.uint64_t(work), C.int32_t(lwork), C.uint64_t(info)))
}

// Dpotrs overwrites the n by nrhs matrix B with the solution X of A X = B, from the Cholesky factor
// that Dpotrf left in A.
func (s *Solver) Dpotrs(h SolverHandle, uplo FillMode, n, nrhs int, a DevicePtr, lda int, b DevicePtr, ldb int, info DevicePtr) error {
	return s.err("cusolverDnDpotrs", C.nv_cusolverDnDpotrs(s.t, C.uintptr_t(h), C.int32_t(uplo), C.int32_t(n), C.int32_t(nrhs),
		C.uint64_t(a), C.int32_t(lda), C.uint64_t(b), C.int32_t(ldb), C.uint64_t(info)))
}
