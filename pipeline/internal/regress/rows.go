package regress

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Rows holds n samples as the regressions on them use them: the rows X, n by d, less the mean row, divided by the s_j where each
// feature has its own, and multiplied by the column weights (see [columnWeights]); and their kernel XX'/t, t = tr XX'/n, reduced to a
// tridiagonal matrix. One reduction serves all regressions on them.
type Rows struct {
	X      *mat.Dense
	Mean   []float64 // mean row before scaling
	Weight []float64 // weights of the features, from 0 to 1; nil where all are 1
	// Lone holds the columns of weight 0 that vary, n by d with zeros in all others; nil where there are none.
	Lone   *mat.Dense
	Trace  float64 // t
	kernel Tridiagonal
	// products holds XX'/t once a classifier has asked for it.
	products *mat.Dense
	// Groups holds the groups of the samples.
	Groups Groups
	// without holds the rows without each fold of [Regression.Nested], once that has asked for them.
	without []*Rows
}

// NewRows returns the rows of x, whose features are of one unit, with their kernel; see [Measure].
func NewRows(x *mat.Dense, groups Groups) *Rows {
	t := Measure(x, nil, false, groups)
	t.Decompose()
	return t
}

// Measure returns the rows of x without their kernel. It overwrites x and keeps it as X. each holds the s_j, nil for ones. If
// columns is set, each feature is a column of its own kind, and gets a weight.
func Measure(x *mat.Dense, each []float32, columns bool, groups Groups) *Rows {
	same := linalg.AllSame(x)
	t := &Rows{X: x, Mean: linalg.Centre(x), Groups: groups}
	if same { // their mean may differ from them by rounding
		x.Zero()
	}
	if columns {
		t.Weight = columnWeights(x, groups)
	}
	for j, s := range each {
		linalg.ScaleColumn(x, j, 1/float64(s))
	}
	t.Lone = loneColumns(x, t.Weight)
	Weigh(x, t.Weight)
	t.Trace = linalg.MeanSquareNorm(x)
	return t
}

func (t *Rows) Decompose() {
	n, d := t.X.Dims()
	p, r := linalg.ThinQR(t.X)
	gram := mat.NewSymDense(min(n, d), nil)
	gram.SymOuterK(1/t.Unit(), r)
	t.kernel = Tridiagonalize(gram)
	if p != nil {
		p.Mul(p, t.kernel.Q)
		t.kernel.Q = p
	}
}

// Across returns X'alpha, the weights of the columns of X for dual coefficients alpha.
func (t *Rows) Across(alpha mat.Matrix) *mat.Dense {
	out := new(mat.Dense)
	out.Mul(t.X.T(), alpha)
	return out
}

// Slopes converts own, d by C, from weights of the columns of X to weights of features that are divided by their s_j alone, by
// multiplying row j by Weight_j.
func (t *Rows) Slopes(own *mat.Dense) *mat.Dense {
	if t.Weight == nil {
		return own
	}
	out := mat.DenseCopyOf(own)
	for j, w := range t.Weight {
		floats.Scale(w, out.RawRowView(j))
	}
	return out
}

// Unit returns t, or 1 where all rows are the same.
func (t *Rows) Unit() float64 {
	if t.Trace > 0 {
		return t.Trace
	}
	return 1
}

// Gram returns XX'/t, computed at the first call and shared by all heads of a method.
func (t *Rows) Gram() *mat.Dense {
	if t.products == nil {
		n, _ := t.X.Dims()
		t.products = mat.NewDense(n, n, nil)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1/t.Unit(), t.X.RawMatrix(), t.X.RawMatrix(), 0, t.products.RawMatrix())
	}
	return t.products
}
