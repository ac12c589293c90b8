//go:build linux && cgo && (amd64 || arm64)

package nv

// #include "nv.h"
import "C"

// The methods of this file work where HasJacobi is true.

// CreateGesvdjInfo makes the settings of Dgesvdj.
func (s *Solver) CreateGesvdjInfo() (GesvdjInfo, error) {
	var p C.uintptr_t
	err := s.err("cusolverDnCreateGesvdjInfo", C.nv_cusolverDnCreateGesvdjInfo(s.t, &p))
	return GesvdjInfo(p), err
}

// DestroyGesvdjInfo destroys them.
func (s *Solver) DestroyGesvdjInfo(p GesvdjInfo) error {
	return s.err("cusolverDnDestroyGesvdjInfo", C.nv_cusolverDnDestroyGesvdjInfo(s.t, C.uintptr_t(p)))
}

// XgesvdjSetTolerance sets the residual at which Dgesvdj stops.
func (s *Solver) XgesvdjSetTolerance(p GesvdjInfo, tolerance float64) error {
	return s.err("cusolverDnXgesvdjSetTolerance", C.nv_cusolverDnXgesvdjSetTolerance(s.t, C.uintptr_t(p), C.double(tolerance)))
}

// XgesvdjSetMaxSweeps bounds the sweeps.
func (s *Solver) XgesvdjSetMaxSweeps(p GesvdjInfo, sweeps int) error {
	return s.err("cusolverDnXgesvdjSetMaxSweeps", C.nv_cusolverDnXgesvdjSetMaxSweeps(s.t, C.uintptr_t(p), C.int32_t(sweeps)))
}

// XgesvdjSetSortEig chooses whether singular values are sorted, which is the default.
func (s *Solver) XgesvdjSetSortEig(p GesvdjInfo, sorted bool) error {
	var v C.int32_t
	if sorted {
		v = 1
	}
	return s.err("cusolverDnXgesvdjSetSortEig", C.nv_cusolverDnXgesvdjSetSortEig(s.t, C.uintptr_t(p), v))
}

// XgesvdjGetSweeps returns the sweeps of the last Dgesvdj. It waits for it.
func (s *Solver) XgesvdjGetSweeps(h SolverHandle, p GesvdjInfo) (int, error) {
	var v C.int32_t
	err := s.err("cusolverDnXgesvdjGetSweeps", C.nv_cusolverDnXgesvdjGetSweeps(s.t, C.uintptr_t(h), C.uintptr_t(p), &v))
	return int(v), err
}

// XgesvdjGetResidual returns the residual of the last Dgesvdj. It waits for it.
func (s *Solver) XgesvdjGetResidual(h SolverHandle, p GesvdjInfo) (float64, error) {
	var v C.double
	err := s.err("cusolverDnXgesvdjGetResidual", C.nv_cusolverDnXgesvdjGetResidual(s.t, C.uintptr_t(h), C.uintptr_t(p), &v))
	return float64(v), err
}

// DgesvdjBufferSize returns the float64s of workspace that Dgesvdj needs.
func (s *Solver) DgesvdjBufferSize(h SolverHandle, jobz Jobz, econ bool, m, n int, a DevicePtr, lda int, sv, u DevicePtr, ldu int, v DevicePtr, ldv int, p GesvdjInfo) (int, error) {
	var l C.int32_t
	err := s.err("cusolverDnDgesvdj_bufferSize", C.nv_cusolverDnDgesvdj_bufferSize(s.t, C.uintptr_t(h), C.int32_t(jobz), truth(econ), C.int32_t(m), C.int32_t(n),
		C.uint64_t(a), C.int32_t(lda), C.uint64_t(sv), C.uint64_t(u), C.int32_t(ldu), C.uint64_t(v), C.int32_t(ldv), &l, C.uintptr_t(p)))
	return int(l), err
}

// Dgesvdj computes A = U diag(S) V^T for A m by n by Jacobi rotations, and destroys
// A. It gives V, not V^T; econ asks for min(m, n) columns of each. A positive info
// is min(m, n) + 1 and says that the sweeps were used up.
func (s *Solver) Dgesvdj(h SolverHandle, jobz Jobz, econ bool, m, n int, a DevicePtr, lda int, sv, u DevicePtr, ldu int, v DevicePtr, ldv int,
	work DevicePtr, lwork int, info DevicePtr, p GesvdjInfo) error {
	return s.err("cusolverDnDgesvdj", C.nv_cusolverDnDgesvdj(s.t, C.uintptr_t(h), C.int32_t(jobz), truth(econ), C.int32_t(m), C.int32_t(n),
		C.uint64_t(a), C.int32_t(lda), C.uint64_t(sv), C.uint64_t(u), C.int32_t(ldu), C.uint64_t(v), C.int32_t(ldv),
		C.uint64_t(work), C.int32_t(lwork), C.uint64_t(info), C.uintptr_t(p)))
}

func truth(b bool) C.int32_t {
	if b {
		return 1
	}
	return 0
}
