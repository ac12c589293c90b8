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

// upright holds a float64 copy of a matrix in the layout of cuSOLVER, whose matrices are
// column-major and have at least as many rows as columns: a copy of the matrix itself, or of its
// transpose where it is wide. The elements are divided by 2^exp.
type upright struct {
	from matrix
	wide bool
	// t is row-major p by rows, which is column-major rows by p, p <= rows.
	t   matrix
	exp int
	// norm is ||t||_F, or an upper bound of it where the norm of from overflows.
	norm float64
}

// farExponent is the magnitude of the norm's binary exponent from which a matrix is scaled, so that
// squares of its elements stay in range.
const farExponent = 400

// upright returns a scaled copy of A, which must not be empty, in the layout of cuSOLVER.
func (w *scratch) upright(a matrix) (u upright) {
	u.from, u.wide = a, a.rows < a.cols
	u.t = w.matrix(min(a.rows, a.cols), max(a.rows, a.cols))
	w.fill(u)
	if u.exp, u.norm = w.extent(a, u.t); u.exp != 0 {
		w.fill(u)
	}
	return u
}

// fill copies the elements of u.from to u.t and divides them by 2^u.exp.
func (w *scratch) fill(u upright) {
	w.copyMatrix(!u.wide, u.from, u.t) // the row-major memory of a wide matrix is its transpose in column-major order
	if u.exp != 0 {
		// In two steps: 2^-exp alone may be out of the range of float64.
		half, n, at := u.exp/2, u.t.rows*u.t.cols, kernels.Ptr(u.t.at)
		w.launch(kernels.Scale(kernels.Float64, n, math.Ldexp(1, -half), at),
			kernels.Scale(kernels.Float64, n, math.Ldexp(1, half-u.exp), at))
	}
}

// factors is the thin singular value decomposition U diag(s) V' of an upright matrix: ut is U', p
// by rows, and v is V, p by p.
type factors struct {
	ut, v  matrix
	s      []float64
	values nv.DevicePtr // s on the device
}

// decompose returns the singular value decomposition of u and destroys u.t. It computes U and V
// only if vectors is set.
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
		f.values = w.floats(p + 1) // one more for the status
		info := f.values + nv.DevicePtr(8*p)
		if w.err != nil {
			return w.err
		}
		tried := false
		return w.q.again(func() error { // cuSOLVER allocates memory of its own too
			if tried {
				w.fill(u) // the failed call may have destroyed it
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

// column is decompose for a single column: V is 1, and U is the column divided by its norm, or the
// first unit vector where the norm is 0. cuSOLVER has been seen to leave V at 0 for one column
// (TensorFlow's svd_op_gpu.cu.cc).
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

// status sets w.err where the info of a cuSOLVER routine reports a failure.
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

// extent returns exp, the binary exponent of ||A||_F where its magnitude is at least farExponent,
// else 0, and norm = ||A||_F / 2^exp. dup holds the same elements contiguously. An element that is
// not finite is an error.
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
	case math.IsInf(got.norm, 1): // the elements are finite but the norm overflows: an upper bound
		return 1024, math.Sqrt(float64(k.N))
	case exp > -farExponent && exp < farExponent:
		return 0, got.norm
	default:
		return exp, math.Ldexp(got.norm, -exp)
	}
}

// rank returns the number of singular values above rcond times the largest.
func (f *factors) rank(rcond float64) int {
	kept := 0
	for kept < len(f.s) && f.s[kept] > rcond*f.s[0] {
		kept++
	}
	return kept
}
