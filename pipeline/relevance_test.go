package pipeline

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// headsAmong uploads W' (M by K) as part of a longer vector, as in a model's parameters.
// For odd M another number follows each head, as an intercept does in a network.
func headsAmong(t *testing.T, b backend.Queue, a []float32, m, k int) backend.Matrix {
	gap := m % 2
	theta := slices.Repeat([]float32{nan32}, 5)
	for i := range m {
		theta = append(append(theta, a[i*k:(i+1)*k]...), slices.Repeat([]float32{nan32}, gap)...)
	}
	return backend.Matrix{Buf: upload(t, b, backend.Float32, theta).Buf, Off: 5, Rows: m, Cols: k, Stride: k + gap}
}

// relevanceOf estimates nu from W' (M by K), which is a, and w.
func relevanceOf(t *testing.T, b backend.Queue, r Relevance, a []float64, w []float64) ([]float64, int, error) {
	t.Helper()
	k := len(w)
	m := len(a) / k
	heads := headsAmong(t, b, narrow(a), m, k)
	return r.estimate(b, heads, []backend.Vector{upload(t, b, backend.Float32, narrow(w))}, slices.Repeat([]int{1}, m))
}

func float32s(v []float64) []float64 { return wide(narrow(v)) }

// minNormReference returns W'(W W' + shift I)^-1 w, which for shift 0 is the
// solution of eq. 6 where W has full row rank.
func minNormReference(a, w []float64, shift float64) []float64 {
	k := len(w)
	gram := multiply(true, false, a, len(a)/k, a, len(a)/k)
	for i := range k {
		gram[i*k+i] += shift
	}
	return multiply(false, false, a, len(a)/k, solveDense(gram, w), k)
}

// Eq. 3: W nu = w, and nu of minimum norm, that is in the row space of W.
func TestMinNormRelevance(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][2]int{{1, 1}, {5, 1}, {4, 4}, {20, 6}, {60, 12}} {
		m, k := c[0], c[1]
		a, w := float32s(normals(rng, m*k)), float32s(normals(rng, k))
		nu, rank := must.Get2(relevanceOf(t, b, Relevance{Kind: MinNorm, Rcond: -1}, a, w))(t)
		if rank != k || len(nu) != m {
			t.Fatalf("M=%d K=%d: rank %d, %d elements", m, k, rank, len(nu))
		}
		closeVectors(t, "W nu", multiply(true, false, a, m, nu, m), w, 1e-9, 0)
		if k < m { // the rows of W are the columns of a
			rows := multiply(true, false, a, m, identity(m), m)
			if out := norm(outside(nu, rows)); out > 1e-9*norm(nu) {
				t.Errorf("M=%d K=%d: %g of nu is outside the row space of W", m, k, out)
			}
			closeVectors(t, "nu", nu, minNormReference(a, w, 0), 1e-6, 0)
		}
	}
}

func identity(n int) []float64 {
	e := make([]float64, n*n)
	for i := range n {
		e[i*n+i] = 1
	}
	return e
}

// Where no nu has W nu = w (K > M, or dependent heads), nu is the least-squares
// solution of minimum norm.
func TestMinNormRelevanceRankDeficient(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][3]int{{3, 7, 3}, {8, 5, 2}, {4, 6, 1}} {
		m, k, rank := c[0], c[1], c[2]
		left, right := make([]float64, m*rank), make([]float64, rank*k)
		for i := range left {
			left[i] = float64(rng.IntN(9) - 4)
		}
		for i := range right {
			right[i] = float64(rng.IntN(9) - 4)
		}
		for i := range rank {
			left[i*rank+i] += 20
			right[i*k+i] += 20
		}
		a, w := multiply(false, false, left, m, right, rank), float32s(normals(rng, k))
		nu, got := must.Get2(relevanceOf(t, b, Relevance{Kind: MinNorm, Rcond: -1}, a, w))(t)
		if got != rank {
			t.Fatalf("M=%d K=%d: rank %d, want %d", m, k, got, rank)
		}
		res := multiply(true, false, a, m, nu, m)
		for i := range res {
			res[i] -= w[i]
		}
		if g := norm(multiply(false, false, a, m, res, k)); g > 1e-8*norm(a)*norm(w) {
			t.Errorf("M=%d K=%d rank %d: the gradient of ||W nu - w||^2 is %g", m, k, rank, g)
		}
		if out := norm(outside(nu, multiply(true, false, left, m, identity(m), m))); out > 1e-9*norm(nu) {
			t.Errorf("M=%d K=%d rank %d: %g of nu is outside the row space of W", m, k, rank, out)
		}
	}
}

func TestMinNormRelevanceCutOff(t *testing.T) {
	b := openCPU(t, 1)
	a := []float64{4, 0, 0, 0, 1, 0, 0, 0, 0.25, 0, 0, 0}
	w := []float64{4, 3, 2}
	for _, c := range []struct {
		rcond float64
		rank  int
		want  []float64
	}{{-1, 3, []float64{1, 3, 8, 0}}, {0.05, 3, []float64{1, 3, 8, 0}}, {0.1, 2, []float64{1, 3, 0, 0}}, {0.25, 1, []float64{1, 0, 0, 0}}} {
		nu, rank := must.Get2(relevanceOf(t, b, Relevance{Kind: MinNorm, Rcond: c.rcond}, a, w))(t)
		closeVectors(t, "nu", nu, c.want, 1e-12, 0)
		if rank != c.rank {
			t.Errorf("rcond %g: rank %d, want %d", c.rcond, rank, c.rank)
		}
	}
}

func TestRidgeRelevance(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	for _, c := range [][2]int{{1, 1}, {30, 6}, {4, 9}} {
		m, k := c[0], c[1]
		a, w := float32s(normals(rng, m*k)), float32s(normals(rng, k))
		for _, tau := range []float64{1e-3, 0.5, 10} {
			nu, _ := must.Get2(relevanceOf(t, b, Relevance{Kind: Ridge, Tau: tau}, a, w))(t)
			// W'(W nu - w) + tau mean nu = 0.
			mean := linalg.Dot(a, a) / float64(k)
			res := multiply(true, false, a, m, nu, m)
			for i := range res {
				res[i] -= w[i]
			}
			g := multiply(false, false, a, m, res, k)
			for i := range g {
				g[i] += tau * mean * nu[i]
			}
			if norm(g) > 1e-9*norm(a)*norm(w) {
				t.Errorf("M=%d K=%d tau %g: the gradient at nu is %g", m, k, tau, norm(g))
			}
			closeVectors(t, "nu", nu, minNormReference(a, w, tau*mean), 1e-8, 0)
		}
		// tau -> 0 is eq. 6.
		if m >= k {
			small, _ := must.Get2(relevanceOf(t, b, Relevance{Kind: Ridge, Tau: 1e-10}, a, w))(t)
			exact, _ := must.Get2(relevanceOf(t, b, Relevance{Kind: MinNorm, Rcond: -1}, a, w))(t)
			closeVectors(t, "nu as tau goes to 0", small, exact, 1e-5, 0)
		}
	}
}

func TestL1Relevance(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	const m, k = 25, 6
	a, w := float32s(normals(rng, m*k)), float32s(normals(rng, k))
	nu, rank := must.Get2(relevanceOf(t, b, Relevance{Kind: L1, Lambda: 0.2}, a, w))(t)
	want := regress.Lasso(a, w, 0.2)
	closeVectors(t, "nu", nu, want, 0, 0)
	if rank != linalg.Nonzero(want) || rank == 0 || rank >= m {
		t.Errorf("rank %d, want the %d sources that are not 0", rank, linalg.Nonzero(want))
	}
}

// Twice the target's head gives twice the relevance: no kind may depend on the
// units of the target's head.
func TestRelevanceScales(t *testing.T) {
	rng := testrand.New(t)
	b := openCPU(t, 1)
	const m, k = 12, 4
	a, w := float32s(normals(rng, m*k)), float32s(normals(rng, k))
	twice := make([]float64, k)
	for i := range w {
		twice[i] = 2 * w[i]
	}
	for _, r := range []Relevance{{Kind: MinNorm, Rcond: -1}, {Kind: Ridge, Tau: 1}, {Kind: L1, Lambda: 0.3}} {
		once, _ := must.Get2(relevanceOf(t, b, r, a, w))(t)
		double, _ := must.Get2(relevanceOf(t, b, r, a, twice))(t)
		for i := range once {
			once[i] *= 2
		}
		closeVectors(t, r.Kind, double, once, 1e-6, 0)
	}
}

func TestModelRelevanceValidates(t *testing.T) {
	b := openCPU(t, 1)
	m := &Model{Sources: []string{"a", "b"}, K: 1, D: 1, Representation: []float32{1}, Heads: []float32{1, 3}, Head: []float32{2}}
	nu, rank, err := m.Relevance(b, Relevance{Kind: MinNorm, Rcond: -1})
	if err != nil || rank != 1 || !near(nu[0], 0.2, 1e-12) || !near(nu[1], 0.6, 1e-12) {
		t.Errorf("nu = %v of rank %d, %v, want [0.2 0.6]", nu, rank, err)
	}
	for _, r := range []Relevance{{}, {Kind: "x"}, {Kind: Ridge}, {Kind: Ridge, Tau: math.NaN()}, {Kind: L1}, {Kind: L1, Lambda: 2},
		{Kind: MinNorm, Rcond: 1}, {Kind: MinNorm, Rcond: math.NaN()}} {
		if _, _, err := m.Relevance(b, r); err == nil {
			t.Errorf("%s is accepted", fmt.Sprintf("%+v", r))
		}
	}
}

// Relevance refuses heads of other sizes than K, the sources and the outputs give, and nothing panics.
func TestModelRelevanceRefusesHeads(t *testing.T) {
	rng, b := testrand.New(t), openCPU(t, 1)
	for what, c := range must.Ordered(map[string]struct {
		says   string
		change func(m *Model)
	}{
		"no k":                    {"k is 0, expected 1 to", func(m *Model) { m.K = 0 }},
		"k below 0":               {"k is -2, expected 1 to", func(m *Model) { m.K = -2 }},
		"k too large":             {"k is ", func(m *Model) { m.K = MaxK + 1 }},
		"another k":               {"each of 3 numbers, found 10 numbers", func(m *Model) { m.K = 3 }},
		"a head too short":        {"expected heads of 5 outputs", func(m *Model) { m.Heads = m.Heads[1:] }},
		"a head too many":         {"expected heads of 5 outputs", func(m *Model) { m.Heads = append(m.Heads, 1, 2) }},
		"no heads":                {"found 0 numbers", func(m *Model) { m.Heads = nil }},
		"no head of the target":   {"expected a head of 2 numbers", func(m *Model) { m.Head = nil }},
		"half a head":             {"found 3 numbers", func(m *Model) { m.Head = append(m.Head, 1) }},
		"no sources":              {"each of 0 sources", func(m *Model) { m.Sources = nil }},
		"no sources, nor outputs": {"expected heads of 0 outputs", func(m *Model) { m.Sources, m.Outputs, m.Heads = nil, nil, nil }},
		"one output each":         {"expected heads of 3 outputs", func(m *Model) { m.Outputs = nil }},
		"outputs of two sources":  {"each of 3 sources, found [1 3]", func(m *Model) { m.Outputs = m.Outputs[:2] }},
		"a source without output": {"found [1 4 0]", func(m *Model) { m.Outputs = []int{1, 4, 0} }},
		"outputs below 0":         {"found [9 -5 1]", func(m *Model) { m.Outputs = []int{9, -5, 1} }},
		"outputs that overflow":   {"expected the outputs, 1 or more", func(m *Model) { m.Outputs[rng.IntN(3)] = math.MaxInt }},
	}) {
		m := &Model{Sources: []string{"a", "b", "c"}, Outputs: []int{1, 3, 1}, K: 2, Head: []float32{2, 1},
			Heads: narrow(normals(rng, 10))}
		nu, _ := must.Get2(m.Relevance(b, Relevance{Kind: MinNorm, Rcond: -1}))(t)
		must.Equal(t, len(nu), 3, "sources of the model as it was")
		c.change(m)
		must.Fail(t, what, must.Err(m.Relevance(b, Relevance{Kind: MinNorm, Rcond: -1})), c.says)
	}
}

// The source found to be the most relevant is among the five of largest |nu| in at least half of the replicates. A target head that
// amplifies what is next to nothing in the sources' heads would give most of the next budget to a source that is there by chance.
func TestMostRelevantIsSure(t *testing.T) {
	set := must.Get(dataset.Digits(0, must.Long(10_000, 4000), runtime.NumCPU()))(t)
	dev := openDevice(t, runtime.NumCPU(), set)
	cfg := must.Get(NewConfig(PresetDefault))(t)
	cfg.TargetSamples, cfg.Methods = 100, []string{Active}
	for _, budget := range must.Some(testrand.New(t), 1, 2500., 3000) {
		cfg.Schedule = Schedule{Kind: ScheduleBudget, Floor: 5, Budget: budget}
		target := must.Get(cfg.FindTarget(set, Showcase))(t)
		_, st := runUnit(t, dev, cfg, target)
		last := &st.Epochs[len(st.Epochs)-1]
		top := 0
		for m, v := range last.Nu {
			if math.Abs(v) > math.Abs(last.Nu[top]) {
				top = m
			}
		}
		if sure := last.Uncertainty.TopFive[top]; sure < 0.5 {
			t.Errorf("budget %g: source %d has the largest relevance, %g, and is among the first five in %.0f %% of replicates", budget, top,
				last.Nu[top], 100*sure)
		}
	}
}
