package regress

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

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
	// leftFolds is how many parts of the samples are left out in turn, or each of fewer than twice as many.
	leftFolds = 10
	// multinomialTolerance bounds the gradient at what is found.
	multinomialTolerance = 1e-4
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

// Stratified is the part of the samples, from 0 on, in which each is left out: the samples of each class are spread over all parts,
// whatever order they come in. Those of a group are in one part (see [Groups.folds]).
func Stratified(class []int, of Groups) []int {
	if of.Group != nil {
		return of.folds(class)
	}
	folds := leftFolds
	if len(class) < 2*folds {
		folds = len(class)
	}
	order := make([]int, len(class))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(class[i], class[j]) })
	fold := make([]int, len(class))
	for at, i := range order {
		fold[i] = at % folds
	}
	return fold
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

// weightedMultinomial is the regression at one weight, solved by L-BFGS for T and a with
//
//	t_c = R u_c / sqrt(weight),  R'R = I + h weight L'L,  a_c = sqrt(1/variance_c + h n) b_c,
//
// where h is a quarter of the curvature of the loss of a sample of which all classes are as likely. With that the curvature is near I
// without a system to solve in each step, since |u_c|^2 / weight = |t_c|^2 - h |L u_c|^2:
//
//	min over T, a:  sum_i -log p(y_i | z_i + f_i + b) + sum_c (|t_c|^2 - h |f_c|^2 + b_c^2 / variance_c)/2
//
// for F = B T' and B = sqrt(weight) L R^-1.
type weightedMultinomial struct {
	*Multinomial
	weight, h float64
	r         blas64.Triangular
	onto      *mat.Dense // B
	scale     []float64  // b / a
}

// at is nil where rounding makes R singular.
func (m *Multinomial) at(weight float64) *weightedMultinomial {
	n, r := m.Root.Dims()
	if m.inner == nil {
		m.inner = mat.NewSymDense(r, nil)
		m.inner.SymOuterK(1, m.Root.T())
	}
	alike := 1 / (float64(len(m.spread)) + m.logits.Rest)
	w := &weightedMultinomial{Multinomial: m, weight: weight, h: alike * (1 - alike) / 4, onto: mat.DenseCopyOf(m.Root.Dense)}
	curvature := mat.NewSymDense(r, nil)
	curvature.ScaleSym(w.h*weight, m.inner)
	for j := range r {
		curvature.SetSym(j, j, curvature.At(j, j)+1)
	}
	var ok bool
	if w.r, ok = lapack64.Potrf(curvature.RawSymmetric()); !ok {
		return nil
	}
	blas64.Trsm(blas.Right, blas.NoTrans, math.Sqrt(weight), w.r, w.onto.RawMatrix())
	for _, s := range m.spread {
		w.scale = append(w.scale, s/math.Sqrt(1+w.h*float64(n)*s*s))
	}
	return w
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

// parts are T and a of a point of the search.
func (w *weightedMultinomial) parts(at []float64) (t *mat.Dense, a []float64) {
	c, r := len(w.spread), w.r.N
	return mat.NewDense(c, r, at[:c*r]), at[c*r:]
}

// of is where the search is at p.
func (w *weightedMultinomial) of(p MultinomialPoint) []float64 {
	at := slices.Concat(p.U.RawMatrix().Data, p.B)
	t, a := w.parts(at)
	t.Scale(1/math.Sqrt(w.weight), t)
	linalg.EachRow(t, func(row []float64) { blas64.Trmv(blas.NoTrans, w.r, blas64.Vector{N: len(row), Data: row, Inc: 1}) })
	floats.Div(a, w.scale)
	return at
}

// point overwrites where the search is.
func (w *weightedMultinomial) point(at []float64) MultinomialPoint {
	u, b := w.parts(at)
	linalg.EachRow(u, func(row []float64) { linalg.SolveTriangle(blas.NoTrans, w.r, row) })
	u.Scale(math.Sqrt(w.weight), u)
	floats.Mul(b, w.scale)
	return MultinomialPoint{u, b}
}

// added is F, n by C, and the logits with it and the intercepts.
func (w *weightedMultinomial) added(at []float64) (f, z *mat.Dense) {
	t, a := w.parts(at)
	f, z = new(mat.Dense), new(mat.Dense)
	f.Mul(w.onto, t.T())
	z.Add(f, w.z)
	for i := range w.class {
		row := z.RawRowView(i)
		for c, s := range w.scale {
			row[c] += s * a[c]
		}
	}
	return f, z
}

// rowsTogether is how many samples the objective has at a time, few enough for their rows of B to be in the cache when the gradient
// takes them.
const rowsTogether = 48

// objective without some samples, with its gradient in the place of grad.
func (w *weightedMultinomial) objective(at []float64, without func(i int) bool, grad []float64) (value float64) {
	t, a := w.parts(at)
	onT, onA := w.parts(grad)
	clear(grad)
	n, classes := w.z.Dims()
	f, z := mat.NewDense(min(n, rowsTogether), classes, nil), make([]float64, min(n, rowsTogether)*classes)
	for lo := 0; lo < n; lo += rowsTogether {
		hi := min(lo+rowsTogether, n)
		onto, own := w.onto.Slice(lo, hi, 0, w.r.N).(*mat.Dense).RawMatrix(), f.RawMatrix()
		own.Rows = hi - lo
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, onto, t.RawMatrix(), 0, own)
		for i, of := range w.class[lo:hi] {
			if without(lo + i) {
				of = NoLabel
			}
			row, own := z[i*classes:(i+1)*classes], f.RawRowView(i)
			floats.AddTo(row, own, w.z.RawRowView(lo+i))
			for c, s := range w.scale {
				row[c] += s * a[c]
			}
			value += w.logits.Loss(row, of) - w.h*linalg.Dot(own, own)/2
			for c, slope := range row {
				onA[c] += w.scale[c] * slope
			}
			floats.AddScaled(row, -w.h, own)
		}
		slopes := blas64.General{Rows: hi - lo, Cols: classes, Stride: classes, Data: z[:(hi-lo)*classes]}
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, slopes, onto, 1, onT.RawMatrix())
	}
	onT.Add(onT, t)
	value += linalg.Dot(at[:len(at)-len(a)], at[:len(at)-len(a)]) / 2
	for c, v := range a {
		b := w.scale[c] / w.spread[c] * v
		value += b * b / 2
		onA[c] += w.scale[c] / w.spread[c] * b
	}
	return value
}

// search returns where the objective without some samples is least, from another place. It ends with the error of ctx once that is done.
func (w *weightedMultinomial) search(ctx context.Context, from []float64, without func(i int) bool) ([]float64, error) {
	found, _ := Minimise(ctx.Err, func(at, slope []float64) float64 { return w.objective(at, without, slope) }, from,
		&optimize.Settings{GradientThreshold: multinomialTolerance, MajorIterations: multinomialSteps})
	if err := ctx.Err(); err != nil || found == nil {
		return from, err
	}
	return found, nil
}

// Minimise returns where an objective, which writes its gradient too, is least by L-BFGS from a place on. A search that ends early is at
// the end of what the numbers can tell. It ends with the error of stop once that has one, and is nil with an error where none can begin.
func Minimise(stop func() error, objective func(at, slope []float64) float64, from []float64,
	settings *optimize.Settings) ([]float64, error) {
	var last, slope []float64 // of the last place
	value := 0.0
	evaluate := func(at []float64) {
		if last == nil || !floats.Equal(at, last) {
			last, slope = slices.Clone(at), make([]float64, len(at))
			value = objective(at, slope)
		}
	}
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(at []float64) float64 { evaluate(at); return value },
		Grad: func(to, at []float64) { evaluate(at); copy(to, slope) },
		Status: func() (optimize.Status, error) {
			if err := stop(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}, from, settings, &optimize.LBFGS{})
	if err := stop(); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, err
	}
	return found.X, nil
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
	all, err := w.search(ctx, w.of(from), func(int) bool { return false })
	if err != nil {
		return nil, err
	}
	n, c := m.z.Dims()
	left := mat.NewDense(n, c, nil)
	for fold := range slices.Max(m.Fold) + 1 {
		without, err := w.search(ctx, all, func(i int) bool { return m.Fold[i] == fold })
		if err != nil {
			return nil, err
		}
		_, z := w.added(without)
		for i, of := range m.Fold {
			if of == fold {
				left.SetRow(i, z.RawRowView(i))
			}
		}
	}
	return &LeftOut{w.point(all), left}, nil
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
