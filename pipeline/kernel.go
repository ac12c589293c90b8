package pipeline

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// targetRows are the n target samples as the head sees them: the rows X, d wide,
// less their mean, divided by the s_j of features that each have their own and times the weights of columns (see [judged]), and XX'/t
// with t = tr XX'/n as a tridiagonal matrix in a basis. They
// are the same in every round of a method, so that one reduction serves all heads.
type targetRows struct {
	rows   []int32   // in the target's pool
	each   []float32 // s_j, or nil
	x      *mat.Dense
	mean   []float64 // of the rows as they are
	weight []float64 // of features, nil for 1: those of columns are from 0 to 1
	// lone are the columns of weight 0, n by d, and 0 for others; nil where there are none.
	lone   *mat.Dense
	trace  float64 // t
	kernel tridiagonal
	// products are XX'/t where a classifier wanted them.
	products *mat.Dense
	// together are the groups of the samples.
	together together
	// alone is the logistic regression of the labels aloneOf on these rows where a classifier
	// wanted it, nil too where rounding made its systems singular.
	alone   *logisticFit
	aloneOf []float32
	// own are the multinomial regressions of [Problem.ownClasses] on these rows.
	own []*ownFound
	// without are the rows without each fold of [targetRegression.nested], where that wanted them.
	without []*targetRows
}

// newTargetRows takes x over.
func newTargetRows(x *mat.Dense, each []float32, columns bool, groups together) *targetRows {
	t := measureRows(x, each, columns, groups)
	t.decompose()
	return t
}

// measureRows takes x over and leaves the kernel out. Features that are columns, each of its own kind, have weights.
func measureRows(x *mat.Dense, each []float32, columns bool, groups together) *targetRows {
	same := allSame(x)
	t := &targetRows{x: x, each: each, mean: centreDense(x), together: groups}
	if same { // their mean differs from them by rounding
		x.Zero()
	}
	if columns {
		t.weight = judged(x, groups)
	}
	for j, s := range each {
		scaleColumn(x, j, 1/float64(s))
	}
	t.lone = loneColumns(x, t.weight)
	weigh(x, t.weight)
	t.trace = meanSquareNorm(x)
	return t
}

func (t *targetRows) decompose() {
	n, d := t.x.Dims()
	p, r := thinQR(t.x)
	gram := mat.NewSymDense(min(n, d), nil)
	gram.SymOuterK(1/t.unit(), r)
	t.kernel = tridiagonalize(gram)
	if p != nil {
		p.Mul(p, t.kernel.q)
		t.kernel.q = p
	}
}

// allSame says whether all rows are the same.
func allSame(x *mat.Dense) bool {
	n, _ := x.Dims()
	for i := 1; i < n; i++ {
		if !slices.Equal(x.RawRowView(i), x.RawRowView(0)) {
			return false
		}
	}
	return true
}

// across are X'alpha: weights of the features as they are here.
func (t *targetRows) across(alpha mat.Matrix) *mat.Dense {
	out := new(mat.Dense)
	out.Mul(t.x.T(), alpha)
	return out
}

// slopes are the weights of the features divided by the s_j alone of which these are those of the features as they are here.
func (t *targetRows) slopes(own *mat.Dense) *mat.Dense {
	if t.weight == nil {
		return own
	}
	out := mat.DenseCopyOf(own)
	for j, w := range t.weight {
		floats.Scale(w, out.RawRowView(j))
	}
	return out
}

// unit is t, or 1 where the rows are all the same.
func (t *targetRows) unit() float64 {
	if t.trace > 0 {
		return t.trace
	}
	return 1
}

// gram is XX'/t, which all heads of a method share.
func (t *targetRows) gram() *mat.Dense {
	if t.products == nil {
		n, _ := t.x.Dims()
		t.products = mat.NewDense(n, n, nil)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1/t.unit(), t.x.RawMatrix(), t.x.RawMatrix(), 0, t.products.RawMatrix())
	}
	return t.products
}

// orthonormalize makes columns orthonormal to rounding that are so by a millionth: what
// lambda 1e-6 divides by must be.
func orthonormalize(q *mat.Dense) error {
	_, r := q.Dims()
	gram := mat.NewSymDense(r, nil)
	gram.SymOuterK(1, q.T())
	upper, ok := lapack64.Potrf(gram.RawSymmetric())
	if !ok {
		return errBasis
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, upper, q.RawMatrix())
	return nil
}

var errBasis = errors.New("the decomposition of the target's features did not converge")

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
