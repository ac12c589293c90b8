package pipeline

import (
	"context"
	"fmt"
	"math"

	"github.com/amtrl/amtrl/backend"
)

// objective is a differentiable function of a parameter vector on a device.
type objective interface {
	// eval returns f(x) and writes its gradient to g.
	eval(x, g backend.Vector) (float64, error)
}

// lbfgs minimises an objective by the limited-memory BFGS method (Nocedal and
// Wright, algorithm 7.5) with a weak Wolfe line search by bisection (Lewis and
// Overton 2013).
//
// The two-loop recursion is carried out in the basis (s_1..s_m, y_1..y_m, g):
// one pass over the basis gives its inner products with g, the recursion runs
// on those scalars, one more pass forms the direction, and a third gives the
// inner products with the new y.
type lbfgs struct {
	b         backend.Backend
	n, m      int
	tmp       *backend.Scope
	basis     backend.Matrix // 2m+1 by n: s, y, g
	d, xt, gt backend.Vector // direction, trial point, trial gradient

	pairs  int       // valid pairs, at most m
	next   int       // slot the next pair goes to
	sy, yy []float64 // m by m: sy[i,j] = s_i'y_j for j not older than i; yy symmetric
	dots   []float64 // basis times the gradient
	coef   []float64
	evals  int
}

const (
	armijo    = 1e-4
	curvature = 0.9
	maxTrials = 30
	// maxHistory bounds the pairs, so that the recursion needs no heap.
	maxHistory = 64
)

// newLBFGS allocates the state for n parameters and m pairs.
func newLBFGS(b backend.Backend, n, m int) (*lbfgs, error) {
	tmp := backend.NewScope(b)
	l := &lbfgs{
		b: b, n: n, m: m, tmp: tmp,
		basis: tmp.Matrix(backend.Float32, 2*m+1, n),
		d:     tmp.Vector(backend.Float32, n),
		xt:    tmp.Vector(backend.Float32, n),
		gt:    tmp.Vector(backend.Float32, n),
		sy:    make([]float64, m*m), yy: make([]float64, m*m),
		dots: make([]float64, 2*m+1), coef: make([]float64, 2*m+1),
	}
	if err := tmp.Err(); err != nil {
		tmp.Close()
		return nil, err
	}
	return l, nil
}

func (l *lbfgs) close() { l.tmp.Close() }

func (l *lbfgs) s(i int) backend.Vector { return l.basis.Row(i) }
func (l *lbfgs) y(i int) backend.Vector { return l.basis.Row(l.m + i) }
func (l *lbfgs) g() backend.Vector      { return l.basis.Row(2 * l.m) }

// stopRule says when to stop: after Iterations, or once the last window
// iterations together lowered the objective by less than Tolerance times its
// value, or when observe, if there is one, returns true.
type stopRule struct {
	iterations int
	tolerance  float64
	observe    func(iteration int, fx float64) bool
}

const stopWindow = 10

// minimise improves x in place and reports how it ended.
func (l *lbfgs) minimise(ctx context.Context, f objective, x backend.Vector, stop stopRule) (fx float64, iterations int, reason string, err error) {
	fx, err = f.eval(x, l.g())
	l.evals++
	if err != nil {
		return 0, 0, "", err
	}
	if math.IsNaN(fx) || math.IsInf(fx, 0) {
		return 0, 0, "", fmt.Errorf("the objective is %g at the starting point", fx)
	}
	past := []float64{fx}
	for iterations < stop.iterations {
		if err := ctx.Err(); err != nil {
			return 0, 0, "", err
		}
		if err := l.b.Dots(l.basis, l.g(), l.dots); err != nil {
			return 0, 0, "", err
		}
		if l.dots[2*l.m] == 0 {
			return fx, iterations, "the gradient is zero", nil
		}
		slope, err := l.direction()
		if err != nil {
			return 0, 0, "", err
		}
		step := 1.0
		if l.pairs == 0 {
			step = 1 / math.Max(1, math.Sqrt(l.dots[2*l.m]))
		}
		fNew, step, ok, err := l.search(f, x, fx, slope, step)
		if err != nil {
			return 0, 0, "", err
		}
		if !ok {
			if l.pairs == 0 {
				return fx, iterations, "no step lowers the objective", nil
			}
			l.pairs, l.next = 0, 0
			continue
		}
		if err := l.update(x, step); err != nil {
			return 0, 0, "", err
		}
		fx = fNew
		iterations++
		past = append(past, fx)
		if stop.observe != nil && stop.observe(iterations, fx) {
			return fx, iterations, "stopped by the observer", nil
		}
		if k := len(past) - 1 - stopWindow; k >= 0 && past[k]-fx < stop.tolerance*fx {
			return fx, iterations, "converged", nil
		}
	}
	return fx, iterations, "iteration limit", nil
}

// direction writes d = -H g and returns g'd, given dots = basis'g.
func (l *lbfgs) direction() (slope float64, err error) {
	m, c := l.m, l.coef
	clear(c)
	// order[k] is the slot of the k-th oldest pair.
	slot := func(k int) int { return ((l.next-l.pairs+k)%m + m) % m }
	var alpha [maxHistory]float64
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
	for k := 0; k < l.pairs; k++ {
		i := slot(k)
		yr := gamma * l.dots[m+i]
		for k2 := 0; k2 < l.pairs; k2++ {
			j := slot(k2)
			yr -= gamma * alpha[j] * l.yy[i*m+j]
		}
		for k2 := 0; k2 < k; k2++ {
			j := slot(k2)
			yr += c[j] * l.sy[j*m+i]
		}
		c[i] = alpha[i] - yr/l.sy[i*m+i]
	}
	for k := 0; k < l.pairs; k++ {
		i := slot(k)
		c[m+i] = -gamma * alpha[i]
	}
	c[2*m] = gamma
	for i := range c {
		c[i] = -c[i]
		slope += c[i] * l.dots[i]
	}
	if err := l.b.Fill(l.d, 0); err != nil {
		return 0, err
	}
	return slope, l.b.Combine(c, l.basis, l.d)
}

// search finds a step that meets the weak Wolfe conditions along d, leaving the
// trial point and its gradient in xt and gt. Where rounding hides the curvature
// it settles for the longest step with sufficient decrease; ok is false when
// there is none.
func (l *lbfgs) search(f objective, x backend.Vector, fx, slope, step float64) (fNew, taken float64, ok bool, err error) {
	if !(slope < 0) {
		return fx, 0, false, nil
	}
	lo, hi := 0.0, math.Inf(1)
	for range maxTrials {
		ft, err := l.try(f, x, step)
		if err != nil {
			return 0, 0, false, err
		}
		if !(ft <= fx+armijo*step*slope) {
			hi = step
		} else {
			gd, err := l.b.Dot(l.gt, l.d)
			if err != nil {
				return 0, 0, false, err
			}
			if gd >= curvature*slope {
				return ft, step, true, nil
			}
			lo = step
		}
		if math.IsInf(hi, 1) {
			step = 2 * lo
		} else {
			step = (lo + hi) / 2
		}
		if !math.IsInf(hi, 1) && hi-lo <= 1e-7*hi {
			break
		}
	}
	if lo == 0 {
		return fx, 0, false, nil
	}
	ft, err := l.try(f, x, lo)
	return ft, lo, true, err
}

// try evaluates f at xt = x + step d, with its gradient in gt.
func (l *lbfgs) try(f objective, x backend.Vector, step float64) (float64, error) {
	if err := l.b.Copy(l.xt, x); err != nil {
		return 0, err
	}
	if err := l.b.Axpy(step, l.d, l.xt); err != nil {
		return 0, err
	}
	l.evals++
	return f.eval(l.xt, l.gt)
}

// update moves x to the accepted trial point and, where s'y > 0 by a margin,
// records the pair s = step d, y = gt - g.
func (l *lbfgs) update(x backend.Vector, step float64) error {
	m, i := l.m, l.next
	if err := l.b.Copy(x, l.xt); err != nil {
		return err
	}
	if err := l.b.Copy(l.y(i), l.gt); err != nil {
		return err
	}
	if err := l.b.Axpy(-1, l.g(), l.y(i)); err != nil {
		return err
	}
	if err := l.b.Copy(l.s(i), l.d); err != nil {
		return err
	}
	if err := l.b.Scale(step, l.s(i)); err != nil {
		return err
	}
	if err := l.b.Copy(l.g(), l.gt); err != nil {
		return err
	}
	if err := l.b.Dots(l.basis, l.y(i), l.dots); err != nil {
		return err
	}
	sy, yy := l.dots[i], l.dots[m+i]
	if !(sy > 1e-10*yy) {
		if l.pairs == m {
			// The oldest pair was overwritten.
			l.pairs--
		}
		// The slot stays in the basis, with coefficient zero: it must be finite.
		if err := l.b.Fill(l.s(i), 0); err != nil {
			return err
		}
		return l.b.Fill(l.y(i), 0)
	}
	for j := range m {
		l.sy[j*m+i] = l.dots[j]
		l.yy[j*m+i], l.yy[i*m+j] = l.dots[m+j], l.dots[m+j]
	}
	l.next = (i + 1) % m
	l.pairs = min(l.pairs+1, m)
	return nil
}
