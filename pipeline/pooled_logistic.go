package pipeline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
)

// pooledLogistic is the logistic regression of classes on the rows of all sources as those of one,
// all outputs together:
//
//	min over w, s, b:  sum_ic log(1 + exp(f_ic)) - y_ic f_ic + (lambda ||w||^2 + sum_mc (s_mc - b_c)^2 + ||b||^2/100)/2,
//	f_ic = x_i'w_c + s_mc
//
// for row i of source m. The intercepts s of the sources are from N(b, 1) in log-odds; the prior of b is so
// wide that it matters only to a class without rows. It is solved for v, w_c = Q L'^-1 v_c with
// Q L L'Q' = c X'X + lambda I, so that the curvature is about 1 in all directions.
type pooledLogistic struct {
	queue        backend.Queue
	x            backend.Matrix // rows, n by d
	on           backend.Matrix // w and its gradient, C by d
	f, residuals backend.Matrix // n by C, C by n
	y            []float64      // n by C
	source       []int          // of each row, from 0
	rows         []float64      // of each source
	gram         tridiagonal    // X'X
	failed       error
}

const (
	// pooledRows is the most rows that the regression takes, at equal distances.
	pooledRows = 1 << 13
	// pooledCurvature stands for p (1 - p), which is at most 1/4.
	pooledCurvature = 0.1
	pooledTolerance = 1e-5
	pooledSteps     = 200
	precisionB      = 0.01
	// leastCurvature is that of features that are the same in all rows.
	leastCurvature = 1e-100
	// leastShift is the least variance of the sources' intercepts.
	leastShift = 0.01
)

// newPooledLogistic is that of n rows of d features for c classes.
func newPooledLogistic(queue backend.Queue, tmp *backend.Scope, gram tridiagonal, n, d, c int) (*pooledLogistic, error) {
	r := &pooledLogistic{
		queue: queue, gram: gram,
		x: tmp.Matrix(backend.Float32, n, d), on: tmp.Matrix(backend.Float32, c, d),
		f: tmp.Matrix(backend.Float32, n, c), residuals: tmp.Matrix(backend.Float32, c, n),
	}
	return r, tmp.Err()
}

// classesFit is w, C by d, and s, C by the number of sources, one behind the other.
type classesFit []float64

func (r *pooledLogistic) empty() classesFit {
	return make(classesFit, r.on.Rows*(r.x.Cols+len(r.rows)))
}

func (r *pooledLogistic) parts(p []float64) (w, s *mat.Dense) {
	d, c, m := r.x.Cols, r.on.Rows, len(r.rows)
	return mat.NewDense(c, d, p[:c*d]), mat.NewDense(c, m, p[c*d:])
}

// meanIntercept is the best b for intercepts s of an output.
func meanIntercept(s []float64) float64 { return floats.Sum(s) / (float64(len(s)) + precisionB) }

// objective at a fit, with its gradient in the place of grad.
func (r *pooledLogistic) objective(fit classesFit, lambda float64, grad []float64) float64 {
	n, c := r.x.Rows, r.on.Rows
	w, s := r.parts(fit)
	onW, onS := r.parts(grad)
	f, residuals, sums := make([]float32, n*c), make([]float32, c*n), make([]float32, c*r.x.Cols)
	r.do(
		func() error { return backend.Put(r.queue, r.on.Buf, 0, toFloat32(w.RawMatrix().Data)) },
		func() error { return r.queue.Gemm(false, true, 1, r.x, r.on, 0, r.f) },
		func() error { return backend.Get(r.queue, f, r.f.Buf, 0) })
	value := lambda / 2 * dot(w.RawMatrix().Data, w.RawMatrix().Data)
	for j := range c {
		of := onS.RawRowView(j)
		copy(of, s.RawRowView(j))
		b := meanIntercept(of)
		value += precisionB / 2 * b * b
		floats.AddConst(-b, of)
		value += dot(of, of) / 2 // b being the best, what it does is nothing
		for i, m := range r.source {
			loss, residual := logistic01(float64(f[i*c+j])+s.At(j, m), r.y[i*c+j])
			value += loss
			of[m] += residual
			residuals[j*n+i] = float32(residual)
		}
	}
	r.do(
		func() error { return backend.Put(r.queue, r.residuals.Buf, 0, residuals) },
		func() error { return r.queue.Gemm(false, false, 1, r.residuals, r.x, 0, r.on) },
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

func (r *pooledLogistic) do(steps ...func() error) {
	for _, step := range steps {
		if r.failed == nil {
			r.failed = step()
		}
	}
}

// pooledUnits are those that a regression at lambda is solved in.
type pooledUnits struct {
	*pooledLogistic
	shift shift // c (T + mu I) = L L'
}

func (r *pooledLogistic) unitsAt(lambda float64) pooledUnits {
	least := 0.0
	for _, v := range r.gram.main {
		least = math.Max(least, 1e-12*v) // what is below is rounding
	}
	return pooledUnits{r, r.gram.shift(math.Max(math.Max(least, leastCurvature), lambda/pooledCurvature))}
}

var rootCurvature = math.Sqrt(pooledCurvature)

// scale multiplies intercepts s by their units to the power.
func (u pooledUnits) scale(s *mat.Dense, power float64) {
	c, m := s.Dims()
	for j := range c {
		for k := range m {
			s.Set(j, k, s.At(j, k)*math.Pow(pooledCurvature*u.rows[k]+1, -power/2))
		}
	}
}

// out returns the fit for v.
func (u pooledUnits) out(v []float64) classesFit {
	fit := slices.Clone(v)
	w, s := u.parts(fit)
	u.scale(s, 1)
	for j := range u.on.Rows {
		u.shift.upper(w.RawRowView(j))
	}
	u.turn(w, u.gram.q.T(), 1/rootCurvature)
	return fit
}

// in returns v of a fit.
func (u pooledUnits) in(fit classesFit) []float64 {
	v := slices.Clone(fit)
	w, s := u.parts(v)
	u.scale(s, -1)
	u.turn(w, u.gram.q, rootCurvature)
	for j := range u.on.Rows {
		u.shift.timesUpper(w.RawRowView(j))
	}
	return v
}

// gradient overwrites that with respect to the fit with that with respect to v.
func (u pooledUnits) gradient(g []float64) {
	w, s := u.parts(g)
	u.scale(s, 1)
	u.turn(w, u.gram.q, 1/rootCurvature)
	for j := range u.on.Rows {
		u.shift.lower(w.RawRowView(j))
	}
}

// turn overwrites w with by w q.
func (u pooledUnits) turn(w *mat.Dense, q mat.Matrix, by float64) {
	var out mat.Dense
	out.Mul(w, q)
	w.Scale(by, &out)
}

// Converged says that the square of the gradient at v tells that a step lowers the objective by a part
// of pooledTolerance or less.
func (u pooledUnits) Converged(at *optimize.Location) optimize.Status {
	if at.Gradient != nil && dot(at.Gradient, at.Gradient) <= 2*pooledTolerance*at.F {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}

func (pooledUnits) Init(int) {}

// fit solves at lambda from another fit, by L-BFGS.
func (r *pooledLogistic) fit(ctx context.Context, lambda float64, from classesFit) (classesFit, error) {
	u := r.unitsAt(lambda)
	var last, slope []float64 // of the last point
	value := 0.0
	at := func(v []float64) {
		if last == nil || !floats.Equal(v, last) {
			last, slope = slices.Clone(v), make([]float64, len(v))
			value = r.objective(u.out(v), lambda, slope)
			u.gradient(slope)
		}
	}
	found, err := optimize.Minimize(optimize.Problem{
		Func: func(v []float64) float64 { at(v); return value },
		Grad: func(to, v []float64) { at(v); copy(to, slope) },
		Status: func() (optimize.Status, error) {
			if err := cmp.Or(r.failed, ctx.Err()); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}, u.in(from), &optimize.Settings{Converger: u, MajorIterations: pooledSteps}, &optimize.LBFGS{})
	if stop := cmp.Or(r.failed, ctx.Err()); stop != nil {
		return nil, stop
	}
	if found == nil {
		return nil, err
	}
	// A search that ends early is at the end of what float32 can tell.
	return u.out(found.X), nil
}

// search returns the fit with the least loss, downhill from lambda in steps of a factor 10, at most four.
func (r *pooledLogistic) search(ctx context.Context, lambda float64, loss func(classesFit) float64) (classesFit, error) {
	best, err := r.fit(ctx, lambda, r.empty())
	if err != nil {
		return nil, err
	}
	least := loss(best)
	for _, by := range []float64{10, 0.1} {
		start := least
		for steps := 1; steps <= 4; steps++ {
			fit, err := r.fit(ctx, lambda*math.Pow(by, float64(steps)), best)
			if err != nil {
				return nil, err
			}
			at := loss(fit)
			if !(at < least) {
				break
			}
			best, least = fit, at
		}
		if least < start {
			break
		}
	}
	return best, nil
}

// shiftOf is what to add to log-odds f so that they fit labels y, by Newton's method, if it is from N(0,
// variance). left are f with what it would be without each, one step of that method away. Labels
// that are NaN do not count.
func shiftOf(f, y []float64, variance float64) (b float64, left []float64) {
	var slope, curvature float64
	for turn := 0; turn < newtonSteps; turn++ {
		slope, curvature = b/variance, 1/variance
		for i, v := range f {
			if y[i] == y[i] {
				p := sigmoid(v + b)
				slope, curvature = slope+p-y[i], curvature+p*(1-p)
			}
		}
		step := math.Max(-1, math.Min(1, slope/curvature))
		if b -= step; math.Abs(step) < newtonTolerance {
			break
		}
	}
	left = make([]float64, len(f))
	for i, v := range f {
		if left[i] = v + b; y[i] == y[i] {
			p := sigmoid(v + b)
			left[i] += (p - y[i]) / (curvature - p*(1-p))
		}
	}
	return b, left
}

// pooledClasses are the heads of the outputs of a column by logistic regression on rows with labels y, and
// their log-odds of the target's samples. These choose the penalty, and shift the intercept: that of
// the target is taken to be as far from the sources' mean as theirs are. Each sample is
// left out of its own shift.
func (l *Learner) pooledClasses(ctx context.Context, ridge *pooledFit, rows []poolRow, y []float64, target []int32, labels [][]float64,
	u units) ([]prediction, error) {
	c, n, d := len(labels), min(len(rows), pooledRows), len(ridge.centre)
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	part := float64(n) / float64(len(rows))
	r, err := newPooledLogistic(l.queue, tmp, ridge.gram.scaled(part), n, d, c)
	if err != nil {
		return nil, err
	}
	number, some := map[int]int{}, make([]poolRow, n)
	for i := range some {
		at := i * len(rows) / n
		some[i] = rows[at]
		m, known := number[some[i].pool]
		if !known {
			m = len(r.rows)
			number[some[i].pool], r.rows = m, append(r.rows, 0)
		}
		r.rows[m]++
		r.source = append(r.source, m)
		r.y = append(r.y, y[at*c:(at+1)*c]...)
	}
	var host []float64
	for lo := 0; lo < n; lo += pooledBlock {
		host = l.problem.centred(host, some[lo:min(lo+pooledBlock, n)], ridge.centre, u.each)
		if err := backend.Put(l.queue, r.x.Buf, lo*d, toFloat32(host)); err != nil {
			return nil, err
		}
	}
	own := make([]poolRow, len(target))
	for i, row := range target {
		own[i] = poolRow{l.problem.Target.Pool, int(row)}
	}
	samples := mat.NewDense(len(own), d, l.problem.centred(nil, own, ridge.centre, u.each))
	// The log-odds of the samples by output j, each left out, and the weights and the intercept for a new row.
	of := func(fit classesFit, j int) (left, w []float64, intercept float64) {
		weights, s := r.parts(fit)
		var said mat.VecDense
		said.MulVec(samples, weights.RowView(j))
		f := said.RawVector().Data
		intercepts := s.RawRowView(j)
		b := meanIntercept(intercepts)
		floats.AddConst(b, f)
		shift, left := shiftOf(f, labels[j], math.Max(leastShift, stat.PopVariance(intercepts, nil)))
		return left, weights.RawRowView(j), b + shift
	}
	fit, err := r.search(ctx, ridge.lambda*ridge.unit*part*pooledCurvature, func(fit classesFit) float64 {
		sum := 0.0
		for j, y := range labels {
			left, _, _ := of(fit, j)
			sum += prediction{left: left}.logLoss(y)
		}
		return sum
	})
	if err != nil {
		return nil, err
	}
	out := make([]prediction, c)
	for j := range out {
		left, w, intercept := of(fit, j)
		out[j] = prediction{ridge.head(l.problem.Config.K, w, intercept, u), left}
	}
	return out, nil
}
