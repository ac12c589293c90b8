package lbfgs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

func TestMinimiseStops(t *testing.T) {
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 1)
	f, c := quadratic(rng, 20, 1e4)
	start := pipelinetest.Normals(rng, 20)
	run := func(stop Stop) minimum {
		t.Helper()
		return must.Get(minimise(t, &hostObjective{b: b, f: f}, start, 3, stop))(t)
	}
	if got := run(Stop{Iterations: 7}); got.Iterations != 7 || got.Reason != "iteration limit" {
		t.Errorf("at most 7 Iterations: %d, %s", got.Iterations, got.Reason)
	}
	if got := run(Stop{Iterations: 30, Observe: func(i int, _ float64) bool { return i == 5 }}); got.Iterations != 5 ||
		got.Reason != "stopped by the observer" {
		t.Errorf("the observer said stop at 5: %d, %s", got.Iterations, got.Reason)
	}
	// The tolerance rule, recomputed from the trace of a run without it.
	all := append([]float64{f(pipelinetest.Wide(pipelinetest.Narrow(start)), make([]float64, 20))}, run(Stop{Iterations: 60}).trace...)
	for _, tol := range []float64{0.5, 0.1, 1e-2} {
		want, reason := 60, "iteration limit"
		for i := 10; i <= 60; i++ {
			if all[i-10]-all[i] < tol*all[i] {
				want, reason = i, "converged"
				break
			}
		}
		if got := run(Stop{Iterations: 60, Tolerance: tol}); got.Iterations != want || got.Reason != reason || got.Value != all[want] {
			t.Errorf("tolerance %g: %d, %s, want %d, %s", tol, got.Iterations, got.Reason, want, reason)
		}
	}
	// From the solution itself.
	got, err := minimise(t, &hostObjective{b: b, f: f}, c, 3, Stop{Iterations: 30})
	if err != nil || got.Iterations != 0 || got.Reason != "the gradient is zero" || !slices.Equal(got.x, c) || got.calls != 1 {
		t.Errorf("from the solution: %+v, %v", got, err)
	}
}

// Where rounding hides whether a step lowers the objective, a search that has no tolerance of its own ends too. The residuals
// of these least squares are in float32, as those of a pass are.
func TestMinimiseEndsAtRounding(t *testing.T) {
	const n, d = 500, 30
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 1)
	a, y := make([]float32, n*d), make([]float32, n)
	for i := range a {
		a[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = float32(rng.NormFloat64())
	}
	f := func(x, g []float64) (sum float64) {
		clear(g)
		for i, row := 0, a; i < n; i, row = i+1, row[d:] {
			r := -y[i]
			for j := range d {
				r += row[j] * float32(x[j])
			}
			for j := range d {
				g[j] += 2 * float64(r*row[j]) / n
			}
			sum += float64(r*r) / n
		}
		return sum
	}
	got, err := minimise(t, &hostObjective{b: b, f: f}, pipelinetest.Normals(rng, d), 10, Stop{Iterations: 2000})
	gradient := make([]float64, d)
	f(got.x, gradient)
	if err != nil || got.calls > 1000 || pipelinetest.Norm(gradient) > 1e-3 {
		t.Errorf("%d evaluations in %d iterations (%s), a gradient of %g, %v", got.calls, got.Iterations, got.Reason,
			pipelinetest.Norm(gradient), err)
	}
}

// A gradient that points uphill leaves nothing to do, and must end the search.
func TestMinimiseGivesUpOnAWrongGradient(t *testing.T) {
	b := pipelinetest.OpenCPU(t, 1)
	o := &hostObjective{b: b, f: func(x, g []float64) float64 {
		g[0] = -2 * x[0]
		return x[0] * x[0]
	}}
	got, err := minimise(t, o, []float64{3}, 4, Stop{Iterations: 50})
	if err != nil || got.Iterations != 0 || got.x[0] != 3 || got.Value != 9 || got.Reason != "no step lowers the objective" {
		t.Errorf("%+v, %v", got, err)
	}
}

// After a search that finds nothing the optimiser forgets its pairs and tries
// once more, along the gradient.
func TestMinimiseStartsAfresh(t *testing.T) {
	rng := testrand.New(t)
	b := pipelinetest.OpenCPU(t, 1)
	f, c := quadratic(rng, 8, 30)
	o := &hostObjective{b: b}
	o.f = func(x, g []float64) float64 {
		if o.calls > 6 && o.calls <= 6+maxTrials {
			clear(g)
			return math.Inf(1)
		}
		return f(x, g)
	}
	got, err := minimise(t, o, pipelinetest.Normals(rng, 8), 5, Stop{Iterations: 200})
	if err != nil || got.calls <= 6+maxTrials || floats.Distance(got.x, c, 2) > 2e-3*pipelinetest.Norm(c) {
		t.Errorf("ended at %v after %d evaluations (%s), %v, want %v", got.x, got.calls, got.Reason, err, c)
	}
}

func TestMinimiseErrors(t *testing.T) {
	b := pipelinetest.OpenCPU(t, 1)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		o := &hostObjective{b: b, f: func(_, _ []float64) float64 { return bad }}
		must.Fail(t, fmt.Sprint("a start at ", bad), must.Err(minimise(t, o, []float64{1}, 1, Stop{Iterations: 3})))
	}
	f, _ := quadratic(testrand.New(t), 6, 100)
	for fail := 1; fail <= 5; fail++ {
		o := &hostObjective{b: b, f: f, fail: fail}
		if _, err := minimise(t, o, pipelinetest.Ones(6), 2, Stop{Iterations: 30}); !errors.Is(err, errEval) {
			t.Errorf("evaluation %d failed, the optimiser said %v", fail, err)
		}
	}
}

func TestMinimiseHeedsTheContext(t *testing.T) {
	b := pipelinetest.OpenCPU(t, 1)
	f, _ := quadratic(testrand.New(t), 10, 1000)
	x := pipelinetest.Upload(t, b, backend.Float32, make([]float32, 10))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	last := 0
	_, err := Minimise(ctx, b, &hostObjective{b: b, f: f}, x, 4, Stop{Iterations: 100, Observe: func(i int, _ float64) bool {
		if last = i; i == 3 {
			cancel()
		}
		return false
	}})
	if !errors.Is(err, context.Canceled) || last != 3 {
		t.Errorf("cancelled after iteration 3: went on to %d, %v", last, err)
	}
}
