package regress

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Rows are n samples as regressions of their labels see them: the rows X, d wide, less their mean, divided by the s_j of features
// that each have their own and times the weights of columns (see [judged]), and XX'/t with t = tr XX'/n as a tridiagonal matrix in a
// basis. One reduction serves all regressions on them.
type Rows struct {
	X      *mat.Dense
	Mean   []float64 // of the rows as they are
	Weight []float64 // of features, nil for 1: those of columns are from 0 to 1
	// Lone are the columns of weight 0, n by d, and 0 for others; nil where there are none.
	Lone   *mat.Dense
	Trace  float64 // t
	kernel Tridiagonal
	// products are XX'/t where a classifier wanted them.
	products *mat.Dense
	// Groups are those of the samples.
	Groups Groups
	// without are the rows without each fold of [Regression.Nested], where that wanted them.
	without []*Rows
}

// NewRows takes x over.
func NewRows(x *mat.Dense, each []float32, columns bool, groups Groups) *Rows {
	t := Measure(x, each, columns, groups)
	t.Decompose()
	return t
}

// Measure takes x over and leaves the kernel out. Features that are columns, each of its own kind, have weights.
func Measure(x *mat.Dense, each []float32, columns bool, groups Groups) *Rows {
	same := linalg.AllSame(x)
	t := &Rows{X: x, Mean: linalg.Centre(x), Groups: groups}
	if same { // their mean differs from them by rounding
		x.Zero()
	}
	if columns {
		t.Weight = judged(x, groups)
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

// Across are X'alpha: weights of the features as they are here.
func (t *Rows) Across(alpha mat.Matrix) *mat.Dense {
	out := new(mat.Dense)
	out.Mul(t.X.T(), alpha)
	return out
}

// Slopes are the weights of the features divided by the s_j alone of which these are those of the features as they are here.
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

// Unit is t, or 1 where the rows are all the same.
func (t *Rows) Unit() float64 {
	if t.Trace > 0 {
		return t.Trace
	}
	return 1
}

// Gram is XX'/t, which all heads of a method share.
func (t *Rows) Gram() *mat.Dense {
	if t.products == nil {
		n, _ := t.X.Dims()
		t.products = mat.NewDense(n, n, nil)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1/t.Unit(), t.X.RawMatrix(), t.X.RawMatrix(), 0, t.products.RawMatrix())
	}
	return t.products
}
