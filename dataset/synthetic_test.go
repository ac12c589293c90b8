package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// truth returns x'B w_t by the definition.
func truth(m *LinearModel, x []float32, task int) float64 {
	var sum float64
	for k := range m.K {
		var z float64
		for i, v := range x {
			z += float64(v) * m.B[i*m.K+k]
		}
		sum += z * m.W[k*m.Tasks+task]
	}
	return sum
}

// meanOf returns the mean of v and its standard error.
func meanOf(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	var square float64
	for _, x := range v {
		square += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(square / float64(len(v)) / float64(len(v)))
}

// The first two moments of the rows, and the fourth of their elements, are
// those of N(0, I). Six standard errors leave one failure in millions.
func TestSyntheticRowsAreGaussian(t *testing.T) {
	const d, rows = 7, 20011
	set := must.Get(RandomLinear(d, 3, 4, 1, rows, testrand.New(t).Uint64()))(t)
	x := set.Pools[0].F32
	check := func(what string, values []float64, want float64) {
		if mean, se := meanOf(values); math.Abs(mean-want) > 6*se {
			t.Errorf("%s is %v, expected %v within %v", what, mean, want, 6*se)
		}
	}
	values := make([]float64, rows)
	for i := range d {
		for r := range rows {
			values[r] = float64(x[r*d+i])
		}
		check(fmt.Sprintf("mean of column %d", i), values, 0)
		for r := range rows {
			values[r] = math.Pow(float64(x[r*d+i]), 4)
		}
		check(fmt.Sprintf("fourth moment of column %d", i), values, 3)
		for j := range i + 1 {
			want := 0.
			if i == j {
				want = 1
			}
			for r := range rows {
				values[r] = float64(x[r*d+i]) * float64(x[r*d+j])
			}
			check(fmt.Sprintf("covariance of columns %d and %d", i, j), values, want)
		}
	}
	// Rows are independent, also across the blocks they are drawn in.
	for _, apart := range []int{1, syntheticBlock} {
		values = values[:rows-apart]
		for r := range values {
			values[r] = float64(x[r*d]) * float64(x[(r+apart)*d])
		}
		check(fmt.Sprintf("covariance of rows %d apart", apart), values, 0)
	}
}

// The labels less the true predictions are noise of variance sigma^2, independent between the tasks of one row, between rows, and of the
// features.
func TestSyntheticNoise(t *testing.T) {
	rng := testrand.New(t)
	const d, rows, tasks = 6, 20000, 4
	sigma := 0.1 + 3*rng.Float64()
	set := must.Get(RandomLinear(d, 2, tasks-1, sigma, rows, rng.Uint64()))(t)
	x := set.Pools[0].F32
	noise := make([][]float64, tasks)
	for task := range noise {
		noise[task] = make([]float64, rows)
		for r := range rows {
			noise[task][r] = (float64(set.Tasks[task].Labels[r]) - truth(set.Model, x[r*d:(r+1)*d], task)) / sigma
		}
	}
	check := func(what string, want float64, value func(r int) float64) {
		values := make([]float64, rows-syntheticBlock)
		for r := range values {
			values[r] = value(r)
		}
		if mean, se := meanOf(values); math.Abs(mean-want) > 6*se {
			t.Errorf("%s is %v, expected %v within %v", what, mean, want, 6*se)
		}
	}
	for a, za := range noise {
		check(fmt.Sprintf("mean noise of task %d", a), 0, func(r int) float64 { return za[r] })
		for b, zb := range noise[:a+1] {
			want := 0.
			if a == b {
				want = 1
			}
			check(fmt.Sprintf("noise covariance of tasks %d and %d", a, b), want, func(r int) float64 { return za[r] * zb[r] })
			check(fmt.Sprintf("noise covariance of tasks %d and %d on neighbours", a, b), 0, func(r int) float64 { return za[r] * zb[r+1] })
			check(fmt.Sprintf("noise covariance of tasks %d and %d a block apart", a, b), 0,
				func(r int) float64 { return za[r] * zb[r+syntheticBlock] })
		}
		for i := range d {
			check(fmt.Sprintf("covariance of noise %d with column %d", a, i), 0, func(r int) float64 { return za[r] * float64(x[r*d+i]) })
		}
	}
}

// Without noise the labels are exact up to the rounding of a float32.
func TestSyntheticWithoutNoise(t *testing.T) {
	rng := testrand.New(t)
	s := Synthetic{D: 5, K: 2, B: make([]float64, 10), W: make([]float64, 8), Rows: 3000, Seed: rng.Uint64()}
	for i := range s.B {
		s.B[i] = rng.NormFloat64()
	}
	for i := range s.W {
		s.W[i] = rng.NormFloat64()
	}
	set := must.Get(s.Set())(t)
	for task := range set.Tasks {
		for r, y := range set.Tasks[task].Labels {
			want := truth(set.Model, set.Pools[0].F32[5*r:5*r+5], task)
			if math.Abs(float64(y)-want) > 1e-6*(1+math.Abs(want)) {
				t.Fatalf("task %d, row %d: label %v, expected %v", task, r, y, want)
			}
		}
	}
	s.B[0], s.W[0] = 99, 99
	must.Hold(t, set.Model.B[0] != 99 && set.Model.W[0] != 99, "the model shares B or W with its maker")
}

func TestSyntheticLayout(t *testing.T) {
	set := must.Get(RandomLinear(4, 2, 12, 1, 1500, 5))(t)
	must.Do(t, set.Validate())
	var names []string
	for i, task := range set.Tasks {
		names = append(names, task.Name)
		if task.Pool != 0 || len(task.Train) != 1500 || len(task.Test) != 0 || &task.Train[0] != &set.Tasks[0].Train[0] {
			t.Errorf("task %d: pool %d, %d train and %d test rows", i, task.Pool, len(task.Train), len(task.Test))
		}
	}
	if want := "source_00 source_01 source_02"; strings.Join(names[:3], " ") != want {
		t.Errorf("names start with %v, expected %s", names[:3], want)
	}
	must.Hold(t, names[11] == "source_11" && names[12] == "target" && slices.IsSorted(names), "names are %v", names)
	if set.Binary || len(set.Pools) != 1 || set.Pools[0].Scale != 1 {
		t.Errorf("binary %v, %d pools, scale %v", set.Binary, len(set.Pools), set.Pools[0].Scale)
	}
	if few, err := RandomLinear(4, 2, 10, 1, 3, 5); err != nil || few.Tasks[9].Name != "source_9" {
		t.Errorf("the last of ten sources is %q (error %v)", few.Tasks[9].Name, err)
	}
}

// The result depends on the seed alone, and the rows of a smaller problem are the first rows of a larger one.
func TestSyntheticIsReproducible(t *testing.T) {
	seed := testrand.New(t).Uint64()
	generate := func(rows int, seed uint64) *Set {
		return must.Get(SparseNu(9, 3, 5, 0.7, rows, seed))(t)
	}
	many := generate(5000, seed)
	procs := runtime.GOMAXPROCS(1)
	one := generate(5000, seed)
	runtime.GOMAXPROCS(procs)
	must.Hold(t, one.Hash() == many.Hash(), "the result depends on the number of threads")
	must.Hold(t, generate(5000, seed+1).Hash() != one.Hash(), "another seed gives the same problem")
	small := generate(2500, seed)
	for i := range small.Tasks {
		must.EqualSlices(t, small.Tasks[i].Labels, one.Tasks[i].Labels[:2500],
			"task %d: labels of a smaller problem against the first of a larger one", i)
	}
	if !slices.Equal(small.Pools[0].F32, one.Pools[0].F32[:2500*9]) {
		t.Error("the rows of a smaller problem are not the first of a larger one")
	}
}

func TestSyntheticGolden(t *testing.T) {
	set := must.Get(RandomLinear(10, 2, 3, 1, 3000, 1))(t)
	var raw bytes.Buffer
	must.Do(t, binary.Write(&raw, binary.LittleEndian, set.Pools[0].F32))
	const want = "733fdf43d11f69d699be814466468454889b2d640ff9f2351faa113555a18cea"
	sum := sha256.Sum256(raw.Bytes())
	must.Equal(t, hex.EncodeToString(sum[:]), want, "SHA-256 of the rows of seed 1")
}

func TestSyntheticBadArguments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		d, k, sources int
		sigma         float64
		rows          int
		want          string
	}{
		{0, 1, 5, 1, 10, "input width d"},
		{-3, 1, 5, 1, 10, "input width d"},
		{math.MaxInt, 1, 5, 1, 10, "input width d"},
		{4, 5, 9, 1, 10, "representation width K"},
		{4, 0, 9, 1, 10, "representation width K"},
		{4, math.MinInt, 9, 1, 10, "representation width K"},
		{4, 3, 2, 1, 10, "at least K = 3"},
		{4, 3, -1, 1, 10, "at least K = 3"},
		{4, 3, math.MaxInt, 1, 10, "sources"},
		{4, 3, 5, -0.1, 10, "sigma"},
		{4, 3, 5, nan, 10, "sigma"},
		{4, 3, 5, inf, 10, "sigma"},
		{4, 3, 5, 1, 0, "rows"},
		{4, 3, 5, 1, -1, "rows"},
		{4, 3, 5, 1, math.MaxInt, "rows"},
		{1 << 20, 3, 5, 1, 1 << 20, "elements"},
		{4, 3, 1 << 20, 1, 1 << 20, "elements"},
		{1 << 20, 1 << 20, 1 << 20, 1, 1, "elements"},
		{math.MaxInt32, math.MaxInt32 - 1, math.MaxInt32 - 1, 1, math.MaxInt32, "elements"},
		{4, 3, 5, 1e300, 10, "fits a float32"},
	} {
		for name, generate := range map[string]func(d, k, sources int, sigma float64, rows int, seed uint64) (*Set, error){
			"SparseNu": SparseNu, "RandomLinear": RandomLinear,
		} {
			_, err := generate(c.d, c.k, c.sources, c.sigma, c.rows, 1)
			must.Fail(t, fmt.Sprintf("%s(%d, %d, %d, %v, %d)", name, c.d, c.k, c.sources, c.sigma, c.rows), err, c.want)
		}
	}
	must.Fail(t, "K = 1, which has no e_(m mod 0)", must.Err(SparseNu(4, 1, 5, 1, 10, 1)))
	good := func() Synthetic {
		return Synthetic{D: 3, K: 2, B: []float64{1, 0, 0, 1, 0, 0}, W: []float64{1, 0, 1, 0, 1, 1}, Rows: 4}
	}
	must.Get(good().Set())(t)
	for name, spoil := range map[string]func(s *Synthetic){
		"short B":      func(s *Synthetic) { s.B = s.B[:5] },
		"long B":       func(s *Synthetic) { s.B = append(s.B, 0, 0) },
		"ragged W":     func(s *Synthetic) { s.W = append(s.W, 0) },
		"no W":         func(s *Synthetic) { s.W = nil },
		"few tasks":    func(s *Synthetic) { s.W = s.W[:4] },
		"NaN in B":     func(s *Synthetic) { s.B[2] = nan },
		"infinite W":   func(s *Synthetic) { s.W[2] = inf },
		"large labels": func(s *Synthetic) { s.B[0], s.W[0] = 1e300, 1e300 },
		"zero":         func(s *Synthetic) { *s = Synthetic{} },
	} {
		s := good()
		spoil(&s)
		must.Fail(t, name, must.Err(s.Set()))
	}
}

func BenchmarkSparseNu(b *testing.B) {
	for b.Loop() {
		must.Get(SparseNu(50, 5, 50, 1, 16384, 1))(b)
	}
}
