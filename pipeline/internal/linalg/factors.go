package linalg

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// ThinQR returns P with orthonormal columns and R with m = P R. Where m has no more rows than columns, P is the identity,
// returned as nil, and R is m itself.
func ThinQR(m *mat.Dense) (p, r *mat.Dense) {
	rows, cols := m.Dims()
	if rows <= cols {
		return nil, m
	}
	p, r = mat.DenseCopyOf(m), mat.NewDense(cols, cols, nil)
	tau, work := make([]float64, cols), make([]float64, 32*cols) // for blocks of 32 columns
	lapack64.Geqrf(p.RawMatrix(), tau, work, len(work))
	for i := range cols {
		copy(r.RawRowView(i)[i:], p.RawRowView(i)[i:])
	}
	lapack64.Orgqr(p.RawMatrix(), tau, work, len(work))
	return p, r
}

// Orthonormalize makes the columns of q, which are orthonormal to a millionth, orthonormal to rounding, as a division by
// lambda = 1e-6 requires. It overwrites q with q R^-1 for q'q = R'R, and returns [ErrBasis] where q'q is not positive definite.
func Orthonormalize(q *mat.Dense) error {
	_, r := q.Dims()
	gram := mat.NewSymDense(r, nil)
	gram.SymOuterK(1, q.T())
	upper, ok := lapack64.Potrf(gram.RawSymmetric())
	if !ok {
		return ErrBasis
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, upper, q.RawMatrix())
	return nil
}

var ErrBasis = errors.New("the decomposition of the target's features did not converge")

// solvedTogether is the number of rows of a triangle that SolveTriangle takes at a time; what lies beside their own triangle is a
// product with a vector.
const solvedTogether = 24

// SolveTriangle overwrites v with R^-1 v, or with R'^-1 v if transposed. For an upper R of a few hundred rows it takes a fraction of
// the time of gonum's Trsv, whose loops are not vectorised.
func SolveTriangle(transposed blas.Transpose, r blas64.Triangular, v []float64) {
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }
	if r.Uplo != blas.Upper || r.Diag != blas.NonUnit {
		blas64.Trsv(transposed, r, vector(v))
		return
	}
	n := len(v)
	beside := func(lo, hi int) blas64.General {
		return blas64.General{Rows: hi - lo, Cols: n - hi, Stride: r.Stride, Data: r.Data[lo*r.Stride+hi:]}
	}
	if transposed == blas.NoTrans {
		for hi := n; hi > 0; {
			lo := max(0, hi-solvedTogether)
			if hi < n {
				blas64.Gemv(blas.NoTrans, -1, beside(lo, hi), vector(v[hi:]), 1, vector(v[lo:hi]))
			}
			for i := hi - 1; i >= lo; i-- {
				row := r.Data[i*r.Stride:][:hi]
				v[i] = (v[i] - Dot(row[i+1:], v[i+1:hi])) / row[i]
			}
			hi = lo
		}
		return
	}
	for lo := 0; lo < n; lo += solvedTogether {
		hi := min(lo+solvedTogether, n)
		for i := lo; i < hi; i++ {
			row := r.Data[i*r.Stride:][:hi]
			v[i] /= row[i]
			for j := i + 1; j < hi; j++ {
				v[j] -= v[i] * row[j]
			}
		}
		if hi < n {
			blas64.Gemv(blas.Trans, -1, beside(lo, hi), vector(v[lo:hi]), 1, vector(v[hi:]))
		}
	}
}

// Factor returns the upper Cholesky factor U of A = U'U and keeps A as it is; ok is false where A is not positive definite.
func Factor(a *mat.SymDense) (u blas64.Triangular, ok bool) {
	own := mat.NewSymDense(a.SymmetricDim(), nil)
	own.CopySym(a)
	return lapack64.Potrf(own.RawSymmetric())
}

// Root returns L, K by max(1, r), with L L' = W W', and the rank r of W, for heads W' (M by K). Both are zero where the
// singular value decomposition fails.
func Root(heads *mat.Dense) (*mat.Dense, int) {
	m, k := heads.Dims()
	var svd mat.SVD
	if !svd.Factorize(heads, mat.SVDThin) {
		return mat.NewDense(k, 1, nil), 0
	}
	var v mat.Dense
	svd.VTo(&v)
	values := svd.Values(nil)
	rank := 0
	for rank < len(values) && values[rank] > values[0]*float64(max(m, k))*0x1p-52 {
		rank++
	}
	root := mat.NewDense(k, max(1, rank), nil)
	for j := range rank {
		for i := range k {
			root.Set(i, j, v.At(i, j)*values[j])
		}
	}
	return root, rank
}
