package regress

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Multinomial is the multinomial logistic regression of the classes of n samples with known logits z, n by C:
//
//	min over V, b, eta >= 1:  sum_i -log p(y_i | m + eta (z_i - m) + V x_i + b)
//	                          + (sum_c (|v_c|^2 / weight + b_c^2 / s_c^2) + (eta - 1)^2 / variance_eta)/2,
//	s_c^2 = variance_c + weight lever,
//
// where m is the mean of z over the samples. b and eta are the intercepts and the slope by which z is recalibrated (Cox 1958): logits
// that are fitted to samples of several kinds are too small for one kind, and eta makes up for that. A slope below 1 would let a few
// wrong labels take away what z says. V adds to the logits of a class what has the prior covariance weight X X'. The problem is solved
// for U, C by r, with U l_i in the place of V x_i and |u_c| in that of |v_c|, for L L' = X X' (see [ThinRoot]).
type Multinomial struct {
	logits Logits
	z      *mat.Dense
	mean   []float64  // m
	apart  *mat.Dense // z less m
	class  []int
	Root   ThinRoot
	prior  Recalibration
	Fold   []int         // the fold of each sample
	inner  *mat.SymDense // L'L, once it is needed

	// Memory that the regressions at all weights share.
	onto      *mat.Dense
	curvature mat.SymDense
}

// Recalibration holds the prior variances of the intercepts b of a [Multinomial], and of its slope eta, which is 1 where that is 0.
// Lever is |x|^2 for a row x that was taken from all rows of X: b stands for V x too then.
type Recalibration struct {
	B          []float64
	Eta, Lever float64
}

const (
	// multinomialTolerance bounds the gradient where a search ends. multinomialPart bounds its ratio to the gradient where the
	// search began: without a fold whose samples are all but certain, a search begins at a gradient near 0 and ends far away.
	multinomialTolerance = 1e-4
	multinomialPart      = 1e-3
	multinomialSteps     = 200
	// LeastCurvature is the least curvature, for features that are the same in all rows.
	LeastCurvature = 1e-100
)

// NewMultinomial returns the regression of samples with logits z and rows X of root.
func NewMultinomial(of Logits, z *mat.Dense, class []int, groups Groups, root ThinRoot, prior Recalibration) *Multinomial {
	m := &Multinomial{logits: of, z: z, apart: mat.DenseCopyOf(z), class: class, Root: root, prior: prior, Fold: Stratified(class, groups)}
	m.mean = linalg.Centre(m.apart)
	return m
}

// ThinRoot is L, n by r for an r of at most n, with L L' = X X'. It is X itself or, where X has more columns than rows, the
// Cholesky factor of X X' plus a multiple of I that is as large as rounding errors may be.
type ThinRoot struct {
	*mat.Dense
	wide *mat.Dense // X, nil where L is X
}

// NewThinRoot returns the root of X X', without an L where there is no Cholesky factor, as where x has NaN.
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

// NoRoot returns the root of n rows that are all 0, so that nothing is added to their logits.
func NoRoot(n int) ThinRoot { return ThinRoot{Dense: mat.NewDense(n, 1, nil)} }

// Across overwrites u and returns the v with X v = L u that is in the span of the rows of X.
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

// MultinomialPoint holds U, C by r, the intercepts b and the slope eta.
type MultinomialPoint struct {
	U   *mat.Dense
	B   []float64
	Eta float64
}

// Origin returns the point that leaves the logits as they are.
func (m *Multinomial) Origin() MultinomialPoint {
	_, r := m.Root.Dims()
	return MultinomialPoint{mat.NewDense(len(m.prior.B), r, nil), make([]float64, len(m.prior.B)), 1}
}

// Recalibrated returns the weights and the intercept of the logit m + eta (z - m) + b of class c for z = w'x + at. It does not change w.
func (m *Multinomial) Recalibrated(p MultinomialPoint, c int, w []float64, at float64) ([]float64, float64) {
	return floats.ScaleTo(make([]float64, len(w)), p.Eta, w), m.mean[c] + p.Eta*(at-m.mean[c]) + p.B[c]
}

// LeftOut is a point, with the logits of each sample by the fit without its fold, n by C.
type LeftOut struct {
	MultinomialPoint
	Left *mat.Dense
}

// Fit returns the point fitted to all samples at a weight, searched from another point, with the logits of samples left out. Where
// all samples make eta 1, it is 1 without each fold too. Fit returns nil where rounding makes its system singular.
func (m *Multinomial) Fit(ctx context.Context, from MultinomialPoint, weight float64) (*LeftOut, error) {
	w := m.at(weight)
	if w == nil {
		return nil, nil
	}
	all, err := w.search(ctx, w.of(from), noFold)
	if err != nil {
		return nil, err
	}
	if w.tilt > 0 && w.point(slices.Clone(all[0])).Eta < 1 { // the objective is convex, so that the best eta of at least 1 is 1
		w.tilt = 0
		if all, err = w.search(ctx, w.of(from), noFold); err != nil {
			return nil, err
		}
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
		z := w.recalibrated(at)
		for i, of := range m.Fold {
			if of == fold {
				left.SetRow(i, z.RawRowView(i))
			}
		}
	}
	return &LeftOut{w.point(all[0]), left}, nil
}

// Upwards fits at one weight after the other, as long as each makes the left-out samples less unlikely than the one before. found
// holds the fits that did, and tried the left-out logits of all fits, the last one included if it did not.
func (m *Multinomial) Upwards(ctx context.Context, weights []float64, negLogLik func(left *mat.Dense) float64) (found []LeftOut,
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
		loss := negLogLik(next.Left)
		if !(loss < least) {
			break
		}
		at, least = next.MultinomialPoint, loss
		found = append(found, *next)
	}
	return found, tried, nil
}
