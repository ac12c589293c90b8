package pipeline

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/lbfgs"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// objective returns f(B, W) and its gradient, straight from the definition.
// theta holds B' (K by d), then W' (T by K).
func (r *regression) objective(theta []float64, k int, lambda float64) (f float64, g []float64) {
	g = make([]float64, len(theta))
	phi, heads, n := theta[:k*r.d], theta[k*r.d:], float64(len(r.x))
	for i, x := range r.x {
		w := heads[r.task[i]*k : (r.task[i]+1)*k]
		res := -r.y[i]
		for c := range k {
			res += w[c] * linalg.Dot(phi[c*r.d:(c+1)*r.d], x)
		}
		f += res * res / n
		for c := range k {
			g[k*r.d+r.task[i]*k+c] += 2 / n * res * linalg.Dot(phi[c*r.d:(c+1)*r.d], x)
			for j := range x {
				g[c*r.d+j] += 2 / n * res * w[c] * x[j]
			}
		}
	}
	for i, v := range theta {
		f += lambda * v * v
		g[i] += 2 * lambda * v
	}
	return f, g
}

func TestReferenceGradient(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	r := newRegression(t, b, rng, 3, []int{4, 0, 5})
	theta := normals(rng, 2*3+3*2)
	_, g := r.objective(theta, 2, 0.1)
	for i := range theta {
		const h = 1e-5
		up, down := slices.Clone(theta), slices.Clone(theta)
		up[i] += h
		down[i] -= h
		fu, _ := r.objective(up, 2, 0.1)
		fd, _ := r.objective(down, 2, 0.1)
		if diff := (fu - fd) / (2 * h); !near(diff, g[i], 1e-6) {
			t.Errorf("derivative %d: %g by differences, %g by formula", i, diff, g[i])
		}
	}
}

// inUnitsOf returns the problem with its rows in units u, as the fit sees them.
func (r *regression) inUnitsOf(u units) *regression {
	out := *r
	out.x = nil
	for _, x := range r.x {
		z := make([]float64, len(x))
		for j, v := range x {
			z[j] = (v - float64(u.centre[j])) / float64(float32(u.ofFeature(j)))
		}
		out.x = append(out.x, z)
	}
	return &out
}

// The objective is that of the definition, with intercepts for rows that were centred and scaled beforehand. Its gradient
// is that of the formula or, with intercepts, of central differences.
func TestERMObjective(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 2)
	for _, c := range []struct {
		d, k      int
		counts    []int
		lambda    float64
		intercept bool
		each      bool // whether each feature has its own s
	}{
		{1, 1, []int{1}, 0, false, false},
		{5, 2, []int{7, 3, 9, 4}, 0, false, false},
		{5, 2, []int{7, 3, 9, 4}, 0.3, false, false},
		{4, 7, []int{6, 5}, 0.01, false, false},          // K above T and d
		{17, 3, []int{0, 60, 0, 1, 33}, 0, false, false}, // tasks without samples
		{17, 3, []int{0, 60, 0, 1, 33}, 2, false, false},
		{30, 10, []int{300, 2, 20, 11, 5, 8}, 1e-3, false, false},
		{1, 1, []int{1}, 0, true, false},
		{5, 2, []int{7, 3, 9, 4}, 0.3, true, false},
		{17, 3, []int{0, 60, 0, 1, 33}, 2, true, false},
		{30, 10, []int{300, 2, 20, 11, 5, 8}, 1e-3, true, true},
		{5, 2, []int{7, 3, 9, 4}, 0, true, true},
	} {
		r := newRegression(t, b, rng, c.d, c.counts)
		u := units{centre: narrow(normals(rng, c.d)), scale: 0.5 + rng.Float64(), label: []float64{1}}
		if c.each {
			for u.scale = 1; len(u.each) < c.d; {
				u.each = append(u.each, float32(math.Exp(rng.NormFloat64())))
			}
		}
		l := must.Get(newLinear(b, c.k, c.d, r.tasks, b2i(c.intercept), max(1, len(u.each))))(t)
		if c.intercept {
			must.Do(t, l.setUnits(u, make([]float32, r.tasks)))
		}
		tmp := backend.NewScope(b)
		obj := must.Get(newERMObjective(l, r.s, r.s.Len(), c.lambda, tmp))(t)
		theta := narrow(normals(rng, l.theta.Len))
		x := upload(t, b, backend.Float32, theta)
		g := upload(t, b, backend.Float32, slices.Repeat([]float32{float32(math.NaN())}, len(theta)))
		must.Do(t, obj.Evaluate(x, g))
		at, tolerance := wide(theta), 1e-5
		want, grad := r.objective(at, c.k, c.lambda)
		if c.intercept {
			value := func(theta []float64) float64 {
				z := r.inUnitsOf(u)
				weights, bias := theta[:len(theta)-r.tasks], theta[len(theta)-r.tasks:]
				z.y = slices.Clone(r.y)
				for i, task := range r.task {
					z.y[i] -= bias[task]
				}
				f, _ := z.objective(weights, c.k, c.lambda)
				return f
			}
			want, tolerance = value(at), 2e-5
			for i := range at { // f is quadratic in each parameter, so that differences are exact
				up, down := slices.Clone(at), slices.Clone(at)
				up[i]++
				down[i]--
				grad[i] = (value(up) - value(down)) / 2
			}
		}
		rounding := 1e-6 / math.Sqrt(want) // residuals near 0 are differences of float32 of order 1
		if f := obj.Value(); !near(f/want, 1, 1e-5+rounding) {
			t.Errorf("%+v: f is %g, want %g", c, f, want)
		}
		closeVectors(t, fmt.Sprintf("%+v: the gradient", c), download(t, b, g), grad, tolerance+rounding, 0)
		tmp.Close()
		l.close()
	}
}

// hadamard returns the elements of Sylvester's n by n matrix, for n a power of 2.
// They are +-1, and the columns are orthogonal.
func hadamard(n int) func(i, j int) float64 {
	return func(i, j int) float64 { return 1 - 2*float64(bits.OnesCount(uint(i&j&(n-1)))%2) }
}

// Over a shared design with X'X = n I, the minimum of
//
//	1/(nT) ||X P - Y||_F^2 + lambda (||B||_F^2 + ||W||_F^2), P = B W,
//
// is where P is the least-squares solution with its singular values lowered by
// lambda T and all but the largest K dropped, since the least ||B||^2 + ||W||^2
// over the factorisations of P is twice its nuclear norm.
func TestERMOptimumIsSoftThresholding(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 2)
	const n, d, tasks = 32, 6, 5
	had := hadamard(n)
	pool := make([]float32, n*d)
	for i := range n {
		for j := range d {
			pool[i*d+j] = float32(had(i, j+1))
		}
	}
	u, v := make([]float64, d*3), make([]float64, tasks*3)
	hu, hv := hadamard(8), hadamard(8)
	sigma := []float64{3, 2, 0.5}
	for c := range 3 { // nearly orthogonal, and made orthonormal below
		for i := range d {
			u[i*3+c] = hu(i, c) + 0.1*rng.NormFloat64()
		}
		for i := range tasks {
			v[i*3+c] = hv(i, c) + 0.1*rng.NormFloat64()
		}
	}
	orthonormalise(u, 3)
	orthonormalise(v, 3)
	lowRank := func(s []float64) []float64 { // T by d
		p := make([]float64, tasks*d)
		for i := range tasks {
			for j := range d {
				for c := range s {
					p[i*d+j] += s[c] * v[i*3+c] * u[j*3+c]
				}
			}
		}
		return p
	}
	truth := lowRank(sigma)
	set := backend.SampleSet{
		Pools:      []backend.Pool{{Data: upload(t, b, backend.Float32, pool).Mat(n, d), Scale: 1}},
		SourcePool: make([]int, tasks), Offsets: []int{0},
	}
	noise := 0.0
	for task := range tasks {
		for i := range n {
			y := 0.1 * had(i, 9) // orthogonal to the design
			noise += y * y / (n * tasks)
			for j := range d {
				y += had(i, j+1) * truth[task*d+j]
			}
			set.Rows, set.Y = append(set.Rows, int32(i)), append(set.Y, float32(y))
		}
		set.Offsets = append(set.Offsets, len(set.Rows))
	}
	s := place(t, b, set)
	for _, c := range []struct {
		k      int
		lambda float64
	}{{3, 0}, {8, 0}, {3, 0.05}, {4, 0.05}, {8, 0.05}, {3, 0.2}, {5, 0.5}, {2, 0.05}, {1, 0.2}, {6, 2}} {
		shrunk, want := make([]float64, 3), noise
		for i, v := range sigma {
			if i < c.k {
				shrunk[i] = math.Max(v-c.lambda*tasks, 0)
			}
			want += (shrunk[i]-v)*(shrunk[i]-v)/tasks + 2*c.lambda*shrunk[i]
		}
		// The other stationary points are saddles; rounding can hold one start
		// near one of them, but hardly three.
		var theta []float32
		fit := Fit{Objective: math.Inf(1)}
		for range 3 {
			start := narrow(normals(rng, c.k*d+tasks*c.k))
			erm := ERM{Lambda: c.lambda, Iterations: 400, History: 10, Init: InitRandom}
			f := must.Get(FitLinear(context.Background(), b, s, c.k, erm, start, nil))(t)
			if f.Objective < fit.Objective {
				theta, fit = start, f
			}
		}
		w := wide(theta)
		p := multiply(false, false, w[c.k*d:], tasks, w[:c.k*d], c.k)
		closeVectors(t, fmt.Sprintf("K=%d lambda=%g (%+v): P", c.k, c.lambda, fit), p, lowRank(shrunk), 3e-3, 1)
		if !near(fit.Objective, want, 2e-5) {
			t.Errorf("K=%d lambda=%g: objective %g, want %g", c.k, c.lambda, fit.Objective, want)
		}
		if loss := fit.Objective - c.lambda*linalg.Dot(w, w); !near(fit.Loss, loss, 1e-6) {
			t.Errorf("K=%d lambda=%g: loss %g, want %g", c.k, c.lambda, fit.Loss, loss)
		}
	}
}

// With lambda > 0 the head of a task without samples goes to zero; with
// lambda = 0 nothing determines it, and it stays.
func TestFitLinearEmptyTasks(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 2)
	r := newRegression(t, b, rng, 6, []int{30, 0, 25, 0})
	const k = 2
	for _, lambda := range []float64{0, 0.05} {
		theta := narrow(normals(rng, k*6+4*k))
		start := slices.Clone(theta)
		if _, err := FitLinear(context.Background(), b, r.s, k, ERM{Lambda: lambda, Iterations: 200, History: 5, Init: InitRandom},
			theta, nil); err != nil {
			t.Fatal(err)
		}
		for _, task := range []int{1, 3} {
			at := k*6 + task*k
			if lambda == 0 && !slices.Equal(theta[at:at+k], start[at:at+k]) {
				t.Errorf("lambda 0: the head of empty task %d moved from %v to %v", task, start[at:at+k], theta[at:at+k])
			}
			if lambda > 0 && norm(wide(theta[at:at+k])) > 1e-2 {
				t.Errorf("lambda %g: the head of empty task %d is %v, want about 0", lambda, task, theta[at:at+k])
			}
		}
	}
}

func TestFitLinearIsDeterministic(t *testing.T) {
	rng := testrand.New(t)
	pcg := rng.Uint64()
	var first []float32
	var record Fit
	for i, threads := range []int{1, 1, 2, 5} {
		b := openCPU(t, threads)
		same := stream(pcg, "same")
		r := newRegression(t, b, same, 30, []int{400, 3, 80, 0, 150})
		theta := narrow(normals(same, 4*30+5*4))
		erm := ERM{Lambda: 1e-3, Iterations: 25, History: 6, Init: InitRandom}
		fit := must.Get(FitLinear(context.Background(), b, r.s, 4, erm, theta, nil))(t)
		if i == 0 {
			first, record = theta, fit
		} else if !slices.Equal(theta, first) || fit != record {
			t.Errorf("run %d with %d threads ended elsewhere: %+v, %+v", i, threads, fit, record)
		}
	}
}

func TestFitLinearObserves(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	r := newRegression(t, b, rng, 6, []int{20, 20})
	theta := narrow(normals(rng, 2*6+2*2))
	var last float64
	fit, err := FitLinear(context.Background(), b, r.s, 2, ERM{Iterations: 50, History: 5, Init: InitRandom}, theta,
		func(i int, f float64) bool {
			last = f
			return i == 4
		})
	if err != nil || fit.Iterations != 4 || fit.Objective != last || fit.Loss != last || fit.Evaluations < 5 ||
		fit.Stop != "stopped by the observer" {
		t.Errorf("%+v, %v; the observer last saw %g", fit, err, last)
	}
	if f, _ := r.objective(wide(theta), 2, 0); !near(f/last, 1, 1e-5) {
		t.Errorf("theta has the objective %g, reported %g", f, last)
	}
}

func TestFitLinearArguments(t *testing.T) {
	b := openCPU(t, 1)
	r := newRegression(t, b, testrand.New(t), 3, []int{5, 5})
	good := ERM{Iterations: 5, History: 5, Init: InitRandom}
	theta := make([]float32, 2*3+2*2)
	for what, c := range map[string]struct {
		k     int
		e     ERM
		theta []float32
		says  string
	}{
		"theta too short": {2, good, theta[1:], "10"},
		"theta for one K": {1, good, theta, "5"},
		"K negative":      {-1, good, theta, "k is -1"},
		"lambda negative": {2, ERM{Lambda: -1, Iterations: 5, History: 5, Init: InitRandom}, theta, "lambda"},
		"lambda NaN":      {2, ERM{Lambda: math.NaN(), Iterations: 5, History: 5, Init: InitRandom}, theta, "lambda"},
		"no iterations":   {2, ERM{History: 5, Init: InitRandom}, theta, "iterations"},
		"no history":      {2, ERM{Iterations: 5, Init: InitRandom}, theta, "history"},
		"long history":    {2, ERM{Iterations: 5, History: lbfgs.MaxPairs + 1, Init: InitRandom}, theta, "history"},
		"tolerance":       {2, ERM{Iterations: 5, History: 5, Tolerance: 1, Init: InitRandom}, theta, "tolerance"},
		"unknown init":    {2, ERM{Iterations: 5, History: 5, Init: "x"}, theta, "init"},
	} {
		_, err := FitLinear(context.Background(), b, r.s, c.k, c.e, c.theta, nil)
		must.Fail(t, what, err, c.says)
	}
	// The longest history works.
	good.History = lbfgs.MaxPairs
	must.Do(t, must.Err(FitLinear(context.Background(), b, r.s, 2, good, narrow(normals(testrand.New(t), 10)), nil)))
}

func TestRandomiseScales(t *testing.T) {
	b := openCPU(t, 1)
	const k, d, tasks = 16, 400, 500
	l := must.Get(newLinear(b, k, d, tasks, 0, 1))(t)
	defer l.close()
	must.Do(t, l.randomise(testrand.New(t)))
	theta := download(t, b, l.theta)
	phi, heads := theta[:k*d], theta[k*d:]
	if v := linalg.Dot(phi, phi) / k; math.Abs(v-1) > 0.15 {
		t.Errorf("the squared norm of a column of B is %g on average, want 1", v)
	}
	if v := linalg.Dot(heads, heads) / tasks; math.Abs(v-1) > 0.15 {
		t.Errorf("the squared norm of a head is %g on average, want 1", v)
	}
}
