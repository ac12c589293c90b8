package regress

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Multinomial is multinomial logistic regression of the classes of n samples beside logits z, n by C, that are known:
//
//	min over V, b:  sum_i -log p(y_i | z_i + V x_i + b) + sum_c (|v_c|^2 / weight + b_c^2 / variance_c)/2,
//
// for the prior covariances weight X X' of what is added to the logits of a class, and the variances of intercepts. It is solved
// for U, C by r, with U l_i in the place of V x_i and |u_c| in that of |v_c|, L L' = X X' (see [ThinRoot]).
type Multinomial struct {
	logits Logits
	z      *mat.Dense
	class  []int
	Root   ThinRoot
	spread []float64     // of b
	Fold   []int         // of each sample
	inner  *mat.SymDense // L'L, once it is wanted
}

const (
	// multinomialTolerance bounds the gradient at what is found, and multinomialPart is how much less than where the search began it is at
	// most: without samples that are all but certain it begins near 0, and ends far away.
	multinomialTolerance = 1e-4
	multinomialPart      = 1e-3
	multinomialSteps     = 200
	// LeastCurvature is that of features that are the same in all rows.
	LeastCurvature = 1e-100
)

func NewMultinomial(of Logits, z *mat.Dense, class []int, groups Groups, root ThinRoot, variances []float64) *Multinomial {
	spread := make([]float64, len(variances))
	for c, v := range variances {
		spread[c] = math.Sqrt(v)
	}
	return &Multinomial{logits: of, z: z, class: class, Root: root, spread: spread, Fold: Stratified(class, groups)}
}

// ThinRoot is L, n by r for r no more than n, with L L' = X X'. It is X, or where that has more columns the Cholesky factor, of X X' and
// what rounding may have of it beside.
type ThinRoot struct {
	*mat.Dense
	wide *mat.Dense // X, where L is not
}

// NewThinRoot has no L where there is no Cholesky factor, as of numbers that are none.
func NewThinRoot(x *mat.Dense) ThinRoot {
	n, d := x.Dims()
	if n >= d {
		return ThinRoot{Dense: x}
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, x)
	floor := math.Max(LeastCurvature, 1e-8*mat.Trace(k)/float64(n)) // less is rounding
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+floor)
	}
	factor, ok := lapack64.Potrf(k.RawSymmetric())
	if !ok {
		return ThinRoot{}
	}
	var upper mat.TriDense
	upper.SetRawTriangular(factor)
	return ThinRoot{mat.DenseCopyOf(upper.T()), x}
}

// Across overwrites u and returns the v of X v = L u that is of the rows of X.
func (r ThinRoot) Across(u []float64) []float64 {
	if r.wide == nil {
		return u
	}
	n, d := r.wide.Dims()
	raw := r.RawMatrix()
	linalg.SolveTriangle(blas.Trans, blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Stride: raw.Stride, Data: raw.Data}, u)
	v := make([]float64, d)
	blas64.Gemv(blas.Trans, 1, r.wide.RawMatrix(), blas64.Vector{N: n, Data: u, Inc: 1}, 0, blas64.Vector{N: d, Data: v, Inc: 1})
	return v
}

// MultinomialPoint is U, C by r, and b.
type MultinomialPoint struct {
	U *mat.Dense
	B []float64
}

// Origin is the point that adds nothing.
func (m *Multinomial) Origin() MultinomialPoint {
	_, r := m.Root.Dims()
	return MultinomialPoint{mat.NewDense(len(m.spread), r, nil), make([]float64, len(m.spread))}
}

// LeftOut is a point, and the logits of each sample without its part of them.
type LeftOut struct {
	MultinomialPoint
	Left *mat.Dense
}

// Fit returns the point of all samples at a weight, from that of another, nil where rounding makes its system singular.
func (m *Multinomial) Fit(ctx context.Context, from MultinomialPoint, weight float64) (*LeftOut, error) {
	w := m.at(weight)
	if w == nil {
		return nil, nil
	}
	all, err := w.search(ctx, w.of(from), noFold)
	if err != nil {
		return nil, err
	}
	folds := make([]int, slices.Max(m.Fold)+1)
	for fold := range folds {
		folds[fold] = fold
	}
	without, err := w.search(ctx, all[0], folds...)
	if err != nil {
		return nil, err
	}
	n, c := m.z.Dims()
	left := mat.NewDense(n, c, nil)
	for fold, at := range without {
		_, z := w.added(at)
		for i, of := range m.Fold {
			if of == fold {
				left.SetRow(i, z.RawRowView(i))
			}
		}
	}
	return &LeftOut{w.point(all[0]), left}, nil
}

// Upwards fits at one weight after the other, as long as each makes the samples less unlikely. tried has what is said by all that were
// found and by the one, if any, that was not better.
func (m *Multinomial) Upwards(ctx context.Context, weights []float64, unlikely func(left *mat.Dense) float64) (found []LeftOut,
	tried []*mat.Dense, err error) {
	if m.Root.Dense == nil {
		return nil, nil, nil
	}
	at, least := m.Origin(), math.Inf(1)
	for _, weight := range weights {
		next, err := m.Fit(ctx, at, weight)
		if err != nil || next == nil {
			return found, tried, err
		}
		tried = append(tried, next.Left)
		loss := unlikely(next.Left)
		if !(loss < least) {
			break
		}
		at, least = next.MultinomialPoint, loss
		found = append(found, *next)
	}
	return found, tried, nil
}
