//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/kernels"
)

// upright is a matrix, or its transpose where it is wide, laid out for cuSOLVER,
// which takes column-major matrices that are not wide. The elements are divided by
// 2^exp.
type upright struct {
	wide bool
	// t is row-major p by rows, which is column-major rows by p, p <= rows.
	t   matrix
	exp int
}

// Matrices are scaled so that their squares are in range where their norm's
// exponent is beyond this.
const farExponent = 400

// upright copies a, which has elements.
func (w *scratch) upright(a matrix) (u upright, err error) {
	u.wide = a.rows < a.cols
	rows, p := max(a.rows, a.cols), min(a.rows, a.cols)
	if u.t, err = w.matrix(p, rows); err != nil {
		return u, err
	}
	// The memory of a wide row-major matrix is its transpose already.
	e := emitter{q: w.q}
	if err := e.copyMatrix(!u.wide, a, u.t); err != nil {
		return u, err
	}
	if u.exp, err = w.extent(a, u.t); err != nil || u.exp == 0 {
		return u, err
	}
	// In two steps: a power of two below 2^-1022 is not exact.
	half := u.exp / 2
	n, at := rows*p, kernels.Ptr(u.t.at)
	return u, e.launch(kernels.Scale(kernels.Float64, n, math.Ldexp(1, -half), at),
		kernels.Scale(kernels.Float64, n, math.Ldexp(1, half-u.exp), at))
}

// factors is a thin singular value decomposition U diag(s) V' of an upright matrix:
// ut is U', p by rows, v is V, p by p.
type factors struct {
	ut, v  matrix
	s      []float64
	values nv.DevicePtr // s on the device
}

// decompose computes the decomposition of u and destroys it, without U and V
// unless vectors.
func (w *scratch) decompose(u upright, vectors bool) (f factors, err error) {
	rows, p := u.t.cols, u.t.rows
	f.s = make([]float64, p)
	jobs := byte(nv.JobNone)
	if vectors {
		jobs = nv.JobSome
		if f.ut, err = w.matrix(p, rows); err != nil {
			return f, err
		}
		if f.v, err = w.matrix(p, p); err != nil {
			return f, err
		}
	}
	return f, w.gesvd(jobs, rows, p, u.t.at, &f)
}

// gesvd decomposes the column-major rows by p matrix at a and reads s.
func (w *scratch) gesvd(jobs byte, rows, p int, a nv.DevicePtr, f *factors) error {
	lib := w.q.lib.Solver
	h, err := w.q.solverHandle()
	if err != nil {
		return err
	}
	work, err := lib.DgesvdBufferSize(h, rows, p)
	if err != nil {
		return err
	}
	room, err := w.floats(work)
	if err != nil {
		return err
	}
	values, err := w.floats(p + 1) // and the status
	if err != nil {
		return err
	}
	f.values = values
	info := values + nv.DevicePtr(8*p)
	if err := lib.Dgesvd(h, jobs, jobs, rows, p, a, rows, values, f.ut.at, rows, f.v.at, p, room, work, 0, info); err != nil {
		return err
	}
	got := make([]float64, p+1)
	if err := w.q.download(bytesOf(got), values); err != nil {
		return err
	}
	copy(f.s, got)
	return w.status("cusolverDnDgesvd", int32(math.Float64bits(got[p])))
}

// status reads what a routine of cuSOLVER says.
func (w *scratch) status(routine string, info int32) error {
	switch {
	case info > 0:
		return &backend.ConvergenceError{Op: w.op}
	case info < 0:
		return fmt.Errorf("%s: %s says that its argument %d is wrong", w.op, routine, -info)
	}
	return nil
}

// extent reports the exponent of the norm of a where it is far from 0, and which
// element is not finite. dup holds the same elements without room between them.
func (w *scratch) extent(a, dup matrix) (exp int, err error) {
	e := emitter{q: w.q}
	k := kernels.Norm{N: dup.rows * dup.cols, X: kernels.Ptr(dup.at)}
	room, err := w.floats(2 + k.PartLen())
	if err != nil {
		return 0, err
	}
	first := kernels.Ptr(room)
	k.Out, k.Part = first.At(1, 8), first.At(2, 8)
	if err := w.q.lib.Driver.MemsetD8Async(room, 0xff, 8, w.q.stream); err != nil {
		return 0, err
	}
	if err := e.launch(append(k.Launches(), kernels.FindNonFinite(a.rows, a.cols, kernels.Ptr(a.at), a.stride, first))...); err != nil {
		return 0, err
	}
	var got struct {
		bad  uint64
		norm float64
	}
	if err := w.q.download(bytesOf(unsafe.Slice(&got, 1)), room); err != nil {
		return 0, err
	}
	if got.bad != math.MaxUint64 {
		return 0, &backend.NonFiniteError{Op: w.op, Row: int(got.bad) / a.cols, Col: int(got.bad) % a.cols}
	}
	if math.IsInf(got.norm, 1) { // of numbers whose norm is out of range
		return 1024, nil
	}
	if _, exp = math.Frexp(got.norm); exp > -farExponent && exp < farExponent {
		return 0, nil
	}
	return exp, nil
}

// rank is the number of singular values above the cut-off.
func (f *factors) rank(rcond float64) int {
	kept := 0
	for kept < len(f.s) && f.s[kept] > rcond*f.s[0] {
		kept++
	}
	return kept
}
