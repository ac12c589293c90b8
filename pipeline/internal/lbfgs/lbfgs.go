// Package lbfgs minimises a function of a vector on a device by the limited-memory BFGS method (Nocedal and Wright, algorithm
// 7.5) with a weak Wolfe line search by bisection (Lewis and Overton 2013).
package lbfgs

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/amtrl/amtrl/backend"
)

// Objective is a differentiable function of a parameter vector on a device.
type Objective interface {
	// Evaluate issues the evaluation of f at x, with its gradient written to g, as
	// part of a [backend.Program].
	Evaluate(x, g backend.Vector) error
	// Value returns f(x) of the last evaluation, once the program has run.
	Value() float64
}

// Stop says when to stop: after the given number of Iterations, once the last ten iterations together lowered the objective
// by less than Tolerance times its value, 2^-30 at least, or when Observe, if not nil, returns true.
type Stop struct {
	Iterations int
	Tolerance  float64
	Observe    func(iteration int, value float64) bool
}

const window = 10

// rounding is the tolerance below which ten iterations only move among points that rounding to float32 cannot tell apart.
const rounding = 0x1p-30

// Result is the end of a search: the Value of the objective there, the Reason for stopping, and the number of Iterations and
// of Evaluations of the objective that it took.
type Result struct {
	Value                   float64
	Iterations, Evaluations int
	Reason                  string
}

// MaxPairs bounds the pairs of a search, so that its recursion needs no heap allocation.
const MaxPairs = 64

// Minimise searches for the least value of f from theta, a vector of float32, and overwrites theta with the point that it ends
// at. It knows the curvature by up to the given number of pairs of a step and the change of the gradient over it, 1 to
// [MaxPairs]. Where f is not finite at theta, an operation of the device fails or ctx ends, it returns an error.
func Minimise(ctx context.Context, b backend.Queue, f Objective, theta backend.Vector, pairs int, stop Stop) (Result, error) {
	l, err := newSearch(b, f, theta, pairs)
	if err != nil {
		return Result{}, err
	}
	defer l.close()
	return l.minimise(ctx, stop)
}

// search is one minimisation. The host runs the two-loop recursion on the inner products of the basis (s_1..s_m, y_1..y_m, g). A
// trial computes, besides the objective and its gradient, the pair that it would add and the inner products of that pair, so
// that a step that is accepted costs no further transfer: an iteration takes two copies, which store a pair, and for each
// evaluation one program, one wait and one transfer back.
type search struct {
	b     backend.Queue
	f     Objective
	theta backend.Vector // start and end
	n, m  int
	tmp   *backend.Scope
	// rows holds the basis, s and y (m rows each) and g, followed by the trial's s, y and gradient, the direction d and the trial point.
	// The row before them is x.
	rows backend.Matrix

	pairs    int       // valid pairs, at most m
	next     int       // slot of the next pair
	sy, yy   []float64 // m by m: sy[i,j] = s_i'y_j for j not older than i; yy symmetric
	dots     []float64 // inner products of the basis and the gradient
	byY, byG []float64 // inner products of the rows up to d with the trial's y and with its gradient
	both     []float64 // byY and byG in one slice
	coef     []float64 // coefficients of the direction in the basis
	step     []float64 // 1 and the step length of the trial
	evals    int

	// pending is the slot for the pair of an accepted trial that has not been moved into x and the basis: m for a trial without a pair, -1
	// for no trial.
	pending int
	// begin evaluates f at the start, again makes a trial along d, turn forms d and makes a trial, and move moves x to the accepted trial
	// and then does what turn does.
	begin, again, turn, move *program
}

const (
	armijo    = 1e-4
	curvature = 0.9
	maxTrials = 30
)

// program is a program of the device that is recorded when it first runs.
type program struct {
	fn   func() error
	prog backend.Program
}

func (p *program) run(b backend.Queue) (err error) {
	if p.prog == nil {
		if p.prog, err = b.Record(p.fn); err != nil {
			return err
		}
	}
	return p.prog.Run()
}

// newSearch allocates the state for minimising f from theta with m pairs.
func newSearch(b backend.Queue, f Objective, theta backend.Vector, m int) (*search, error) {
	n, tmp := theta.Len, backend.NewScope(b)
	l := &search{
		b: b, f: f, theta: theta, n: n, m: m, tmp: tmp, pending: -1,
		rows: tmp.Matrix(backend.Float32, 2*m+7, n),
		sy:   make([]float64, m*m), yy: make([]float64, m*m),
		dots: make([]float64, 2*m+1), coef: make([]float64, 2*m+1),
		both: make([]float64, 2*(2*m+5)), step: []float64{1, 0},
	}
	l.byY, l.byG = l.both[:2*m+5], l.both[2*m+5:]
	if err := tmp.Err(); err != nil {
		tmp.Close()
		return nil, err
	}
	l.rows = l.span(1, 2*m+6, 1)
	l.begin = &program{fn: l.issueBegin}
	l.again = &program{fn: l.issueTrial}
	l.turn = &program{fn: func() error { return cmp.Or(l.issueDirection(), l.issueTrial()) }}
	l.move = &program{fn: func() error { return cmp.Or(l.issueMove(), l.issueDirection(), l.issueTrial()) }}
	return l, nil
}

func (l *search) close() {
	for _, p := range []*program{l.begin, l.again, l.turn, l.move} {
		if p.prog != nil {
			p.prog.Free()
		}
	}
	l.tmp.Close()
}

func (l *search) s(i int) backend.Vector { return l.rows.Row(i) }

func (l *search) y(i int) backend.Vector { return l.rows.Row(l.m + i) }

func (l *search) g() backend.Vector { return l.rows.Row(2 * l.m) }

func (l *search) st() backend.Vector { return l.rows.Row(2*l.m + 1) }

func (l *search) yt() backend.Vector { return l.rows.Row(2*l.m + 2) }

func (l *search) gt() backend.Vector { return l.rows.Row(2*l.m + 3) }

func (l *search) d() backend.Vector { return l.rows.Row(2*l.m + 4) }

func (l *search) xt() backend.Vector { return l.rows.Row(2*l.m + 5) }

func (l *search) x() backend.Vector { return l.rows.Row(-1) }

// span returns a view of count rows, each apart rows after the one before, from row first on.
func (l *search) span(first, count, apart int) backend.Matrix {
	v := l.rows
	v.Off, v.Rows, v.Stride = v.Off+first*l.n, count, apart*l.n
	return v
}

// basis returns the rows that the direction is a linear combination of.
func (l *search) basis() backend.Matrix { return l.span(0, 2*l.m+1, 1) }

// issueBegin copies theta to x and evaluates f there, with the inner products of the basis and the gradient.
func (l *search) issueBegin() error {
	return cmp.Or(l.b.Copy(l.x(), l.theta), l.f.Evaluate(l.x(), l.g()), l.b.Dots(l.basis(), l.g().Mat(1, l.n), l.dots))
}

// issueMove moves x to the trial point and its gradient to g.
func (l *search) issueMove() error {
	return cmp.Or(l.b.Copy(l.x(), l.xt()), l.b.Copy(l.g(), l.gt()))
}

// keepPair copies the trial's pair into a slot; slot m stands for no pair. It is not part of a program, since each slot would need a
// program of its own.
func (l *search) keepPair(slot int) error {
	if slot == l.m {
		return nil
	}
	return cmp.Or(l.b.Copy(l.s(slot), l.st()), l.b.Copy(l.y(slot), l.yt()))
}

// issueDirection forms d from its coefficients in the basis.
func (l *search) issueDirection() error {
	return l.b.Combine(l.coef, l.basis(), 0, l.d())
}

// issueTrial evaluates f at xt = x + step d and forms the pair s = step d, y =
// gt - g with its inner products.
func (l *search) issueTrial() error {
	b, m := l.b, l.m
	return cmp.Or(
		b.Combine(l.step, l.span(-1, 2, 2*m+5), 0, l.xt()),
		l.f.Evaluate(l.xt(), l.gt()),
		b.Combine(l.step[1:], l.d().Mat(1, l.n), 0, l.st()),
		b.Combine(minus, l.span(2*m, 2, 3), 0, l.yt()),
		b.Dots(l.span(0, 2*m+5, 1), l.span(2*m+2, 2, 1), l.both))
}

// minus holds the coefficients by which the first of two rows is subtracted from the second.
var minus = []float64{-1, 1}

func (l *search) minimise(ctx context.Context, stop Stop) (Result, error) {
	l.evals++
	if err := l.begin.run(l.b); err != nil {
		return Result{}, err
	}
	fx := l.f.Value()
	if math.IsNaN(fx) || math.IsInf(fx, 0) {
		return Result{}, fmt.Errorf("the objective is %g at the starting point", fx)
	}
	past := []float64{fx}
	for len(past) <= stop.Iterations {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if l.dots[2*l.m] == 0 {
			return l.end(past, "the gradient is zero")
		}
		slope := l.direction()
		step := 1.0
		if l.pairs == 0 {
			step = 1 / math.Max(1, math.Sqrt(l.dots[2*l.m]))
		}
		fNew, ok, err := l.wolfe(fx, slope, step)
		if err != nil {
			return Result{}, err
		}
		if !ok {
			if l.pairs == 0 {
				return l.end(past, "no step lowers the objective")
			}
			l.pairs, l.next = 0, 0
			continue
		}
		l.accept()
		fx = fNew
		past = append(past, fx)
		if stop.Observe != nil && stop.Observe(len(past)-1, fx) {
			return l.end(past, "stopped by the observer")
		}
		if k := len(past) - 1 - window; k >= 0 && past[k]-fx < max(stop.Tolerance, rounding)*fx {
			return l.end(past, "converged")
		}
	}
	return l.end(past, "iteration limit")
}

// end copies the last accepted point to theta. past has the objective at each of them.
func (l *search) end(past []float64, reason string) (Result, error) {
	last := l.xt()
	if l.pending < 0 {
		last = l.x()
	}
	if err := l.b.Copy(l.theta, last); err != nil {
		return Result{}, err
	}
	return Result{past[len(past)-1], len(past) - 1, l.evals, reason}, nil
}

// direction computes the coefficients of d = -H g and returns g'd, given dots =
// basis'g.
func (l *search) direction() (slope float64) {
	m, c := l.m, l.coef
	clear(c)
	// slot(k) is the slot of the k-th oldest pair.
	slot := func(k int) int { return ((l.next-l.pairs+k)%m + m) % m }
	var alpha [MaxPairs]float64
	gamma := 1.0
	// q = g - sum alpha_j y_j, newest to oldest.
	for k := l.pairs - 1; k >= 0; k-- {
		i := slot(k)
		q := l.dots[i]
		for k2 := k + 1; k2 < l.pairs; k2++ {
			j := slot(k2)
			q -= alpha[j] * l.sy[i*m+j]
		}
		alpha[i] = q / l.sy[i*m+i]
	}
	if l.pairs > 0 {
		i := slot(l.pairs - 1)
		gamma = l.sy[i*m+i] / l.yy[i*m+i]
	}
	// r = gamma q + sum (alpha_j - beta_j) s_j, oldest to newest.
	for k := range l.pairs {
		i := slot(k)
		yr := gamma * l.dots[m+i]
		for k2 := range l.pairs {
			j := slot(k2)
			yr -= gamma * alpha[j] * l.yy[i*m+j]
		}
		for k2 := range k {
			j := slot(k2)
			yr += c[j] * l.sy[j*m+i]
		}
		c[i] = alpha[i] - yr/l.sy[i*m+i]
	}
	for k := range l.pairs {
		i := slot(k)
		c[m+i] = -gamma * alpha[i]
	}
	c[2*m] = gamma
	for i := range c {
		c[i] = -c[i]
		slope += c[i] * l.dots[i]
	}
	return slope
}

// wolfe finds a step that meets the weak Wolfe conditions along the direction that coef gives, and leaves the trial point and its gradient
// in xt and gt. Where rounding hides the curvature, it takes the longest step with sufficient decrease; ok is false if there is none.
func (l *search) wolfe(fx, slope, step float64) (fNew float64, ok bool, err error) {
	if !(slope < 0) {
		return fx, false, nil
	}
	prog := l.turn
	if l.pending >= 0 {
		if err := l.keepPair(l.pending); err != nil {
			return 0, false, err
		}
		prog, l.pending = l.move, -1
	}
	lo, hi := 0.0, math.Inf(1)
	for range maxTrials {
		ft, err := l.evaluate(prog, step)
		if err != nil {
			return 0, false, err
		}
		prog = l.again
		if !(ft <= fx+armijo*step*slope) {
			hi = step
		} else {
			if gd := l.byG[2*l.m+4]; gd >= curvature*slope {
				return ft, true, nil
			}
			lo = step
		}
		if step = (lo + hi) / 2; math.IsInf(hi, 1) {
			step = 2 * lo
		} else if hi-lo <= 1e-7*hi {
			break
		}
	}
	if lo == 0 {
		return fx, false, nil
	}
	ft, err := l.evaluate(prog, lo)
	return ft, true, err
}

// evaluate runs the program of a trial and returns f at xt = x + step d, whose gradient is in gt.
func (l *search) evaluate(p *program, step float64) (float64, error) {
	l.step[1] = step
	l.evals++
	if err := p.run(l.b); err != nil {
		return 0, err
	}
	return l.f.Value(), nil
}

// accept makes the trial the current point and, where s'y > 0 by a margin, records its pair. The rows on the device follow in the next
// search.
func (l *search) accept() {
	m, i := l.m, l.next
	st, yt, gt := 2*m+1, 2*m+2, 2*m+3
	copy(l.dots, l.byG[:2*m])
	l.dots[2*m] = l.byG[gt]
	sy, yy := l.byY[st], l.byY[yt]
	if !(sy > 1e-10*yy) {
		l.pending = m
		return
	}
	for j := range m {
		l.sy[j*m+i] = l.byY[j]
		l.yy[j*m+i], l.yy[i*m+j] = l.byY[m+j], l.byY[m+j]
	}
	l.sy[i*m+i], l.yy[i*m+i] = sy, yy
	l.dots[i], l.dots[m+i] = l.byG[st], l.byG[yt]
	l.pending = i
	l.next = (i + 1) % m
	l.pairs = min(l.pairs+1, m)
}
