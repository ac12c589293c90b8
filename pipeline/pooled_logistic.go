package pipeline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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
// wide that it matters only to a class without rows. It is solved for v, w = U v in the
// basis of the eigenvectors of X'X, in units in which the curvature is about 1 in all directions.
type pooledLogistic struct {
	queue  backend.Queue
	x, on  backend.Matrix // rows, n by d, and w, d by C
	f      backend.Matrix // n by C
	y      []float64      // n by C
	source []int          // of each row, from 0
	rows   []float64      // of each source
	basis  *mat.Dense     // U, d by d
	values []float64      // of X'X
	failed error
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

// classesFit is v, d by C, and s, sources by C, one behind the other.
type classesFit []float64

func (r *pooledLogistic) empty() classesFit {
	return make(classesFit, (len(r.values)+len(r.rows))*r.f.Cols)
}

func (r *pooledLogistic) parts(p []float64) (v, s *mat.Dense) {
	d, c, m := len(r.values), r.f.Cols, len(r.rows)
	return mat.NewDense(d, c, p[:d*c]), mat.NewDense(m, c, p[d*c:])
}

// meanIntercept is the best b for intercepts s of an output.
func meanIntercept(s []float64) float64 { return floats.Sum(s) / (float64(len(s)) + precisionB) }

// units are those of each element at lambda.
func (r *pooledLogistic) units(lambda float64) []float64 {
	var curvature []float64
	for _, v := range r.values {
		curvature = append(curvature, math.Max(pooledCurvature*v+lambda, leastCurvature))
	}
	for _, n := range r.rows {
		curvature = append(curvature, pooledCurvature*n+1)
	}
	all := r.empty()
	for i := range all {
		all[i] = 1 / math.Sqrt(curvature[i/r.f.Cols])
	}
	return all
}

// objective at a fit, with its gradient in the place of grad.
func (r *pooledLogistic) objective(fit classesFit, lambda float64, grad []float64) float64 {
	n, c := r.x.Rows, r.f.Cols
	v, s := r.parts(fit)
	onV, onS := r.parts(grad)
	w, f := new(mat.Dense), make([]float64, n*c)
	w.Mul(r.basis, v)
	r.do(
		func() error { return backend.Put(r.queue, r.on.Buf, 0, w.RawMatrix().Data) },
		func() error { return r.queue.Gemm(false, false, 1, r.x, r.on, 0, r.f) },
		func() error { return backend.Get(r.queue, f, r.f.Buf, 0) })
	value := lambda / 2 * dot(v.RawMatrix().Data, v.RawMatrix().Data)
	for j := range c {
		of := mat.Col(nil, j, s)
		b := meanIntercept(of)
		value += precisionB / 2 * b * b
		floats.AddConst(-b, of)
		value += dot(of, of) / 2
		onS.SetCol(j, of) // b being the best, what it does is nothing
	}
	for i := range f {
		m, j := r.source[i/c], i%c
		at := f[i] + s.At(m, j)
		value += logOfLabel(at, r.y[i])
		f[i] = sigmoid(at) - r.y[i]
		onS.Set(m, j, onS.At(m, j)+f[i])
	}
	r.do(
		func() error { return backend.Put(r.queue, r.f.Buf, 0, f) },
		func() error { return r.queue.Gemm(true, false, 1, r.x, r.f, 0, r.on) },
		func() error { return backend.Get(r.queue, w.RawMatrix().Data, r.on.Buf, 0) })
	onV.Mul(r.basis.T(), w)
	var penalty mat.Dense
	penalty.Scale(lambda, v)
	onV.Add(onV, &penalty)
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

// fit solves at lambda from another fit, by gradient steps with Nesterov's momentum, which starts anew
// where it points uphill (O'Donoghue and Candes 2015), up to where the square of the gradient says that
// a step lowers the objective by a part of pooledTolerance or less.
func (r *pooledLogistic) fit(ctx context.Context, lambda float64, from classesFit) (classesFit, error) {
	const step = pooledCurvature / 0.5 // one over the largest curvature in these units: 1/4 for w, 1/4 for s
	units := r.units(lambda)
	x, ahead, grad := slices.Clone(from), slices.Clone(from), make([]float64, len(from))
	for turn, momentum := 0, 1.0; turn < pooledSteps; turn++ {
		value := r.objective(ahead, lambda, grad)
		if err := cmp.Or(r.failed, ctx.Err()); err != nil {
			return nil, err
		}
		square, along := 0.0, 0.0
		for i, g := range grad {
			g *= units[i]
			square += g * g
			next := ahead[i] - step*g*units[i]
			along += grad[i] * (next - x[i])
			x[i], ahead[i] = next, next-x[i]
		}
		if square <= 2*pooledTolerance*value {
			break
		}
		rise := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		push := (momentum - 1) / rise
		if momentum = rise; along > 0 {
			push, momentum = 0, 1
		}
		for i := range ahead {
			ahead[i] = x[i] + push*ahead[i]
		}
	}
	return x, nil
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
	r := pooledLogistic{queue: l.queue, basis: ridge.basis, values: slices.Clone(ridge.values)}
	part := float64(n) / float64(len(rows))
	floats.Scale(part, r.values)
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
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	r.x, r.on, r.f = tmp.Matrix(backend.Float64, n, d), tmp.Matrix(backend.Float64, d, c), tmp.Matrix(backend.Float64, n, c)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	if err := backend.Put(l.queue, r.x.Buf, 0, l.problem.centred(nil, some, ridge.centre, u.each)); err != nil {
		return nil, err
	}
	own := make([]poolRow, len(target))
	for i, row := range target {
		own[i] = poolRow{l.problem.Target.Pool, int(row)}
	}
	samples := mat.NewDense(len(own), d, l.problem.centred(nil, own, ridge.centre, u.each))
	// The log-odds of the samples by output j, each left out, and the weights and the intercept for a new row.
	of := func(fit classesFit, j int) (left, w []float64, intercept float64) {
		v, s := r.parts(fit)
		var weights, said mat.VecDense
		weights.MulVec(r.basis, v.ColView(j))
		said.MulVec(samples, &weights)
		f := said.RawVector().Data
		intercepts := mat.Col(nil, j, s)
		b := meanIntercept(intercepts)
		floats.AddConst(b, f)
		shift, left := shiftOf(f, labels[j], math.Max(leastShift, stat.PopVariance(intercepts, nil)))
		return left, weights.RawVector().Data, b + shift
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
