package dataset

import (
	"fmt"
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// allBut lists the tasks other than the last one.
func allBut(tasks int) []int {
	sources := make([]int, tasks-1)
	for i := range sources {
		sources[i] = i
	}
	return sources
}

func TestBasisIsOrthonormal(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][2]int{{1, 1}, {5, 1}, {5, 5}, {40, 7}, {33, 33}, {300, 70}} {
		d, k := shape[0], shape[1]
		b := orthonormal(d, k, rng.Uint64())
		for i := range k {
			for j := range k {
				var dot float64
				for r := range d {
					dot += b[r*k+i] * b[r*k+j]
				}
				want := 0.
				if i == j {
					want = 1
				}
				if math.Abs(dot-want) > 1e-13 {
					t.Fatalf("%d by %d: columns %d and %d have product %v", d, k, i, j, dot)
				}
			}
		}
	}
}

// A uniform draw has no preferred direction: every element has mean 0 and mean
// square 1/d.
func TestBasisIsUniform(t *testing.T) {
	rng := testrand.New(t)
	const d, k, draws = 4, 3, 20000
	values, squares := make([][]float64, d*k), make([][]float64, d*k)
	for range draws {
		for i, v := range orthonormal(d, k, rng.Uint64()) {
			values[i] = append(values[i], v)
			squares[i] = append(squares[i], v*v)
		}
	}
	for i := range values {
		if mean, se := meanOf(values[i]); math.Abs(mean) > 6*se {
			t.Errorf("element %d has mean %v, expected 0 within %v", i, mean, 6*se)
		}
		if mean, se := meanOf(squares[i]); math.Abs(mean-1./d) > 6*se {
			t.Errorf("element %d has mean square %v, expected %v within %v", i, mean, 1./d, 6*se)
		}
	}
}

func TestRandomLinearHeads(t *testing.T) {
	set := must.Get(RandomLinear(8, 3, 6, 1, 10, testrand.New(t).Uint64()))(t)
	for task := range 7 {
		var sum float64
		for k := range 3 {
			sum += set.Model.W[7*k+task] * set.Model.W[7*k+task]
		}
		must.Hold(t, math.Abs(sum-1) <= 1e-14, "head %d has squared norm %v", task, sum)
	}
}

// The excess risk is the mean squared error on fresh samples less sigma^2, for
// the true predictor, one nearby and one far off.
func TestExcessRiskAgainstSamples(t *testing.T) {
	rng := testrand.New(t)
	const d, rows = 6, 40000
	sigma := 0.2 + rng.Float64()
	set := must.Get(RandomLinear(d, 2, 3, sigma, rows, rng.Uint64()))(t)
	for task := range set.Tasks {
		for _, off := range []float64{0, 0.3, 5} {
			p := set.Model.predictor(task)
			for i := range p {
				p[i] += off * rng.NormFloat64()
			}
			losses := make([]float64, rows)
			for r := range losses {
				e := -float64(set.Tasks[task].Labels[r])
				for i, v := range set.Pools[0].F32[r*d : (r+1)*d] {
					e += float64(v) * p[i]
				}
				losses[r] = e*e - sigma*sigma
			}
			got := set.Model.ExcessRisk(task, p)
			if want, se := meanOf(losses); math.Abs(got-want) > 6*se {
				t.Errorf("task %d: excess risk %v, samples say %v within %v", task, got, want, 6*se)
			}
			if off == 0 && got != 0 {
				t.Errorf("task %d: the true predictor has excess risk %v", task, got)
			}
		}
	}
	for _, risk := range []float64{
		set.Model.ExcessRisk(-1, make([]float64, d)), set.Model.ExcessRisk(4, make([]float64, d)),
		set.Model.ExcessRisk(0, nil), set.Model.ExcessRisk(0, make([]float64, d+1)),
	} {
		must.Hold(t, math.IsNaN(risk), "a task or a predictor that does not fit has excess risk %v", risk)
	}
}

// SparseNu gives the paper's example: the heads of its formula, and nu* = e_M.
func TestSparseNuExample(t *testing.T) {
	for _, shape := range [][2]int{{2, 2}, {2, 9}, {3, 3}, {5, 50}, {6, 8}} {
		k, sources := shape[0], shape[1]
		set := must.Get(SparseNu(k+4, k, sources, 1, 10, testrand.New(t).Uint64()))(t)
		m := set.Model
		for task := 1; task <= sources+1; task++ {
			one := k
			if task < sources {
				one = task%(k-1) + 1
			}
			for e := 1; e <= k; e++ {
				want := 0.
				if e == one {
					want = 1
				}
				if got := m.W[(e-1)*m.Tasks+task-1]; got != want {
					t.Fatalf("K = %d, M = %d: element %d of head %d is %v, expected %v", k, sources, e, task, got, want)
				}
			}
		}
		nu := must.Get(m.Nu(sources, allBut(m.Tasks)))(t)
		for i, v := range nu {
			want := 0.
			if i == sources-1 {
				want = 1
			}
			if math.Abs(v-want) > 1e-12 {
				t.Errorf("K = %d, M = %d: nu of source %d is %v, expected %v", k, sources, i, v, want)
			}
		}
	}
}

// nu* solves W nu = w, and is orthogonal to the null space of W, so that no
// other solution is shorter.
func TestNuIsTheShortestSolution(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		k := 1 + rng.IntN(6)
		n := k + 1 + rng.IntN(10)
		m := &LinearModel{D: k, K: k, Tasks: n + 2, B: make([]float64, k*k), W: make([]float64, k*(n+2))}
		for i := range m.W {
			m.W[i] = rng.NormFloat64()
		}
		target := rng.IntN(m.Tasks)
		var sources []int
		for _, task := range rng.Perm(m.Tasks) {
			if task != target && len(sources) < n {
				sources = append(sources, task)
			}
		}
		// The last source has the head of the first. The others, at least k, have different heads.
		for e := range k {
			m.W[e*m.Tasks+sources[n-1]] = m.W[e*m.Tasks+sources[0]]
		}
		nu := must.Get(m.Nu(target, sources))(t)
		residual := func(v []float64) (worst float64) {
			for e := range k {
				sum := -m.W[e*m.Tasks+target]
				for i, task := range sources {
					sum += m.W[e*m.Tasks+task] * v[i]
				}
				worst = max(worst, math.Abs(sum))
			}
			return worst
		}
		if r := residual(nu); r > 1e-8 {
			t.Fatalf("W nu misses w by %v", r)
		}
		for range 5 {
			null := nullVector(rng.NormFloat64, m, sources)
			var dot, nn, vv float64
			for i := range nu {
				dot += nu[i] * null[i]
				nn += nu[i] * nu[i]
				vv += null[i] * null[i]
			}
			if math.Abs(dot) > 1e-7*math.Sqrt(nn*vv)+1e-12 {
				t.Fatalf("nu has product %v with a null vector of W", dot)
			}
		}
	}
}

// nullVector returns a random vector projected onto the null space of the sources' heads, by Gram-Schmidt over the rows of W.
func nullVector(normal func() float64, m *LinearModel, sources []int) []float64 {
	var basis [][]float64
	project := func(v []float64) {
		for range 2 {
			for _, b := range basis {
				var dot float64
				for i := range v {
					dot += v[i] * b[i]
				}
				for i := range v {
					v[i] -= dot * b[i]
				}
			}
		}
	}
	for e := range m.K {
		row := make([]float64, len(sources))
		for i, task := range sources {
			row[i] = m.W[e*m.Tasks+task]
		}
		project(row)
		var sum float64
		for _, v := range row {
			sum += v * v
		}
		for i := range row {
			row[i] /= math.Sqrt(sum)
		}
		basis = append(basis, row)
	}
	v := make([]float64, len(sources))
	for i := range v {
		v[i] = normal()
	}
	project(v)
	return v
}

func TestNuBadArguments(t *testing.T) {
	// Heads (1,0), (2,0), (0,1) and (0,0).
	m := &LinearModel{D: 2, K: 2, Tasks: 4, B: []float64{1, 0, 0, 1}, W: []float64{1, 2, 0, 0, 0, 0, 1, 0}}
	for _, c := range []struct {
		target  int
		sources []int
		want    string
	}{
		{4, []int{0}, "target"},
		{-1, []int{0}, "target"},
		{0, nil, "at least one source"},
		{0, []int{1, 4}, "source 1 of 2"},
		{0, []int{-1}, "source 0 of 1"},
		{2, []int{0, 1}, "span"},
		{2, []int{3}, "span"},
	} {
		nu, err := m.Nu(c.target, c.sources)
		must.Fail(t, fmt.Sprintf("Nu(%d, %v) is %v with", c.target, c.sources, nu), err, c.want)
	}
	// Sources of deficient rank are enough where they span the target.
	nu, err := m.Nu(0, []int{0, 1})
	if err != nil || math.Abs(nu[0]-0.2) > 1e-14 || math.Abs(nu[1]-0.4) > 1e-14 {
		t.Errorf("nu is %v, expected [0.2 0.4] (error %v)", nu, err)
	}
	if nu, err = m.Nu(3, []int{0, 1, 2}); err != nil || nu[0] != 0 || nu[1] != 0 || nu[2] != 0 {
		t.Errorf("nu of a zero head is %v (error %v)", nu, err)
	}
	m.W[0] = math.NaN()
	if nu, err = m.Nu(2, []int{0, 1}); err == nil {
		t.Errorf("nu is %v for a head that is not a number", nu)
	}
	m.W = m.W[:5]
	if nu, err = m.Nu(0, []int{1}); err == nil {
		t.Errorf("nu is %v for a model without some heads", nu)
	}
}
