package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Head holds the settings of the target's head (eq. 3).
type Head struct {
	// Ridge is the penalty rho of 1/n ||Z w - y||^2 + rho w'S^-1 w, in units of the mean eigenvalue of L'Z'Z L/n with
	// S = L L', or under Prior "residual" of the mean diagonal element of the kernel of the samples. 0 is the paper's least
	// squares, under Prior "identity" (of minimum norm where it is under-determined). RidgeAuto lets the target's samples
	// choose it.
	Ridge float64 `json:"ridge"`
	// Prior selects S: "identity", or "sources" for W W', which shrinks towards combinations of the sources' heads:
	// then w = W nu for the nu that minimises 1/n ||Z W nu - y||^2 + rho ||nu||^2. With "residual" the head also has a
	// part of its own, delta.
	Prior string `json:"prior"`
	// Loss is the loss that heads of classes are fitted by under Prior "residual": LossLogistic, or LossSquared, which
	// empty stands for. The relevance is estimated with heads by squared loss in any case.
	Loss string `json:"loss,omitempty"`
	// Rcond is the cut-off of the least squares relative to the largest singular
	// value; negative selects max(n, K) 2^-23, the rounding of Z, which is in float32.
	Rcond float64 `json:"rcond"`
}

// RidgeAuto asks for the ridge to be chosen by leave-one-out, and under prior residual for numbers by its restricted likelihood too.
const RidgeAuto = regress.Chosen

// The losses of the head.
const (
	LossSquared  = "squared"
	LossLogistic = "logistic"
)

// The priors of the head.
const (
	PriorIdentity = "identity"
	PriorSources  = "sources"
	PriorResidual = "residual"
)

// headFit is a fit of the target's head, or of one output of it.
type headFit struct {
	// Loss is the mean squared residual on the target samples.
	Loss float64
	// Ridge is the penalty used, in the units of Head.Ridge.
	Ridge float64
	// Rank is the numerical rank of Z S^1/2, or for prior residual that of the sources' heads.
	Rank int
	// Kappa and LeaveOneOut are for prior residual: the weight of the target's own rows, and the mean squared
	// leave-one-out residual.
	Kappa, LeaveOneOut float64
	// Own is the variance of what delta adds to the predictions, over the sum of that and the variance of what the sources'
	// heads add. ToMean is the factor g of the mean of the sources' heads of the same output.
	Own, ToMean float64
	// Pooled is the fraction of the predictions of the first column that is due to regressions on the rows of all sources, and Adapted the
	// part of Pooled due to those with the target's samples among the rows. Relevant is the fraction due to those on the rows of the most
	// relevant sources and of single ones, Alone that due to one on the target's samples alone, and Spread that due to one on these samples
	// with a prior from the scatter of the sources' classes.
	Pooled, Adapted, Relevant, Alone, Spread float64
	// residuals holds the leave-one-out residuals of one output, label less prediction, and left the leave-one-out
	// predictions of all outputs, by output and sample, which are log-odds where there are classifiers. Heads of other
	// priors have neither.
	residuals []float64
	left      [][]float32
	labels    []float32 // in the units of the data, in the order of Labelled.Y
	// each holds the fits that prior residual chose from, one for each kappa. again repeats the fit for other labels.
	// parts holds the fits of outputs that were fitted together.
	each  []regress.KernelFit
	again *relabelled
	parts []fittedPart
	// squared is the head of one output by squared loss under prior residual. final is the head that takes its place
	// once the relevance is known, nil for none, and odds holds the leave-one-out log-odds of final.
	squared, final []float32
	odds           []float64
	// by says how to repeat the fit without a fold, for [Learner.nested]. stated holds the predictions of nested or, for
	// numbers, of [Learner.mix], which the score is measured on in the place of left, nil for none.
	by     nestedFit
	stated [][]float32
}

// fittedPart holds the fits of outputs that were fitted together.
type fittedPart struct {
	labelGroup
	fits []headFit
}

// ridgeGrid lists the candidates of RidgeAuto.
var ridgeGrid = func() []float64 {
	g := make([]float64, 25)
	for i := range g {
		g[i] = math.Pow(10, -6+float64(i)/4)
	}
	return g
}()

// fit solves the ridge regression of the n target samples on their features Z = X B (eq. 3) and writes the head to w;
// heads is W' (M by K). With S = L L' and the SVD Z L = U D V' in float64, it is w = L V diag(d/(d^2 + n rho)) U'y.
//
// Where w has K+1 elements, the last is an unpenalised intercept: features and labels are then fitted less their means
// over the target samples.
func (h Head) fit(b backend.Queue, z, heads backend.Matrix, y []float32, groups regress.Groups, w backend.Vector) (headFit, error) {
	n, k := z.Rows, z.Cols
	intercept := w.Len > k
	tmp := backend.NewScope(b)
	defer tmp.Close()
	zl := tmp.Matrix(backend.Float64, n, k)
	if err := tmp.Err(); err != nil {
		return headFit{}, err
	}
	if err := b.Copy(backend.Vec(zl.Buf), backend.Vec(z.Buf)); err != nil {
		return headFit{}, err
	}
	label, mean := 0.0, backend.Vector{}
	if intercept {
		label, mean = meanLabel(y), tmp.Vector(backend.Float64, k)
		if err := centreColumns(b, tmp, zl, mean); err != nil {
			return headFit{}, err
		}
	}
	var root backend.Matrix // L'
	if h.Prior == PriorSources {
		var err error
		if root, err = sourceRoot(b, tmp, heads); err != nil {
			return headFit{}, err
		}
		z64 := zl
		zl = tmp.Matrix(backend.Float64, n, root.Rows)
		if err := tmp.Err(); err != nil {
			return headFit{}, err
		}
		if err := b.Gemm(false, true, 1, z64, root, 0, zl); err != nil {
			return headFit{}, err
		}
	}
	cols := zl.Cols
	r := min(n, cols)
	u, d, vt := tmp.Matrix(backend.Float64, n, r), tmp.Vector(backend.Float64, r), tmp.Matrix(backend.Float64, r, cols)
	v, w64 := tmp.Vector(backend.Float64, cols), tmp.Vector(backend.Float64, k)
	if err := tmp.Err(); err != nil {
		return headFit{}, err
	}
	if err := b.SVD(zl, u, d, vt); err != nil {
		return headFit{}, err
	}
	uh, dh := make([]float64, n*r), make([]float64, r)
	if err := backend.Get(b, uh, u.Buf, 0); err != nil {
		return headFit{}, err
	}
	if err := backend.Get(b, dh, d.Buf, 0); err != nil {
		return headFit{}, err
	}
	coef, fit := h.shrink(uh, dh, centred(y, label), groups, cols, intercept)
	if err := b.Combine(coef, vt, 0, v); err != nil {
		return headFit{}, err
	}
	if h.Prior == PriorSources {
		if err := b.Gemv(true, 1, root, v, 0, w64); err != nil {
			return headFit{}, err
		}
		v = w64
	}
	if err := b.Copy(section(w, 0, k), v); err != nil || !intercept {
		return fit, err
	}
	at, err := b.Dot(mean, v)
	if err != nil {
		return headFit{}, err
	}
	return fit, backend.Put(b, w.Buf, w.Off+k, []float32{float32(label - at)})
}

// centreColumns subtracts from each column of z its mean, and writes the means to mean.
func centreColumns(b backend.Queue, tmp *backend.Scope, z backend.Matrix, mean backend.Vector) error {
	ones := tmp.Vector(backend.Float64, z.Rows)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := b.Fill(ones, 1); err != nil {
		return err
	}
	if err := b.Gemv(true, 1/float64(z.Rows), z, ones, 0, mean); err != nil {
		return err
	}
	return b.Gemm(false, false, -1, ones.Mat(z.Rows, 1), mean.Mat(1, z.Cols), 1, z)
}

// centred returns labels less their mean, in float64.
func centred(y []float32, mean float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = float64(v) - mean
	}
	return out
}

// sourceRoot returns L' with L L' = W W': with the thin SVD W' = U D V' it is diag(d) V'.
func sourceRoot(b backend.Queue, tmp *backend.Scope, heads backend.Matrix) (backend.Matrix, error) {
	m, k := heads.Rows, heads.Cols
	r := min(m, k)
	a, u := tmp.Matrix(backend.Float64, m, k), tmp.Matrix(backend.Float64, m, r)
	d, root := tmp.Vector(backend.Float64, r), tmp.Matrix(backend.Float64, r, k)
	if err := tmp.Err(); err != nil {
		return root, err
	}
	if err := copyMatrix(b, a, heads); err != nil {
		return root, err
	}
	if err := b.SVD(a, u, d, root); err != nil {
		return root, err
	}
	dh := make([]float64, r)
	if err := backend.Get(b, dh, d.Buf, 0); err != nil {
		return root, err
	}
	for i, v := range dh {
		if err := b.Scale(v, root.Row(i)); err != nil {
			return root, err
		}
	}
	return root, nil
}

// shrink returns the solution's coefficients in the basis V, for an n by cols matrix U diag(d) V', with the ridge, rank
// and loss of the fit. Under RidgeAuto the ridge is the candidate with the least leave-one-out error.
func (h Head) shrink(u, d, y []float64, groups regress.Groups, cols int, intercept bool) ([]float64, headFit) {
	n, r := len(y), len(d)
	rcond := h.Rcond
	if rcond < 0 {
		rcond = float64(max(n, cols)) * 0x1p-23
	}
	fit := headFit{Ridge: h.Ridge}
	trace := 0.0
	for _, v := range d {
		trace += v * v
		if v > rcond*d[0] {
			fit.Rank++
		}
	}
	uy := make([]float64, r)
	for i := range n {
		for j := range r {
			uy[j] += u[i*r+j] * y[i]
		}
	}
	// unit is n times the mean eigenvalue.
	unit := trace / float64(cols)
	if h.Ridge == RidgeAuto {
		best := math.Inf(1)
		fit.Ridge = 0
		for _, ridge := range ridgeGrid {
			if e := leaveOneOut(u, d, uy, y, groups, ridge*unit, intercept); e < best {
				best, fit.Ridge = e, ridge
			}
		}
	}
	coef := make([]float64, r)
	for j := range fit.Rank {
		coef[j] = d[j] / (d[j]*d[j] + fit.Ridge*unit) * uy[j]
	}
	for i := range n {
		e := -y[i]
		for j := range r {
			e += u[i*r+j] * d[j] * coef[j]
		}
		fit.Loss += e * e / float64(n)
	}
	return coef, fit
}

// leaveOneOut returns the mean squared leave-one-out residual of ridge regression with penalty lambda, from the thin
// SVD of Z: e_i / (1 - H_ii) with the hat matrix H = U diag(s^2/(s^2 + lambda)) U'. An intercept, for which Z and y are
// centred, adds 1/n to each element of H. For a group g that is left out as a whole, the residuals are
// (I - H_gg)^-1 e_g.
func leaveOneOut(u, s, uy, y []float64, groups regress.Groups, lambda float64, intercept bool) float64 {
	r, sum, least := len(s), 0.0, 0.0
	if intercept {
		least = 1 / float64(len(y))
	}
	var residual *mat.Dense
	if groups.Group != nil {
		residual = mat.NewDense(len(y), 1, nil)
	}
	for i := range y {
		fitted, hat := 0.0, least
		for j, v := range s {
			if v == 0 {
				continue
			}
			shrink := v * v / (v*v + lambda)
			fitted += u[i*r+j] * shrink * uy[j]
			hat += u[i*r+j] * u[i*r+j] * shrink
		}
		if residual != nil {
			residual.Set(i, 0, y[i]-fitted)
		}
		if !groups.Alone(i) {
			continue
		}
		if hat >= 1 {
			return math.Inf(1)
		}
		e := (y[i] - fitted) / (1 - hat)
		sum += e * e
	}
	for _, b := range groups.Blocks(func(i, j int) float64 {
		hat := least
		for k, v := range s {
			if v != 0 {
				hat += u[i*r+k] * u[j*r+k] * v * v / (v*v + lambda)
			}
		}
		if i == j {
			return 1 - hat
		}
		return -hat
	}) {
		b.Divide(residual)
		for _, i := range b.Samples {
			sum += residual.At(i, 0) * residual.At(i, 0)
		}
	}
	return sum / float64(len(y))
}
