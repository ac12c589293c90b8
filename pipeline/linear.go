package pipeline

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// linear is the representation phi(x) = B'x with a head w_t for each source
// (paper, section 2), as one parameter vector on the device: first B' (K by d),
// then W' (T by K), both row-major.
type linear struct {
	b       backend.Queue
	k, d, t int
	theta   backend.Vector
}

func newLinear(b backend.Queue, k, d, t int) (*linear, error) {
	buf, err := b.Alloc(backend.Float32, k*d+t*k)
	if err != nil {
		return nil, err
	}
	return &linear{b: b, k: k, d: d, t: t, theta: backend.Vec(buf)}, nil
}

func (l *linear) close() { l.theta.Buf.Free() }

// representation views B' (K by d) of a parameter vector, heads its W' (T by K).
func (l *linear) representation(theta backend.Vector) backend.Matrix {
	return backend.Vector{Buf: theta.Buf, Off: theta.Off, Len: l.k * l.d}.Mat(l.k, l.d)
}

func (l *linear) heads(theta backend.Vector) backend.Matrix {
	return backend.Vector{Buf: theta.Buf, Off: theta.Off + l.k*l.d, Len: l.t * l.k}.Mat(l.t, l.k)
}

// randomise draws B from N(0, 1/d) and W from N(0, 1/K), entry by entry.
func (l *linear) randomise(rng *rand.Rand) error {
	v := make([]float32, l.theta.Len)
	for i := range v {
		n := l.d
		if i >= l.k*l.d {
			n = l.k
		}
		v[i] = float32(rng.NormFloat64() / math.Sqrt(float64(n)))
	}
	return backend.Put(l.b, l.theta.Buf, l.theta.Off, v)
}

// ermObjective is the empirical risk of eq. 1 over N samples, as a mean, with a
// Frobenius penalty:
//
//	f(B, W) = 1/N sum_t sum_i (x_i'B w_t - y_i)^2 + lambda (||B||_F^2 + ||W||_F^2)
//
// With P = B W (d by T) one pass over the samples gives the residuals and
// Q = X'(X P - Y) together, and the gradient is two thin products:
// grad_B = 2/N Q W' + 2 lambda B, grad_W = 2/N B'Q + 2 lambda W. That is N d
// work in place of N d K.
type ermObjective struct {
	*linear
	s      backend.Samples
	lambda float64
	p, q   backend.Matrix // T by d
	loss   backend.Vector // T
	host   []float64
	square []float64 // x'x
}

func newERMObjective(l *linear, s backend.Samples, lambda float64, tmp *backend.Scope) (*ermObjective, error) {
	o := &ermObjective{
		linear: l, s: s, lambda: lambda,
		p:    tmp.Matrix(backend.Float32, l.t, l.d),
		q:    tmp.Matrix(backend.Float32, l.t, l.d),
		loss: tmp.Vector(backend.Float64, l.t),
		host: make([]float64, l.t), square: make([]float64, 1),
	}
	return o, tmp.Err()
}

func (o *ermObjective) evaluate(x, g backend.Vector) error {
	b, phi, w := o.b, o.representation(x), o.heads(x)
	if err := b.Gemm(false, false, 1, w, phi, 0, o.p); err != nil {
		return err
	}
	if err := b.TaskGradient(o.s, o.p, backend.Vector{}, o.q, backend.Vector{}, o.loss); err != nil {
		return err
	}
	scale, beta := 2/float64(o.s.Len()), 0.0
	if o.lambda > 0 {
		if err := b.Copy(g, x); err != nil {
			return err
		}
		beta = 2 * o.lambda
		if err := b.Dots(x.Mat(1, x.Len), x, o.square); err != nil {
			return err
		}
	}
	if err := b.Gemm(true, false, scale, w, o.q, beta, o.representation(g)); err != nil {
		return err
	}
	if err := b.Gemm(false, true, scale, o.q, phi, beta, o.heads(g)); err != nil {
		return err
	}
	return backend.Get(b, o.host, o.loss.Buf, 0)
}

func (o *ermObjective) value() float64 {
	sum := 0.0
	for _, v := range o.host {
		sum += v
	}
	return sum/float64(o.s.Len()) + o.lambda*o.square[0]
}
