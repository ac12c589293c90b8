package pipeline

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// linear is the representation phi(x) = B'z with a head w_t for each output t of the sources
// (paper, section 2). The paper's model has z = x. With intercepts, z is
// (x - mu) / s, s one number or one for each feature, in general s s_j, and the prediction of
// task t is z'B w_t + b_t; see [units].
//
// What is learned is one parameter vector on the device: first B' (K by d), then
// W' (T by K), both row-major, then b (T) where there are intercepts.
type linear struct {
	b         backend.Queue
	k, d, t   int
	columns   int
	scales    int  // number of scales s: 1 or d
	derived   bool // whether they differ for the features that are computed from others alone
	intercept bool
	// all holds the parameters theta and, where there are intercepts, the units behind them: mu, s, and the unit of each column of labels.
	all, theta backend.Vector
}

// newLinear allocates a linear representation with K = k for rows of d features and t outputs of the sources. columns is the number of
// columns of labels, or 0 for a model without intercepts; scales is the number of scales of the features, 1 or d.
func newLinear(b backend.Queue, k, d, t, columns, scales int) (*linear, error) {
	n, rest := k*d+t*k, 0
	if columns > 0 {
		n, rest = n+t, d+scales+columns
	}
	buf, err := b.Alloc(backend.Float32, n+rest)
	if err != nil {
		return nil, err
	}
	all := backend.Vec(buf)
	return &linear{b: b, k: k, d: d, t: t, columns: columns, scales: scales, intercept: columns > 0, all: all, theta: section(all, 0, n)}, nil
}

func (l *linear) close() { l.all.Buf.Free() }

// section views n elements of a vector from element at on.
func section(v backend.Vector, at, n int) backend.Vector {
	return backend.Vector{Buf: v.Buf, Off: v.Off + at, Len: n}
}

// representation returns a view of B' (K by d) in a parameter vector. heads, weights and intercepts return views of W' (T by K), of B' and
// W' together, which are penalised, and of b (T).
func (l *linear) representation(theta backend.Vector) backend.Matrix {
	return section(theta, 0, l.k*l.d).Mat(l.k, l.d)
}

func (l *linear) heads(theta backend.Vector) backend.Matrix {
	return section(theta, l.k*l.d, l.t*l.k).Mat(l.t, l.k)
}

func (l *linear) weights(theta backend.Vector) backend.Vector {
	return section(theta, 0, l.k*l.d+l.t*l.k)
}

func (l *linear) intercepts(theta backend.Vector) backend.Vector {
	return section(theta, l.k*l.d+l.t*l.k, l.t)
}

// randomise draws B from N(0, 1/d) and W from N(0, 1/K), entry by entry.
func (l *linear) randomise(rng *rand.Rand) error {
	v := make([]float32, l.weights(l.theta).Len)
	for i := range v {
		n := l.d
		if i >= l.k*l.d {
			n = l.k
		}
		v[i] = float32(rng.NormFloat64() / math.Sqrt(float64(n)))
	}
	return backend.Put(l.b, l.theta.Buf, l.theta.Off, v)
}

// ermObjective is the empirical risk of eq. 2 over N labels, as a mean, with a Frobenius penalty:
//
//	f(B, W, b) = 1/N sum_t sum_i (z_i'B w_t + b_t - y_it)^2 + lambda (||B||_F^2 + ||W||_F^2)
//
// With P = B W (d by T), one pass over the samples gives the residuals r and Q = Z'R together, and the gradient is two thin products:
// grad_B = 2/N Q W' + 2 lambda B, grad_W = 2/N B'Q + 2 lambda W, grad_b = 2/N sum_i r_i. That is N d work in place of N d K. The pass is
// over the rows x as they are stored: since z'p = x'(p / s) - mu'p / s, centring is an offset for each task, and Q = (X'R - mu sum_i r_i) /
// s. A single s is a factor of the products. Where each feature has its own s_j, the columns of P' and Q' are scaled, 2 T d numbers beside
// N d.
type ermObjective struct {
	*linear
	s           backend.Samples
	labels      float64 // N
	lambda      float64
	p, q        backend.Matrix // T by d
	total, loss backend.Vector // T
	host        []float64
	square      []float64 // ||B||_F^2 + ||W||_F^2
	perLabel    []float64 // 2/N
	// With intercepts, offset and sum hold the offset and the sum of residuals of each task, and inverse is 1/s. Where features have s_j of
	// their own, each holds the 1/s_j.
	offset, sum backend.Vector
	inverse     float64
	each        backend.Vector
}

func newERMObjective(l *linear, s backend.Samples, labels int, lambda float64, tmp *backend.Scope) (*ermObjective, error) {
	o := &ermObjective{
		linear: l, s: s, labels: float64(labels), lambda: lambda, inverse: 1,
		p:    tmp.Matrix(backend.Float32, l.t, l.d),
		q:    tmp.Matrix(backend.Float32, l.t, l.d),
		loss: tmp.Vector(backend.Float64, l.t),
		host: make([]float64, l.t), square: make([]float64, 1), perLabel: []float64{2 / float64(labels)},
	}
	if l.intercept {
		o.total = tmp.Vector(backend.Float64, l.t)
		o.offset, o.sum = tmp.Vector(backend.Float32, l.t), tmp.Vector(backend.Float32, l.t)
		u, err := l.units()
		if err != nil {
			return nil, err
		}
		o.inverse = 1 / u.scale
		if u.each != nil {
			o.each = backend.Vec(backend.Upload(tmp, backend.Float32, u.inverse()))
		}
	}
	return o, tmp.Err()
}

func (o *ermObjective) Evaluate(x, g backend.Vector) error {
	b, phi, w := o.b, o.representation(x), o.heads(x)
	if err := b.Gemm(false, false, o.inverse, w, phi, 0, o.p); err != nil {
		return err
	}
	if err := o.scaleEach(o.p); err != nil {
		return err
	}
	if err := o.pass(x); err != nil {
		return err
	}
	scale, beta := o.perLabel[0], 0.0
	if o.lambda > 0 {
		if err := b.Copy(g, x); err != nil {
			return err
		}
		beta = 2 * o.lambda
		v := o.weights(x)
		row := v.Mat(1, v.Len)
		if err := b.Dots(row, row, o.square); err != nil {
			return err
		}
	}
	if err := b.Gemm(true, false, scale*o.inverse, w, o.q, beta, o.representation(g)); err != nil {
		return err
	}
	if err := b.Gemm(false, true, scale*o.inverse, o.q, phi, beta, o.heads(g)); err != nil {
		return err
	}
	if o.intercept {
		if err := b.Combine(o.perLabel, o.sum.Mat(1, o.t), 0, o.intercepts(g)); err != nil {
			return err
		}
	}
	return backend.Get(b, o.host, o.loss.Buf, 0)
}

// scaleEach divides the columns of m by the s_j, where each feature has its own.
func (o *ermObjective) scaleEach(m backend.Matrix) error {
	if o.each.Buf == nil {
		return nil
	}
	return o.b.ScaleColumns(m, o.each)
}

// pass computes q = s Q and the loss of each task for p = P' / (s s_j) and the intercepts of x.
func (o *ermObjective) pass(x backend.Vector) error {
	b := o.b
	if !o.intercept {
		return b.TaskGradient(o.s, o.p, backend.Vector{}, o.q, backend.Vector{}, o.loss)
	}
	mu := o.centre()
	if err := b.Copy(o.offset, o.intercepts(x)); err != nil {
		return err
	}
	if err := b.Gemv(false, -1, o.p, mu, 1, o.offset); err != nil {
		return err
	}
	if err := b.TaskGradient(o.s, o.p, o.offset, o.q, o.total, o.loss); err != nil {
		return err
	}
	if err := b.Copy(o.sum, o.total); err != nil {
		return err
	}
	if err := b.Gemm(false, false, -1, o.sum.Mat(o.t, 1), mu.Mat(1, o.d), 1, o.q); err != nil {
		return err
	}
	return o.scaleEach(o.q)
}

func (o *ermObjective) Value() float64 {
	sum := 0.0
	for _, v := range o.host {
		sum += v
	}
	return sum/o.labels + o.lambda*o.square[0]
}
