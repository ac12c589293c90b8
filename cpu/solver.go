package cpu

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"

	"github.com/amtrl/amtrl/backend"
)

func (q *queue) SolveSPD(n, k, r int, a, b backend.Buffer) error {
	const op = "SolveSPD"
	c := q.checkNow(op)
	ao, bo := c.SolveSPD(n, k, r, a, b)
	if c.Err != nil {
		return c.Err
	}
	if n == 0 || k == 0 {
		return nil
	}
	var (
		mu    sync.Mutex
		first *backend.NotPositiveDefiniteError
	)
	as, bs := ao.Mem.f64, bo.Mem.f64
	q.dev.parallel(n, n*k*k*(k/6+r), func(i int) {
		factor := as[i*k*k : (i+1)*k*k]
		if order := cholesky(k, factor); order > 0 {
			mu.Lock()
			defer mu.Unlock()
			if first == nil || i < first.Block {
				first = &backend.NotPositiveDefiniteError{Op: op, Block: i, Order: order}
			}
			return
		}
		if r > 0 {
			choleskySolve(k, r, factor, bs[i*k*r:(i+1)*k*r])
		}
	})
	if first != nil {
		return first
	}
	return nil
}

// cholesky overwrites the lower triangle of the k by k matrix a with the Cholesky factor L, A = L L'. It returns the
// order of the first leading minor that is not positive, or 0. It goes row by row, so that every inner loop is a dot
// product of two rows.
func cholesky(k int, a []float64) (order int) {
	for i := range k {
		row := a[i*k : i*k+k]
		for j := range i {
			other := a[j*k : j*k+j+1]
			row[j] = (row[j] - floats.Dot(row[:j], other[:j])) / other[j]
		}
		pivot := row[i] - floats.Dot(row[:i], row[:i])
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return i + 1
		}
		row[i] = math.Sqrt(pivot)
	}
	return 0
}

// choleskySolve overwrites the k by r matrix b with the solution of L L' X = B.
func choleskySolve(k, r int, l, b []float64) {
	var impl gonum.Implementation
	if r == 1 {
		impl.Dtrsv(blas.Lower, blas.NoTrans, blas.NonUnit, k, l, k, b, 1)
		impl.Dtrsv(blas.Lower, blas.Trans, blas.NonUnit, k, l, k, b, 1)
		return
	}
	impl.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, k, r, 1, l, k, b, r)
	impl.Dtrsm(blas.Left, blas.Lower, blas.Trans, blas.NonUnit, k, r, 1, l, k, b, r)
}

func (q *queue) SVD(a, u backend.Matrix, s backend.Vector, vt backend.Matrix) error {
	const op = "SVD"
	c := q.checkNow(op)
	o := c.SVD(a, u, s, vt)
	ao, so, uo, vo, vectors := o.A, o.S, o.U, o.VT, o.Vectors
	if c.Err != nil {
		return c.Err
	}
	if err := finite(op, f64(ao)); err != nil {
		return err
	}
	f, err := decompose(op, f64(ao), vectors)
	if err != nil {
		return err
	}
	copy(f64(so).row(0), f.s)
	if vectors {
		copyRows(f64(uo), f.u)
		copyRows(f64(vo), f.vt)
	}
	return nil
}

func copyRows(dst, src dense[float64]) {
	for i := range dst.rows {
		copy(dst.row(i), src.row(i))
	}
}

// factors is a thin singular value decomposition A = U diag(s) V'.
type factors struct {
	u, vt dense[float64]
	s     []float64
}

func newDense(rows, cols int) dense[float64] {
	return dense[float64]{make([]float64, rows*cols), rows, cols, cols}
}

// finite returns an error for the first element that is a NaN or infinite.
func finite(op string, a dense[float64]) error {
	for i := range a.rows {
		for j, v := range a.row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return &backend.NonFiniteError{Op: op, Row: i, Col: j}
			}
		}
	}
	return nil
}

// decompose returns the singular value decomposition of a, without U and V' unless vectors is set. gonum may start
// goroutines, up to GOMAXPROCS; each block of its products is summed by one goroutine in order, so the bytes do not
// depend on their number.
func decompose(op string, a dense[float64], vectors bool) (factors, error) {
	m, n := a.rows, a.cols
	p := min(m, n)
	f := factors{s: make([]float64, p)}
	job := lapack.SVDNone
	if vectors {
		job = lapack.SVDStore
		f.u, f.vt = newDense(m, p), newDense(p, n)
	}
	if p == 0 {
		return f, nil
	}
	work := newDense(m, n)
	copyRows(work, a)
	var impl lapackgonum.Implementation
	size := [1]float64{}
	impl.Dgesvd(job, job, m, n, work.data, n, f.s, f.u.data, p, f.vt.data, n, size[:], -1)
	space := make([]float64, int(size[0]))
	if !impl.Dgesvd(job, job, m, n, work.data, n, f.s, f.u.data, p, f.vt.data, n, space, len(space)) {
		return f, &backend.ConvergenceError{Op: op}
	}
	return f, nil
}

// rank returns the number of singular values above rcond times the largest.
func (f *factors) rank(rcond float64) int {
	kept := 0
	for kept < len(f.s) && f.s[kept] > rcond*f.s[0] {
		kept++
	}
	return kept
}
