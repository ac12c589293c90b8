package pipeline

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// targetRows are the n target samples as the head sees them: the rows X, d wide,
// less their mean, and an orthonormal basis Q (n by r) of their column space in
// which XX'/t is diagonal, t = tr XX'/n. They are the same in every round, so
// one decomposition serves all heads.
type targetRows struct {
	rows  []int32 // in the target's pool
	x     *mat.Dense
	mean  []float64
	trace float64 // t
	q     *mat.Dense
	value []float64 // of XX'/t, r numbers
}

// newTargetRows takes x over.
func newTargetRows(x *mat.Dense) (*targetRows, error) {
	n, d := x.Dims()
	t := &targetRows{x: x, mean: centreDense(x)}
	t.trace = meanSquareNorm(x)
	unit := 1.0
	if t.trace > 0 {
		unit = 1 / t.trace
	}
	gram := mat.NewSymDense(min(n, d), nil)
	if n <= d {
		gram.SymOuterK(unit, x)
	} else {
		gram.SymOuterK(unit, x.T())
	}
	var e mat.EigenSym
	if !e.Factorize(gram, true) {
		return nil, fmt.Errorf("the decomposition of the %d target samples did not converge", n)
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values := e.Values(nil) // ascending
	if n <= d {
		for i, v := range values {
			values[i] = max(0, v)
		}
		t.q, t.value = &vectors, values
		return t, nil
	}
	if t.trace == 0 { // no features: a basis of nothing
		t.q, t.value = mat.NewDense(n, 1, nil), []float64{0}
		return t, nil
	}
	// Q = X V (V'X'XV)^-1/2 without the directions in which X is nothing but rounding.
	at := 0
	for at < d-1 && values[at] <= 1e-10*values[d-1] {
		at++
	}
	t.value = values[at:]
	t.q = mat.NewDense(n, d-at, nil)
	t.q.Mul(x, vectors.Slice(0, d, at, d))
	for j, v := range t.value {
		scaleColumn(t.q, j, math.Sqrt(unit/v))
	}
	return t, orthonormalize(t.q)
}

// orthonormalize makes columns orthonormal to rounding that are so by a millionth: what
// lambda 1e-6 divides by must be.
func orthonormalize(q *mat.Dense) error {
	_, r := q.Dims()
	gram := mat.NewSymDense(r, nil)
	gram.SymOuterK(1, q.T())
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		return errBasis
	}
	var upper mat.TriDense
	var rows mat.Dense
	chol.UTo(&upper)
	if err := rows.Solve(upper.T(), q.T()); err != nil {
		return errBasis
	}
	q.Copy(rows.T())
	return nil
}

var errBasis = errors.New("the decomposition of the target's features did not converge")

// spanWith returns Q and the eigenvalues with columns beside them for what of the columns
// of a is outside of Q.
func (t *targetRows) spanWith(a *mat.Dense) (*mat.Dense, []float64, error) {
	n, r := t.q.Dims()
	if r == n {
		return t.q, t.value, nil
	}
	var in, out mat.Dense
	in.Mul(t.q.T(), a)
	out.Mul(t.q, &in)
	out.Sub(a, &out)
	var svd mat.SVD
	if !svd.Factorize(&out, mat.SVDThin) {
		return nil, nil, errBasis
	}
	var u mat.Dense
	svd.UTo(&u)
	more, floor := 0, 1e-9*mat.Norm(a, 2)
	for values := svd.Values(nil); more < min(len(values), n-r) && values[more] > floor; {
		more++
	}
	if more == 0 {
		return t.q, t.value, nil
	}
	// What is outside can be no more than the rounding of a to float32, and is orthogonal to q up to the rounding of a.
	beside := mat.DenseCopyOf(u.Slice(0, n, 0, more))
	in.Reset()
	in.Mul(t.q.T(), beside)
	out.Reset()
	out.Mul(t.q, &in)
	beside.Sub(beside, &out)
	if err := orthonormalize(beside); err != nil {
		return nil, nil, err
	}
	var wide mat.Dense
	wide.Augment(t.q, beside)
	return &wide, append(t.value[:r:r], make([]float64, more)...), nil
}

// thinQR returns P with orthonormal columns and R with m = P R. P is nil for the identity,
// which it is where m has no more rows than columns.
func thinQR(m *mat.Dense) (p, r *mat.Dense) {
	rows, cols := m.Dims()
	if rows <= cols {
		return nil, m
	}
	p, r = mat.DenseCopyOf(m), mat.NewDense(cols, cols, nil)
	tau, work := make([]float64, cols), make([]float64, 32*cols) // of 32 columns at a time
	lapack64.Geqrf(p.RawMatrix(), tau, work, len(work))
	for i := range cols {
		copy(r.RawRowView(i)[i:], p.RawRowView(i)[i:])
	}
	lapack64.Orgqr(p.RawMatrix(), tau, work, len(work))
	return p, r
}

// centreDense takes the mean of each column from it and returns the means.
func centreDense(x *mat.Dense) []float64 {
	n, d := x.Dims()
	mean := make([]float64, d)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] -= mean[j]
		}
	}
	return mean
}

// meanSquareNorm is the mean over rows of their squared norms.
func meanSquareNorm(x *mat.Dense) float64 {
	n, _ := x.Dims()
	sum := 0.0
	for i := range n {
		v := x.RawRowView(i)
		sum += dot(v, v)
	}
	return sum / float64(n)
}

func scaleColumn(x *mat.Dense, j int, by float64) {
	n, _ := x.Dims()
	for i := range n {
		x.Set(i, j, by*x.At(i, j))
	}
}

func scaleRow(x *mat.Dense, i int, by float64) {
	row := x.RawRowView(i)
	for j := range row {
		row[j] *= by
	}
}
