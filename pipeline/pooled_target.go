package pipeline

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// pooledFound holds the predictions of one regression on the rows of all sources for the outputs of a column. Those in sources are without
// the target's samples. Those in with have each sample as one row and, for classes and only if that is better, each as the number of rows
// that makes the left-out samples most likely.
type pooledFound struct {
	sources []prediction
	with    [][]prediction
	// point is a starting point for regressions of classes on some of the rows.
	point *pooledPoint
	// tried holds the sample weights that with was chosen from.
	tried triedWeights
}

// baseModels returns the regressions for [Learner.stack]: for numbers by a network only the one without the samples, since a network sees
// more than a regression on the features can. For classes the regression of a network is on phi (see [Learner.pooledOnPhi]).
func (f *pooledFound) baseModels(representation string) [][]prediction {
	switch {
	case f == nil:
		return nil
	case representation != ClassLinear && f.point == nil: // numbers
		return [][]prediction{f.sources}
	}
	return append([][]prediction{f.sources}, f.with...)
}

// addedSamples adds samples X, n by d, to the rows of a regression. What these rows say about the weights v that are added to those of the
// regression is approximated by a normal distribution (Laplace's approximation),
//
//	v from N(0, H^-1),  H = c X_s'X_s + lambda I = U'U,
//
// X_s being the rows and c the curvature of their losses. So X v has the covariance X H^-1 X' = Z Z' for Z = X U^-1.
type addedSamples struct {
	gram pooledGram
	x    *mat.Dense // Z, for the features or for R
	u    blas64.Triangular
}

// added returns the samples to be added for the precision matrix h, or nil where that is singular.
func (g pooledGram) added(samples *mat.Dense, h *mat.SymDense) *addedSamples {
	u, ok := linalg.Factor(h)
	if !ok {
		return nil
	}
	t := &addedSamples{gram: g, x: mat.DenseCopyOf(g.features(samples)), u: u}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, u, t.x.RawMatrix())
	return t
}

// features returns centred rows as the regression sees them: a row x itself, or R^-1 X x where the regression uses R.
func (g pooledGram) features(rows *mat.Dense) *mat.Dense {
	if g.wide == nil {
		return rows
	}
	out := new(mat.Dense)
	out.Mul(rows, g.wide.T())
	blas64.Trsm(blas.Right, blas.Trans, 1, g.root.RawTriangular(), out.RawMatrix())
	return out
}

// weights returns the weights of the features for v = H^-1 X' alpha.
func (t *addedSamples) weights(alpha []float64) []float64 {
	var v mat.VecDense
	v.MulVec(t.x.T(), mat.NewVecDense(len(alpha), alpha))
	return t.across(v.RawVector().Data)
}

// across overwrites v and returns the weights w of the features for which X w = Z v.
func (t *addedSamples) across(v []float64) []float64 {
	linalg.SolveTriangle(blas.NoTrans, t.u, v)
	return t.gram.weights(v)
}

// covariance returns X H^-1 X'.
func (t *addedSamples) covariance() *mat.SymDense {
	k := mat.NewSymDense(t.x.RawMatrix().Rows, nil)
	k.SymOuterK(1, t.x)
	return k
}

// squared adds the samples with labels y to a ridge regression; NaN labels do not count. z holds the predictions of the regression, k the
// covariance X H^-1 X', and level the variance of the difference between the target's intercept and the sources', in units of the noise. It
// returns alpha = (k + level 11' + I)^-1 (y - z), that difference, and the prediction of each sample without it and the rest of its
// group. It returns no alpha where k is so large that rounding takes the I.
func (t *addedSamples) squared(k *mat.SymDense, z, y []float64, level float64, groups regress.Groups) (alpha []float64, shift float64,
	left []float64) {
	var rows []int
	for i, v := range y {
		if v == v {
			rows = append(rows, i)
		}
	}
	alpha, left = make([]float64, len(y)), make([]float64, len(y))
	var inverse *mat.SymDense
	if len(rows) > 0 {
		system, e := mat.NewSymDense(len(rows), nil), mat.NewVecDense(len(rows), nil)
		for a, i := range rows {
			e.SetVec(a, y[i]-z[i])
			for b, j := range rows[:a+1] {
				system.SetSym(a, b, k.At(i, j)+level)
			}
			system.SetSym(a, a, system.At(a, a)+1)
		}
		factor, ok := lapack64.Potrf(system.RawSymmetric())
		if !ok {
			return nil, 0, nil
		}
		found := mat.DenseCopyOf(e)
		lapack64.Potrs(factor, found.RawMatrix())
		lapack64.Potri(factor)
		inverse = system
		for a, i := range rows {
			alpha[i] = found.At(a, 0)
		}
	}
	shift = level * floats.Sum(alpha)
	var added mat.VecDense
	added.MulVec(k, mat.NewVecDense(len(alpha), alpha))
	for i := range left {
		left[i] = z[i] + added.AtVec(i) + shift
	}
	for a, i := range rows {
		left[i] = y[i] - alpha[i]/math.Max(inverse.At(a, a), regress.LeastCurvature)
	}
	if blocks := groups.Some(rows).Blocks(inverse.At); len(blocks) > 0 {
		residual := mat.NewDense(len(rows), 1, nil)
		for a, i := range rows {
			residual.Set(a, 0, alpha[i])
		}
		for _, b := range blocks {
			b.Divide(residual)
			for _, a := range b.Samples {
				left[rows[a]] = y[rows[a]] - residual.At(a, 0)
			}
		}
	}
	return alpha, shift, left
}
