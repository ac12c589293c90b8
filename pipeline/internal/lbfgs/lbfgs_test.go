package lbfgs

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// hostObjective evaluates a function of float64 slices on the host.
type hostObjective struct {
	b     backend.Queue
	f     func(x, g []float64) float64
	calls int
	fail  int // the call that fails, counting from 1
	last  float64
}

var errEval = errors.New("evaluation failed")

// Evaluate relies on the CPU calling a recorded function at every run.
func (o *hostObjective) Evaluate(x, g backend.Vector) error {
	if o.calls++; o.calls == o.fail {
		return errEval
	}
	x32 := make([]float32, x.Len)
	if err := backend.Get(o.b, x32, x.Buf, x.Off); err != nil {
		return err
	}
	grad := make([]float64, x.Len)
	o.last = o.f(pipelinetest.Wide(x32), grad)
	return backend.Put(o.b, g.Buf, g.Off, pipelinetest.Narrow(grad))
}

func (o *hostObjective) Value() float64 { return o.last }

// minimum is the result of minimise, which runs [Minimise] from start with m pairs.
type minimum struct {
	Result
	x     []float64
	trace []float64
	calls int
}

func minimise(t *testing.T, o *hostObjective, start []float64, m int, stop Stop) (minimum, error) {
	t.Helper()
	x := pipelinetest.Upload(t, o.b, backend.Float32, pipelinetest.Narrow(start))
	var out minimum
	observe := stop.Observe
	stop.Observe = func(i int, f float64) bool {
		out.trace = append(out.trace, f)
		if i != len(out.trace) {
			t.Fatalf("the observer saw iteration %d after %d others", i, len(out.trace)-1)
		}
		return observe != nil && observe(i, f)
	}
	end, err := Minimise(context.Background(), o.b, o, x, m, stop)
	out.Result, out.x, out.calls = end, pipelinetest.Download(t, o.b, x), o.calls
	return out, err
}

// quadratic returns f(x) = 1/2 (x-c)'A(x-c) + 1, where A has eigenvalues from 1 to cond, and c.
func quadratic(rng *rand.Rand, n int, cond float64) (f func(x, g []float64) float64, c []float64) {
	basis := pipelinetest.Normals(rng, n*n)
	pipelinetest.Orthonormalise(basis, n)
	q := slices.Collect(slices.Chunk(basis, n))
	c = pipelinetest.Wide(pipelinetest.Narrow(pipelinetest.Normals(rng, n)))
	return func(x, g []float64) float64 {
		clear(g)
		sum := 1.0
		for i := range q {
			e := math.Pow(cond, float64(i)/float64(max(n-1, 1)))
			p := 0.0
			for k := range n {
				p += q[i][k] * (x[k] - c[k])
			}
			for k := range n {
				g[k] += e * p * q[i][k]
			}
			sum += e * p * p / 2
		}
		return sum
	}, c
}

// twoLoop returns -H g by the textbook two-loop recursion (Nocedal and Wright,
// algorithm 7.4), for pairs from oldest to newest.
func twoLoop(s, y [][]float64, g []float64) []float64 {
	q := slices.Clone(g)
	alpha := make([]float64, len(s))
	for i := len(s) - 1; i >= 0; i-- {
		alpha[i] = linalg.Dot(s[i], q) / linalg.Dot(s[i], y[i])
		for k := range q {
			q[k] -= alpha[i] * y[i][k]
		}
	}
	if n := len(s) - 1; n >= 0 {
		gamma := linalg.Dot(s[n], y[n]) / linalg.Dot(y[n], y[n])
		for k := range q {
			q[k] *= gamma
		}
	}
	for i := range s {
		beta := linalg.Dot(y[i], q) / linalg.Dot(s[i], y[i])
		for k := range q {
			q[k] += (alpha[i] - beta) * s[i][k]
		}
	}
	for k := range q {
		q[k] = -q[k]
	}
	return q
}

// The direction computed from inner products is that of the textbook: with
// fewer pairs than the history, after the ring wrapped, after pairs that were
// skipped for their curvature, and after a reset.
func TestDirectionIsTwoLoopRecursion(t *testing.T) {
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 2)
	for range 20 {
		n, m := 8+rng.IntN(20), 1+rng.IntN(6)
		f, _ := quadratic(rng, n, 3)
		x := pipelinetest.Upload(t, b, backend.Float32, make([]float32, n))
		o := &hostObjective{b: b}
		l := must.Get(newSearch(b, o, x, m))(t)
		put := func(v backend.Vector, h []float64) {
			must.Do(t, backend.Put(b, v.Buf, v.Off, pipelinetest.Narrow(h)))
		}
		var s, y [][]float64
		put(l.g(), pipelinetest.Normals(rng, n))
		for range 4*m + 5 {
			// A step along a random d and the change of gradient of a quadratic; now
			// and then one of negative curvature, which must leave no trace.
			g, d, step := pipelinetest.Download(t, b, l.g()), pipelinetest.Normals(rng, n), 0.1+rng.Float64()
			at, gd, g0 := make([]float64, n), make([]float64, n), make([]float64, n)
			f(at, g0)
			for k := range at {
				at[k] = step * d[k]
			}
			f(at, gd)
			sign := 1.0
			if rng.IntN(5) == 0 {
				sign = -1
			}
			for k := range gd {
				gd[k] = g[k] + sign*(gd[k]-g0[k])
			}
			put(l.d(), d)
			o.f = func(_, g []float64) float64 { copy(g, gd); return 0 }
			must.Get(l.evaluate(l.again, step))(t)
			trial := pipelinetest.Download(t, b, l.xt())
			l.accept()
			slot := l.pending
			slope := l.direction()
			must.Do(t, cmp.Or(l.keepPair(slot), l.issueMove(), l.issueDirection()))
			pipelinetest.Close(t, "the gradient after an update", pipelinetest.Download(t, b, l.g()), gd, 1e-6, 0)
			pipelinetest.Close(t, "the parameters after an update", pipelinetest.Download(t, b, l.x()), trial, 0, 0)
			if sign > 0 {
				s, y = append(s, pipelinetest.Download(t, b, l.s(slot))), append(y, pipelinetest.Download(t, b, l.y(slot)))
				pipelinetest.Close(t, "s", s[len(s)-1], at, 1e-6, 0)
			} else if slot != m {
				t.Fatalf("a pair of negative curvature went to slot %d", slot)
			}
			if len(s) > m {
				s, y = s[1:], y[1:]
			}
			if l.pairs != len(s) {
				t.Fatalf("%d pairs, want %d", l.pairs, len(s))
			}
			grad := pipelinetest.Download(t, b, l.g())
			want := twoLoop(s, y, grad)
			pipelinetest.Close(t, "the direction", pipelinetest.Download(t, b, l.d()), want, 2e-4, 0)
			if !pipelinetest.Near(slope/linalg.Dot(want, grad), 1, 2e-4) {
				t.Fatalf("the slope is %g, want %g", slope, linalg.Dot(want, grad))
			}
			if rng.IntN(12) == 0 {
				l.pairs, l.next = 0, 0
				s, y = nil, nil
			}
		}
		l.close()
	}
}

// An accepted step meets both Wolfe conditions and leaves the trial point and
// its gradient behind.
func TestSearchMeetsWolfe(t *testing.T) {
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 1)
	for range 100 {
		n := 1 + rng.IntN(6)
		amp, freq := rng.Float64(), 1+3*rng.Float64()
		o := &hostObjective{b: b, f: func(x, g []float64) float64 {
			sum := 0.0
			for i, v := range x {
				sum += v*v/2 + amp*math.Cos(freq*v)
				g[i] = v - amp*freq*math.Sin(freq*v)
			}
			return sum
		}}
		x0 := pipelinetest.Normals(rng, n)
		x := pipelinetest.Upload(t, b, backend.Float32, pipelinetest.Narrow(x0))
		l := must.Get(newSearch(b, o, x, 1))(t)
		must.Do(t, l.begin.run(b))
		fx, g := o.last, pipelinetest.Download(t, b, l.g())
		d := make([]float64, n)
		for i := range d {
			d[i] = -g[i]
		}
		slope, first := l.direction(), math.Pow(10, 4*rng.Float64()-2)
		if !pipelinetest.Near(slope/linalg.Dot(g, d), 1, 1e-6) {
			t.Fatalf("the slope of steepest descent is %g, want %g", slope, linalg.Dot(g, d))
		}
		fNew, ok, err := l.wolfe(fx, slope, first)
		if err != nil || !ok {
			t.Fatalf("no step from %v along %v: %v", x0, d, err)
		}
		step := l.step[1]
		for i := range x0 {
			x0[i] = float64(float32(x0[i])) + step*d[i]
		}
		pipelinetest.Close(t, "the trial point", pipelinetest.Download(t, b, l.xt()), x0, 1e-5, 1)
		gt := make([]float64, n)
		if ft := o.f(pipelinetest.Download(t, b, l.xt()), gt); ft != fNew {
			t.Fatalf("f is %g at the trial point, reported %g", ft, fNew)
		}
		pipelinetest.Close(t, "the trial gradient", pipelinetest.Download(t, b, l.gt()), gt, 1e-6, 0)
		if !(fNew <= fx+1e-4*step*slope*(1-1e-9)) || !(linalg.Dot(gt, d) >= 0.9*slope*(1+1e-4)) {
			t.Fatalf("step %g: f from %g to %g, slope from %g to %g", step, fx, fNew, slope, linalg.Dot(gt, d))
		}
		l.close()
	}
}

func TestMinimiseQuadratics(t *testing.T) {
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 2)
	for _, c := range []struct {
		n, m int
		cond float64
	}{{1, 1, 1}, {2, 3, 10}, {5, 1, 10}, {20, 5, 100}, {30, 10, 300}} {
		f, x := quadratic(rng, c.n, c.cond)
		o := &hostObjective{b: b, f: f}
		got := must.Get(minimise(t, o, pipelinetest.Normals(rng, c.n), c.m, Stop{Iterations: 400}))(t)
		if d := floats.Distance(got.x, x, 2); d > 2e-3*pipelinetest.Norm(x) || got.Value > 1+1e-5 {
			t.Errorf("n=%d m=%d cond=%g: ended at f = 1 + %g, %g from the solution (%s after %d)", c.n, c.m, c.cond, got.Value-1, d,
				got.Reason, got.Iterations)
		}
		if got.calls != got.Evaluations {
			t.Errorf("reported %d evaluations of %d", got.Evaluations, got.calls)
		}
		if len(got.trace) != got.Iterations || !slices.IsSortedFunc(got.trace, func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		}) {
			t.Errorf("%d iterations, but the observer saw %v", got.Iterations, got.trace)
		}
		if got.Value != f(got.x, make([]float64, c.n)) {
			t.Errorf("reported f = %g is not f at the returned point", got.Value)
		}
	}
}

// A quasi-Newton method needs far fewer iterations than steepest descent, which
// would take thousands here.
func TestMinimiseIsQuasiNewton(t *testing.T) {
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 1)
	f, _ := quadratic(rng, 12, 1000)
	o := &hostObjective{b: b, f: f}
	stop := Stop{Iterations: 200, Observe: func(_ int, f float64) bool { return f < 1+1e-4 }}
	got := must.Get(minimise(t, o, pipelinetest.Normals(rng, 12), 12, stop))(t)
	if got.Reason != "stopped by the observer" || got.Iterations > 120 || got.calls > 3*got.Iterations+10 {
		t.Errorf("12 dimensions took %d iterations and %d evaluations (%s)", got.Iterations, got.calls, got.Reason)
	}
}

func TestMinimiseRosenbrock(t *testing.T) {
	b := pipelinetest.OpenCPU(t, 1)
	o := &hostObjective{b: b, f: func(x, g []float64) float64 {
		sum := 0.0
		for i := 0; i < len(x); i += 2 {
			u, v := x[i+1]-x[i]*x[i], 1-x[i]
			sum += 100*u*u + v*v
			g[i], g[i+1] = -400*u*x[i]-2*v, 200*u
		}
		return sum
	}}
	start := make([]float64, 10)
	for i := range start {
		start[i] = 1 - 2.2*float64(1-i%2) + 0.05*float64(i)
	}
	got := must.Get(minimise(t, o, start, 8, Stop{Iterations: 300}))(t)
	if got.Value > 1e-7 || floats.Distance(got.x, pipelinetest.Ones(10), 2) > 2e-3 {
		t.Errorf("ended at f = %g, x = %v (%s after %d)", got.Value, got.x, got.Reason, got.Iterations)
	}
}

// Where the first step lands outside the domain, the search must come back.
func TestMinimiseBacksOffFromNaN(t *testing.T) {
	b := pipelinetest.OpenCPU(t, 1)
	bad := 0
	o := &hostObjective{b: b, f: func(x, g []float64) float64 {
		sum := 0.0
		for i, v := range x {
			sum += 20*v - math.Log(v)
			g[i] = 20 - 1/v
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			bad++
			for i := range g {
				g[i] = math.NaN()
			}
		}
		return sum
	}}
	got := must.Get(minimise(t, o, []float64{0.3, 0.3, 0.3}, 4, Stop{Iterations: 100}))(t)
	if bad == 0 {
		t.Fatal("the test never left the domain")
	}
	pipelinetest.Close(t, "the solution", got.x, []float64{0.05, 0.05, 0.05}, 1e-3, 0)
}
