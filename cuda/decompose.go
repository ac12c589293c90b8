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
	from matrix
	wide bool
	// t is row-major p by rows, which is column-major rows by p, p <= rows.
	t   matrix
	exp int
	// norm is ||t||_F, or a bound of it where that of from is out of range.
	norm float64
}

// Matrices are scaled so that their squares are in range where their norm's
// exponent is beyond this.
const farExponent = 400

// upright copies a, which has elements.
func (w *scratch) upright(a matrix) (u upright) {
	u.from, u.wide = a, a.rows < a.cols
	u.t = w.matrix(min(a.rows, a.cols), max(a.rows, a.cols))
	w.fill(u)
	if u.exp, u.norm = w.extent(a, u.t); u.exp != 0 {
		w.fill(u)
	}
	return u
}

// fill writes u.
func (w *scratch) fill(u upright) {
	w.copyMatrix(!u.wide, u.from, u.t) // the memory of a wide row-major matrix is its transpose already
	if u.exp != 0 {
		// In two steps: a power of two below 2^-1022 is not exact.
		half, n, at := u.exp/2, u.t.rows*u.t.cols, kernels.Ptr(u.t.at)
		w.launch(kernels.Scale(kernels.Float64, n, math.Ldexp(1, -half), at),
			kernels.Scale(kernels.Float64, n, math.Ldexp(1, half-u.exp), at))
	}
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
func (w *scratch) decompose(u upright, vectors bool) (f factors) {
	rows, p := u.t.cols, u.t.rows
	if p == 1 {
		return w.column(u, vectors)
	}
	jobs := byte(nv.JobNone)
	if vectors {
		jobs = nv.JobSome
		f.ut, f.v = w.matrix(p, rows), w.matrix(p, p)
	}
	w.solve(func(lib *nv.Solver, h nv.SolverHandle) error {
		size, err := lib.DgesvdBufferSize(h, rows, p)
		if err != nil {
			return err
		}
		room := w.floats(size)
		f.values = w.floats(p + 1) // and the status
		info := f.values + nv.DevicePtr(8*p)
		if w.err != nil {
			return w.err
		}
		tried := false
		return w.q.again(func() error { // it has memory of its own too
			if tried {
				w.fill(u) // what it may have destroyed
			}
			if tried = true; w.err != nil {
				return w.err
			}
			return lib.Dgesvd(h, jobs, jobs, rows, p, u.t.at, rows, f.values, f.ut.at, rows, f.v.at, p, room, size, 0, info)
		})
	})
	got := make([]float64, p+1)
	w.read(bytesOf(got), f.values)
	f.s = got[:p]
	w.status("cusolverDnDgesvd", int32(math.Float64bits(got[p])))
	return f
}

// column is decompose for a single column: V is 1 and U the column by its norm, or the first unit
// vector. cuSOLVER has been seen to leave 0 for V of it (TensorFlow's svd_op_gpu.cu.cc).
func (w *scratch) column(u upright, vectors bool) (f factors) {
	k := kernels.Norm{N: u.t.cols, X: kernels.Ptr(u.t.at)}
	f.s, f.values = make([]float64, 1), w.floats(1+k.PartLen())
	k.Out, k.Part = kernels.Ptr(f.values), kernels.Ptr(f.values).At(1, 8)
	w.launch(k.Launches()...)
	w.read(bytesOf(f.s), f.values)
	if !vectors {
		return f
	}
	f.ut, f.v = u.t, w.matrix(1, 1)
	w.launch(kernels.Fill(kernels.Float64, 1, 1, kernels.Ptr(f.v.at)))
	if f.s[0] > 0 {
		w.launch(kernels.Scale(kernels.Float64, u.t.cols, 1/f.s[0], kernels.Ptr(u.t.at)))
	} else {
		w.launch(kernels.Fill(kernels.Float64, 1, 1, kernels.Ptr(u.t.at)))
	}
	return f
}

// status reads what a routine of cuSOLVER says.
func (w *scratch) status(routine string, info int32) {
	w.do(func() error {
		switch {
		case info > 0:
			return &backend.ConvergenceError{Op: w.op}
		case info < 0:
			return fmt.Errorf("%s: %s says that its argument %d is wrong", w.op, routine, -info)
		}
		return nil
	})
}

// extent returns the exponent of the norm of a where it is far from 0, and the norm of a divided by 2^exp; an element
// that is not finite is an error. dup holds the same elements without room between them.
func (w *scratch) extent(a, dup matrix) (exp int, norm float64) {
	k := kernels.Norm{N: dup.rows * dup.cols, X: kernels.Ptr(dup.at)}
	room := w.floats(2 + k.PartLen())
	first := kernels.Ptr(room)
	k.Out, k.Part = first.At(1, 8), first.At(2, 8)
	w.set(room, 0xff, 1)
	w.launch(append(k.Launches(), kernels.FindNonFinite(a.rows, a.cols, a.place(), first))...)
	var got struct {
		bad  uint64
		norm float64
	}
	w.read(bytesOf(unsafe.Slice(&got, 1)), room)
	switch _, exp := math.Frexp(got.norm); {
	case w.err != nil:
		return 0, 0
	case got.bad != math.MaxUint64:
		w.err = &backend.NonFiniteError{Op: w.op, Row: int(got.bad) / a.cols, Col: int(got.bad) % a.cols}
		return 0, 0
	case math.IsInf(got.norm, 1): // of numbers whose norm is out of range
		return 1024, math.Sqrt(float64(k.N))
	case exp > -farExponent && exp < farExponent:
		return 0, got.norm
	default:
		return exp, math.Ldexp(got.norm, -exp)
	}
}

// rank is the number of singular values above the cut-off.
func (f *factors) rank(rcond float64) int {
	kept := 0
	for kept < len(f.s) && f.s[kept] > rcond*f.s[0] {
		kept++
	}
	return kept
}
