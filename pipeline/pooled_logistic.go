package pipeline

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

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// pooledLogistic is the multinomial logistic regression of classes on the rows of all sources as if they were one source:
//
//	min over w, s, b:  sum_i -log p(y_i | z_i) + (lambda ||w||^2 + sum_mc (s_mc - b_c)^2 + ||b||^2/100)/2,
//	z_ic = x_i'w_c + s_mc
//
// for row i of source m, with the probabilities p of [regress.Logits]. The intercepts s of the sources have the prior N(b, 1) in log-odds.
// The prior of b is so wide that it matters only to a class without rows. The problem is solved for v with w_c = U^-1 v_c and U'U = X'X/10
// + lambda I, so that the curvature is about 1 in all directions.
type pooledLogistic struct {
	queue        backend.Queue
	x            backend.Matrix // rows, n by d
	on           backend.Matrix // w, then its gradient, C by d
	f, residuals backend.Matrix // X w', n by C, and residuals, C by n
	class        []int          // class of each row, or NoClass
	logits       regress.Logits
	source       []int         // source of each row, from 0
	rows         []float64     // number of rows of each source
	gram         *mat.SymDense // X'X
	system       mat.SymDense  // what curved returned last
	failed       error
	// Copies of f, residuals and on in host memory.
	hostF, hostResiduals, hostOn []float32
}

const (
	// pooledRows is the largest number of rows of a regression, and pooledRowsOne that of a regression of one output.
	pooledRows, pooledRowsOne = 1 << 13, 1 << 12
	// pooledCurvature stands for p (1 - p), which is at most 1/4.
	pooledCurvature = 0.1
	pooledTolerance = 1e-5
	// pooledStart is the first lambda in units of the mean eigenvalue of X'X, and pooledStarts the largest number of steps from it.
	pooledStart, pooledStarts = 0.1, 4
	pooledSteps               = 200
	precisionB                = 0.01
	// leastShift is the least variance of the sources' intercepts.
	leastShift = 0.01
)

// newPooledLogistic allocates a regression on n rows of d features for c classes.
func newPooledLogistic(queue backend.Queue, tmp *backend.Scope, n, d, c int) (*pooledLogistic, error) {
	r := &pooledLogistic{
		queue: queue,
		x:     tmp.Matrix(backend.Float32, n, d), on: tmp.Matrix(backend.Float32, c, d),
		f: tmp.Matrix(backend.Float32, n, c), residuals: tmp.Matrix(backend.Float32, c, n),
		hostF: make([]float32, n*c), hostResiduals: make([]float32, c*n), hostOn: make([]float32, c*d),
	}
	return r, tmp.Err()
}

// square computes X'X. It is used for units and a scale alone, so that float32 is precise enough; where that overflows, it is computed in
// float64.
func (r *pooledLogistic) square() error {
	tmp := backend.NewScope(r.queue)
	defer tmp.Close()
	squares := tmp.Matrix(backend.Float32, r.x.Cols, r.x.Cols)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := r.queue.Syrk(true, 1, r.x, 0, squares); err != nil {
		return err
	}
	wide, err := download64(r.queue, squares)
	if err != nil {
		return err
	}
	if r.gram = mat.NewSymDense(r.x.Cols, wide.RawMatrix().Data); !math.IsInf(mat.Trace(r.gram), 1) {
		return nil
	}
	x, err := download64(r.queue, r.x)
	if err == nil {
		r.gram.SymOuterK(1, x.T())
	}
	return err
}

// classesFit holds w, C by d, followed by s, C by the number of sources.
type classesFit []float64

func (r *pooledLogistic) empty() classesFit {
	return make(classesFit, r.on.Rows*(r.x.Cols+len(r.rows)))
}

// from returns a fit of zeros, or one with the weights and intercepts of another regression on the same features.
func (r *pooledLogistic) from(start *pooledPoint) classesFit {
	fit := r.empty()
	if start == nil || start.w == nil {
		return fit
	}
	w, s := r.parts(fit)
	for j, b := range start.b {
		w.SetRow(j, start.w[j])
		floats.AddConst(b, s.RawRowView(j))
	}
	return fit
}

func (r *pooledLogistic) parts(p []float64) (w, s *mat.Dense) {
	d, c, m := r.x.Cols, r.on.Rows, len(r.rows)
	return mat.NewDense(c, d, p[:c*d]), mat.NewDense(c, m, p[c*d:])
}

// meanIntercept returns the b that minimises the objective for the intercepts s of an output.
func meanIntercept(s []float64) float64 { return floats.Sum(s) / (float64(len(s)) + precisionB) }

// objective returns the objective at a fit, for the best b, and overwrites grad with its gradient. It returns NaN once an operation of the
// device has failed.
func (r *pooledLogistic) objective(fit classesFit, lambda float64, grad []float64) float64 {
	n, c := r.x.Rows, r.on.Rows
	w, s := r.parts(fit)
	onW, onS := r.parts(grad)
	f, residuals, sums := r.hostF, r.hostResiduals, r.hostOn
	r.do(
		func() error { return backend.Put(r.queue, r.on.Buf, 0, toFloat32(w.RawMatrix().Data)) },
		func() error { return r.multiply(false, r.on, r.f) },
		func() error { return backend.Get(r.queue, f, r.f.Buf, 0) })
	value := lambda / 2 * linalg.Dot(w.RawMatrix().Data, w.RawMatrix().Data)
	for j := range c {
		of := onS.RawRowView(j)
		copy(of, s.RawRowView(j))
		b := meanIntercept(of)
		value += precisionB / 2 * b * b
		floats.AddConst(-b, of)
		value += linalg.Dot(of, of) / 2 // b is optimal, so that it adds nothing to the gradient
	}
	z := make([]float64, c)
	for i, m := range r.source {
		for j := range z {
			z[j] = float64(f[i*c+j]) + s.At(j, m)
		}
		value += r.logits.Loss(z, r.class[i])
		for j, residual := range z {
			onS.Set(j, m, onS.At(j, m)+residual)
			residuals[j*n+i] = float32(residual)
		}
	}
	r.do(
		func() error { return backend.Put(r.queue, r.residuals.Buf, 0, residuals) },
		func() error { return r.multiply(true, r.residuals, r.on) },
		func() error { return backend.Get(r.queue, sums, r.on.Buf, 0) })
	to := onW.RawMatrix().Data
	for i, v := range w.RawMatrix().Data {
		to[i] = float64(sums[i]) + lambda*v
	}
	if r.failed != nil {
		return math.NaN()
	}
	return value
}

// multiply computes X v', n by C, for v, C by d; with trans it computes v X, C by d, for v, C by n.
func (r *pooledLogistic) multiply(trans bool, v, to backend.Matrix) error {
	switch {
	case r.on.Rows == 1:
		return r.queue.Gemv(trans, 1, r.x, backend.Vec(v.Buf), 0, backend.Vec(to.Buf))
	case trans:
		return r.queue.Gemm(false, false, 1, v, r.x, 0, to)
	default:
		return r.queue.Gemm(false, true, 1, r.x, v, 0, to)
	}
}

func (r *pooledLogistic) do(steps ...func() error) {
	for _, step := range steps {
		if r.failed == nil {
			r.failed = step()
		}
	}
}

// pooledUnits maps fits to the coordinates v in which a regression at one lambda is solved.
type pooledUnits struct {
	*pooledLogistic
	u blas64.Triangular
}

// unitsAt returns the units at lambda, which are valid until the next call of unitsAt or curved.
func (r *pooledLogistic) unitsAt(lambda float64) pooledUnits {
	factor, _ := lapack64.Potrf(r.curved(pooledCurvature, lambda).RawSymmetric()) // the added diagonal makes it positive definite
	return pooledUnits{r, factor}
}

// curved returns c X'X + lambda I, with lambda at least a millionth of the trace of c X'X. The next call overwrites it.
func (r *pooledLogistic) curved(c, lambda float64) *mat.SymDense {
	out := &r.system
	out.ScaleSym(c, r.gram)
	floor := math.Max(regress.LeastCurvature, 1e-6*mat.Trace(out)) // less is rounding
	for j := range out.SymmetricDim() {
		out.SetSym(j, j, out.At(j, j)+math.Max(lambda, floor))
	}
	return out
}

// curvature returns the mean of p (1 - p) over rows and classes at a fit.
func (r *pooledLogistic) curvature(fit classesFit) (float64, error) {
	r.objective(fit, 0, make([]float64, len(fit)))
	n, c := r.x.Rows, r.on.Rows
	sum := 0.0
	for i, of := range r.class {
		for j := range c {
			p := float64(r.hostResiduals[j*n+i])
			if j == of {
				p++
			}
			sum += p * (1 - p)
		}
	}
	return sum / float64(n*c), r.failed
}

// scale divides the intercepts s of a source with n rows by (n/10 + 1)^(power/2).
func (u pooledUnits) scale(s *mat.Dense, power float64) {
	c, m := s.Dims()
	for j := range c {
		for k := range m {
			s.Set(j, k, s.At(j, k)*math.Pow(pooledCurvature*u.rows[k]+1, -power/2))
		}
	}
}

// out returns the fit for coordinates v.
func (u pooledUnits) out(v []float64) classesFit {
	fit := slices.Clone(v)
	w, s := u.parts(fit)
	u.scale(s, 1)
	linalg.EachRow(w, func(row []float64) { linalg.SolveTriangle(blas.NoTrans, u.u, row) })
	return fit
}

// in returns the coordinates v of a fit.
func (u pooledUnits) in(fit classesFit) []float64 {
	v := slices.Clone(fit)
	w, s := u.parts(v)
	u.scale(s, -1)
	blas64.Trmm(blas.Right, blas.Trans, 1, u.u, w.RawMatrix())
	return v
}

// gradient overwrites the gradient with respect to the fit with the one with respect to v.
func (u pooledUnits) gradient(g []float64) {
	w, s := u.parts(g)
	u.scale(s, 1)
	linalg.EachRow(w, func(row []float64) { linalg.SolveTriangle(blas.Trans, u.u, row) })
}

// Converged stops the search once the squared norm of the gradient at v shows that a step lowers the objective by no more than the fraction
// pooledTolerance.
func (u pooledUnits) Converged(at *optimize.Location) optimize.Status {
	if at.Gradient != nil && linalg.Dot(at.Gradient, at.Gradient) <= 2*pooledTolerance*at.F {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}

func (pooledUnits) Init(int) {}

// fit solves the regression at lambda by L-BFGS, starting from another fit.
func (r *pooledLogistic) fit(ctx context.Context, lambda float64, from classesFit) (classesFit, error) {
	u := r.unitsAt(lambda)
	found, err := regress.Minimise(func() error { return cmp.Or(r.failed, ctx.Err()) }, func(v, slope []float64) float64 {
		value := r.objective(u.out(v), lambda, slope)
		u.gradient(slope)
		return value
	}, u.in(from), &optimize.Settings{Converger: u, MajorIterations: pooledSteps})
	if err != nil {
		return nil, err
	}
	return u.out(found), nil
}

// scoredFit is a fit with what it says of the target's samples, the regression that recalibrates this to them, its result, and its loss.
type scoredFit struct {
	classesFit
	pooledPredictions
	by   *regress.Multinomial
	left *regress.LeftOut
	loss float64
}

// search returns the fit with the least loss and its lambda, by [downhill] from the given lambda. The first fit starts from another one,
// from, and each other one from the best so far.
func (r *pooledLogistic) search(ctx context.Context, lambda float64, most int, from classesFit,
	score func(fit classesFit, lambda float64) (scoredFit, error)) (best scoredFit, at float64, err error) {
	best.classesFit = from
	at, _, err = downhill(lambda, most, func(next float64) (float64, error) {
		fit, err := r.fit(ctx, next, best.classesFit)
		if err != nil {
			return 0, err
		}
		of, err := score(fit, next)
		if err == nil && (next == lambda || of.loss < best.loss) {
			best = of
		}
		return of.loss, err
	})
	return best, at, err
}

// pooledPredictions holds the logits of samples by a fit, n by C, with the weights w of the features, the mean intercepts b of the sources,
// and the variances of the sources' intercepts.
type pooledPredictions struct {
	z            *mat.Dense
	w            [][]float64
	b, variances []float64
}

func (r *pooledLogistic) predict(fit classesFit, gram pooledGram, samples *mat.Dense) pooledPredictions {
	of, s := r.parts(fit)
	n, c := samples.RawMatrix().Rows, r.on.Rows
	out := pooledPredictions{z: mat.NewDense(n, c, nil)}
	for j := range c {
		w, b := gram.weights(of.RawRowView(j)), meanIntercept(s.RawRowView(j))
		var f mat.VecDense
		f.MulVec(samples, mat.NewVecDense(len(w), w))
		floats.AddConst(b, f.RawVector().Data)
		out.z.SetCol(j, f.RawVector().Data)
		out.w, out.b = append(out.w, w), append(out.b, b)
		out.variances = append(out.variances, math.Max(leastShift, spreadOfSources(s.RawRowView(j), c)))
	}
	return out
}
