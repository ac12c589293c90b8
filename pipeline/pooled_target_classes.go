package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// addedClasses adds samples of classes to a multinomial logistic regression, each as weight rows:
//
//	min over v, b:  sum_i -log p(y_i | z_i + v_c'x_i + b_c) + sum_c (v_c'H v_c / weight + b_c^2 / variance_c)/2
//
// with z what the regression says of the samples, n by C. (The variances of the intercepts are not of rows.) It is solved
// for u, C by r, and b in its own spread, with sqrt(weight) L u_c in the place of X v_c, L L' = X H^-1 X'. L is X U^-1 with U'U = H,
// or where there are fewer samples than features, r = n, the Cholesky factor.
type addedClasses struct {
	*addedSamples
	logits logits
	z      *mat.Dense
	class  []int
	spread []float64  // of b
	root   *mat.Dense // L, n by r
}

// addedWeights are the weights of samples that are compared, upwards as long as they make them likelier.
var addedWeights = []float64{1, 3, 10, 30, 100, 300, 1000}

const (
	// addedFolds is how many parts of the samples are left out in turn, or each of fewer than twice as many.
	addedFolds = 10
	// addedTolerance bounds the gradient.
	addedTolerance = 1e-3
	addedSteps     = 100
)

// classes is nil where K is beyond the numbers.
func (t *addedSamples) classes(of logits, z *mat.Dense, class []int, variances []float64) *addedClasses {
	root := t.factor()
	if root == nil {
		return nil
	}
	spread := make([]float64, len(variances))
	for c, v := range variances {
		spread[c] = math.Sqrt(v)
	}
	return &addedClasses{t, of, z, class, spread, root}
}

// wide says whether there are fewer samples than features.
func (t *addedSamples) wide() bool {
	n, d := t.x.Dims()
	return n < d
}

// factor is L, or nil.
func (t *addedSamples) factor() *mat.Dense {
	if !t.wide() {
		out := mat.DenseCopyOf(t.x)
		blas64.Trsm(blas.Right, blas.NoTrans, 1, t.chol.RawU().(*mat.TriDense).RawTriangular(), out.RawMatrix())
		return out
	}
	n := t.kernel.SymmetricDim()
	k := mat.NewSymDense(n, nil)
	k.CopySym(t.kernel)
	floor := math.Max(leastCurvature, 1e-8*mat.Trace(k)/float64(n)) // less is rounding
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+floor)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return nil
	}
	var root mat.TriDense
	chol.LTo(&root)
	return mat.DenseCopyOf(&root)
}

// across are the weights of the features for L u, of which u is overwritten.
func (a *addedClasses) across(u []float64) []float64 {
	by := blas64.Vector{N: len(u), Data: u, Inc: 1}
	if !a.wide() {
		blas64.Trsv(blas.NoTrans, a.chol.RawU().(*mat.TriDense).RawTriangular(), by)
		return a.gram.weights(u)
	}
	root := a.root.RawMatrix()
	triangle := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: root.Rows, Stride: root.Stride, Data: root.Data}
	blas64.Trsv(blas.Trans, triangle, by)
	return a.addedSamples.weights(u)
}

// origin is the point that adds nothing.
func (a *addedClasses) origin() []float64 {
	return make([]float64, a.z.RawMatrix().Cols*(a.root.RawMatrix().Cols+1))
}

// parts are u and b of a point.
func (a *addedClasses) parts(at []float64) (u *mat.Dense, b []float64) {
	c, r := a.z.RawMatrix().Cols, a.root.RawMatrix().Cols
	return mat.NewDense(c, r, at[:c*r]), at[c*r:]
}

// say returns the logits at a point.
func (a *addedClasses) say(at []float64, weight float64) *mat.Dense {
	u, b := a.parts(at)
	var z mat.Dense
	z.Mul(a.root, u.T())
	z.Scale(math.Sqrt(weight), &z)
	z.Add(&z, a.z)
	for i := range a.class {
		row := z.RawRowView(i)
		for c, v := range b {
			row[c] += a.spread[c] * v
		}
	}
	return &z
}

// objective at a point without some samples, with its gradient in the place of grad.
func (a *addedClasses) objective(at []float64, weight float64, without func(i int) bool, grad []float64) float64 {
	value, z := dot(at, at)/2, a.say(at, weight)
	for i, of := range a.class {
		row := z.RawRowView(i)
		if without(i) {
			of = noLabel
		}
		value += a.logits.loss(row, of)
	}
	onU, onB := a.parts(grad)
	onU.Mul(z.T(), a.root)
	onU.Scale(math.Sqrt(weight), onU)
	clear(onB)
	for i := range a.class {
		for c, residual := range z.RawRowView(i) {
			onB[c] += a.spread[c] * residual
		}
	}
	floats.Add(grad, at)
	return value
}

// fit solves without some samples from another point, by L-BFGS.
func (a *addedClasses) fit(from []float64, weight float64, without func(i int) bool) []float64 {
	var last, slope []float64 // of the last point
	value := 0.0
	evaluate := func(at []float64) {
		if last == nil || !floats.Equal(at, last) {
			last, slope = slices.Clone(at), make([]float64, len(at))
			value = a.objective(at, weight, without, slope)
		}
	}
	found, _ := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { evaluate(at); return value },
		Grad: func(to, at []float64) { evaluate(at); copy(to, slope) },
	}, from, &optimize.Settings{GradientThreshold: addedTolerance, MajorIterations: addedSteps}, &optimize.LBFGS{})
	if found == nil {
		return from
	}
	return found.X // a search that ends early is at the end of what float64 can tell
}

// fits returns the point of all samples, and the logits of each without its part of them.
func (a *addedClasses) fits(from []float64, weight float64) (at []float64, left *mat.Dense) {
	n, c := a.z.Dims()
	at = a.fit(from, weight, func(int) bool { return false })
	folds := addedFolds
	if n < 2*folds {
		folds = n
	}
	left = mat.NewDense(n, c, nil)
	for fold := range folds {
		said := a.say(a.fit(at, weight, func(i int) bool { return i%folds == fold }), weight)
		for i := fold; i < n; i += folds {
			left.SetRow(i, said.RawRowView(i))
		}
	}
	return at, left
}

// weights are those of the features and the intercepts that a point adds.
func (a *addedClasses) weights(at []float64, weight float64) (w [][]float64, b []float64) {
	u, of := a.parts(at)
	for c, v := range of {
		by := slices.Clone(u.RawRowView(c))
		floats.Scale(math.Sqrt(weight), by)
		w, b = append(w, a.across(by)), append(b, a.spread[c]*v)
	}
	return w, b
}
