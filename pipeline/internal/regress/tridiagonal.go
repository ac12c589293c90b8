package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Tridiagonal is the matrix Q T Q' for Q, n by r with orthonormal columns, and a T that is tridiagonal and has no negative eigenvalue.
// Solving a system of T + mu I takes work of order r, as it would with the eigenvalues of T, which take several times the work to find.
type Tridiagonal struct {
	Q            *mat.Dense
	main, beside []float64 // diagonal (r numbers) and off-diagonal (r - 1) of T
}

// Tridiagonalize reduces a matrix without negative eigenvalues to tridiagonal form (Householder; Golub and Van Loan 2013, section 8.3).
func Tridiagonalize(a *mat.SymDense) Tridiagonal {
	r := a.SymmetricDim()
	t := Tridiagonal{Q: mat.DenseCopyOf(a), main: make([]float64, r), beside: make([]float64, r-1)}
	q, tau, work := t.Q.RawMatrix(), make([]float64, r-1), make([]float64, 32*r) // for blocks of 32 columns
	var impl gonum.Implementation
	impl.Dsytrd(blas.Lower, r, q.Data, q.Stride, t.main, t.beside, tau, work, len(work))
	impl.Dorgtr(blas.Lower, r, q.Data, q.Stride, tau, work, len(work))
	return t
}

// with returns the matrix with a wider Q, whose span contains the columns of a; T is 0 for the columns that are added.
func (t Tridiagonal) with(a *mat.Dense) (Tridiagonal, error) {
	n, r := t.Q.Dims()
	if r == n {
		return t, nil
	}
	var in, out mat.Dense
	in.Mul(t.Q.T(), a)
	out.Mul(t.Q, &in)
	out.Sub(a, &out)
	var svd mat.SVD
	if !svd.Factorize(&out, mat.SVDThin) {
		return t, linalg.ErrBasis
	}
	var u mat.Dense
	svd.UTo(&u)
	more, floor := 0, 1e-9*mat.Norm(a, 2)
	for values := svd.Values(nil); more < min(len(values), n-r) && values[more] > floor; {
		more++
	}
	if more == 0 {
		return t, nil
	}
	// The part of a outside of Q can be as small as the rounding of a to float32, and is orthogonal to Q only up to the rounding of a.
	beside := mat.DenseCopyOf(u.Slice(0, n, 0, more))
	in.Reset()
	in.Mul(t.Q.T(), beside)
	out.Reset()
	out.Mul(t.Q, &in)
	beside.Sub(beside, &out)
	if err := linalg.Orthonormalize(beside); err != nil {
		return t, err
	}
	var wide mat.Dense
	wide.Augment(t.Q, beside)
	none := make([]float64, more)
	return Tridiagonal{&wide, slices.Concat(t.main, none), slices.Concat(t.beside, none)}, nil
}

// shift is a mu above 0 with the Cholesky factor L of T + mu I = L L', which is bidiagonal: the inverses of its
// diagonal, and the numbers below it.
type shift struct {
	Mu             float64
	inverse, below []float64
}

// Shift factorises T + mu I.
func (t *Tridiagonal) Shift(mu float64) shift {
	s := shift{mu, make([]float64, len(t.main)), make([]float64, len(t.beside))}
	last := 0.0
	for j, v := range t.main {
		s.inverse[j] = 1 / math.Sqrt(max(mu, v+mu-last*last)) // without rounding the pivot is at least mu
		if j < len(t.beside) {
			last = t.beside[j] * s.inverse[j]
			s.below[j] = last
		}
	}
	return s
}

// logDet returns the log-determinant of Q T Q' + mu I, where Q has r + more rows and r columns.
func (s shift) logDet(more int) float64 {
	sum := float64(more) * math.Log(s.Mu)
	for _, v := range s.inverse {
		sum -= 2 * math.Log(v)
	}
	return sum
}

// Lower overwrites x with L^-1 x.
func (s shift) Lower(x []float64) {
	last := x[0] * s.inverse[0]
	x[0] = last
	for j, v := range s.below {
		last = (x[j+1] - v*last) * s.inverse[j+1]
		x[j+1] = last
	}
}

// Upper overwrites x with L'^-1 x.
func (s shift) Upper(x []float64) {
	at := len(s.below)
	last := x[at] * s.inverse[at]
	x[at] = last
	for j, v := range slices.Backward(s.below) {
		last = (x[j] - v*last) * s.inverse[j]
		x[j] = last
	}
}

// InverseTrace returns the trace of (T + mu I)^-1.
func (s shift) InverseTrace() float64 {
	sum, next := 0.0, 0.0
	for j, v := range slices.Backward(s.inverse) {
		by := 0.0
		if j < len(s.below) {
			by = s.below[j]
		}
		next = v * v * (1 + by*by*next)
		sum += next
	}
	return sum
}

// Divide returns y'(Q T Q' + mu I)^-1, given y', whose rows have n elements.
func (t *Tridiagonal) Divide(s shift, y *mat.Dense) *mat.Dense {
	var inside, out, beside mat.Dense
	inside.Mul(y, t.Q)
	for i := range inside.RawMatrix().Rows {
		row := inside.RawRowView(i)
		outside := floats.ScaleTo(make([]float64, len(row)), 1/s.Mu, row)
		s.Lower(row)
		s.Upper(row)
		floats.Sub(row, outside)
	}
	out.Mul(&inside, t.Q.T())
	beside.Scale(1/s.Mu, y)
	out.Add(&out, &beside)
	return &out
}

// inverseDiagonal returns the diagonal of (Q T Q' + mu I)^-1. For a row q of Q the element is |L^-1 q|^2 + (1 - |q|^2) / mu.
func (t *Tridiagonal) inverseDiagonal(s shift) []float64 {
	n, r := t.Q.Dims()
	out := make([]float64, n)
	for i := 0; i < n; i += 3 { // three rows at a time, the last one repeated: within a row each number waits for the one before
		i1, i2 := min(i+1, n-1), min(i+2, n-1)
		q0, q1, q2 := t.Q.RawRowView(i)[:r], t.Q.RawRowView(i1)[:r], t.Q.RawRowView(i2)[:r]
		var whole0, whole1, whole2, last0, last1, last2, sum0, sum1, sum2, below float64
		for j, inverse := range s.inverse[:r] {
			if j > 0 {
				below = s.below[j-1]
			}
			v0, v1, v2 := q0[j], q1[j], q2[j]
			last0, last1, last2 = (v0-below*last0)*inverse, (v1-below*last1)*inverse, (v2-below*last2)*inverse
			whole0, whole1, whole2 = whole0+v0*v0, whole1+v1*v1, whole2+v2*v2
			sum0, sum1, sum2 = sum0+last0*last0, sum1+last1*last1, sum2+last2*last2
		}
		out[i] = sum0 + max(0, 1-whole0)/s.Mu
		out[i1], out[i2] = sum1+max(0, 1-whole1)/s.Mu, sum2+max(0, 1-whole2)/s.Mu
	}
	return out
}
