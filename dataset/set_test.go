package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
)

// smallSet returns a valid set with a pool of each storage type.
func smallSet() *Set {
	labels := []float32{0, 1, 1, 0, 1, 0}
	train, test := []int32{0, 2, 3, 5}, []int32{1, 4}
	s := &Set{
		Name: "small", Binary: true,
		Pools: []*Pool{
			{Name: "u8", Rows: 6, Cols: 4, U8: make([]uint8, 24), Scale: 1. / 255, Height: 2, Width: 2},
			{Name: "f16", Rows: 6, Cols: 4, F16: make([]uint16, 24), Scale: 1},
			{Name: "f32", Rows: 6, Cols: 4, F32: make([]float32, 24), Scale: 1},
		},
	}
	for i := range 24 {
		s.Pools[0].U8[i] = uint8(i)
		s.Pools[1].F16[i] = uint16(i)
		s.Pools[2].F32[i] = float32(i)
	}
	for p := range s.Pools {
		for c := range 2 {
			s.Tasks = append(s.Tasks, Task{Name: fmt.Sprintf("%s_%d", s.Pools[p].Name, c), Pool: p, Labels: labels, Train: train, Test: test})
		}
	}
	return s
}

// faults lists changes that make smallSet invalid, each with a part of the error.
var faults = []struct {
	want  string
	spoil func(s *Set)
}{
	{"found 0 and 6", func(s *Set) { s.Pools = nil }},
	{"found 3 and 0", func(s *Set) { s.Tasks = nil }},
	{"pool 1 is nil", func(s *Set) { s.Pools[1] = nil }},
	{`pool "u8": expected 1 to 2147483647 rows of at least one column, found 0 by 4`, func(s *Set) { s.Pools[0].Rows = 0 }},
	{`found -6 by -4`, func(s *Set) { s.Pools[0].Rows, s.Pools[0].Cols = -6, -4 }},
	{`found 6 by 4611686018427387908`, func(s *Set) { s.Pools[0].Cols = 1<<62 + 4 }},
	{`found 4294967302 by 4`, func(s *Set) { s.Pools[0].Rows = 1<<32 + 6 }},
	{`pool "f16": expected one of U8, F16 and F32 to be set, found 2`, func(s *Set) { s.Pools[1].U8 = s.Pools[0].U8 }},
	{`found 0`, func(s *Set) { s.Pools[1].F16 = nil }},
	{`pool "f32": expected 6 by 4 = 24 elements, found 23`, func(s *Set) { s.Pools[2].F32 = s.Pools[2].F32[1:] }},
	{`pool "u8": expected a scale that is finite and above 0, found 0`, func(s *Set) { s.Pools[0].Scale = 0 }},
	{`found NaN`, func(s *Set) { s.Pools[0].Scale = float32(math.NaN()) }},
	{`found +Inf`, func(s *Set) { s.Pools[0].Scale = float32(math.Inf(1)) }},
	{`expected an image shape that divides 4 elements or 0 by 0, found 2 by 3`, func(s *Set) { s.Pools[0].Width = 3 }},
	{`found -2 by -2`, func(s *Set) { s.Pools[0].Height, s.Pools[0].Width = -2, -2 }},
	{`found 3 by 1`, func(s *Set) { s.Pools[0].Height, s.Pools[0].Width = 3, 1 }},
	{`found 0 by 4`, func(s *Set) { s.Pools[0].Height, s.Pools[0].Width = 0, 4 }},
	{`pool "f32": row 2, column 1: expected a finite value, found NaN`, func(s *Set) { s.Pools[2].F32[9] = float32(math.NaN()) }},
	{`pool "f32": row 5, column 3: expected a finite value, found -Inf`, func(s *Set) { s.Pools[2].F32[23] = float32(math.Inf(-1)) }},
	{`pool "f16": row 0, column 2: expected a finite value, found -Inf`, func(s *Set) { s.Pools[1].F16[2] = 0xfc00 }},
	{`pool "f16": row 0, column 2: expected a finite value, found NaN`, func(s *Set) { s.Pools[1].F16[2] = 0x7c01 }},
	{`pool "f32": expected 4 columns as in pool "u8", found 2`, func(s *Set) { s.Pools[2].Rows, s.Pools[2].Cols = 12, 2 }},
	{`task 3: expected a name of its own, found "u8_0", also of task 0`, func(s *Set) { s.Tasks[3].Name = "u8_0" }},
	{`task 0: expected a name of its own, found ""`, func(s *Set) { s.Tasks[0].Name = "" }},
	{`task "u8_1": expected one of 3 pools, found index 3`, func(s *Set) { s.Tasks[1].Pool = 3 }},
	{`found index -1`, func(s *Set) { s.Tasks[1].Pool = -1 }},
	{`task "u8_1": expected 6 labels, one for each row of pool "u8", found 5`, func(s *Set) { s.Tasks[1].Labels = s.Tasks[1].Labels[:5] }},
	{`row 3: expected a finite label, found NaN`, func(s *Set) { s.Tasks[1].Labels[3] = float32(math.NaN()) }},
	{`row 3: expected a label of 0 or 1, found 0.5`, func(s *Set) { s.Tasks[1].Labels[3] = 0.5 }},
	{`task "u8_1": train row 1 of 3: expected 0 to 5, found 6`, func(s *Set) { s.Tasks[1].Train = []int32{0, 6, 1} }},
	{`test row 0 of 1: expected 0 to 5, found -1`, func(s *Set) { s.Tasks[1].Test = []int32{-1} }},
	{`test row 1 of 2: expected each row once in train and test together, found 2 again`, func(s *Set) { s.Tasks[1].Test = []int32{1, 2} }},
	{`train row 1 of 2: expected each row once in train and test together, found 2 again`, func(s *Set) { s.Tasks[1].Train = []int32{2, 2} }},
	{`task "u8_1": expected an output of its own in pool "u8", found that of task "u8_0", column "kind" and class "a"`,
		func(s *Set) { s.Tasks[0].Output, s.Tasks[1].Output = Output{"kind", "a"}, Output{"kind", "a"} }},
	{`task "u8_1": expected Binary of a set with classes, such as "a"`,
		func(s *Set) { s.Binary, s.Tasks[1].Output = false, Output{"kind", "a"} }},
	{`columns: Centre: expected 4 numbers, one for each feature, or none, found 3`,
		func(s *Set) { s.Columns = &Columns{Centre: make([]float64, 3), Spread: []float64{1, 1, 1, 1}} }},
	{`columns: feature 2 of Means: expected a finite number, found NaN`,
		func(s *Set) { s.Columns = &Columns{Means: []float64{1, 2, math.NaN(), 4}} }},
	{`columns: expected both of Centre and Spread or none, found 4 and 0 numbers`,
		func(s *Set) { s.Columns = &Columns{Centre: make([]float64, 4)} }},
	{`columns: feature 1 of Spread: expected a number above 0, found 0`,
		func(s *Set) { s.Columns = &Columns{Centre: make([]float64, 4), Spread: []float64{1, 0, 1, 1}} }},
	{`columns: label "kind": expected its classes to list "c", that of task "u8_1"`, func(s *Set) {
		s.Columns = &Columns{Labels: []LabelColumn{{Name: "kind", Classes: []string{"a", "b"}}}}
		s.Tasks[1].Output = Output{"kind", "c"}
	}},
	{`task "u8_1": expected train rows, found none`, func(s *Set) { s.Tasks[1].Train = nil }},
	{`model: expected D = 4, Tasks = 6 and K >= 1, found 3, 6 and 1`, func(s *Set) { s.Model = model(3, 1, 6) }},
	{`model: expected B of 4 by 1 and W of 1 by 6, found 4 and 7 elements`,
		func(s *Set) { s.Model = model(4, 1, 6); s.Model.W = make([]float64, 7) }},
	{`model: expected a sigma`, func(s *Set) { s.Model = model(4, 1, 6); s.Model.Sigma = -1 }},
	{`model: W, element 2: expected a finite value, found NaN`, func(s *Set) { s.Model = model(4, 1, 6); s.Model.W[2] = math.NaN() }},
}

func model(d, k, tasks int) *LinearModel {
	return &LinearModel{D: d, K: k, Tasks: tasks, B: make([]float64, d*k), W: make([]float64, k*tasks)}
}

func TestValidate(t *testing.T) {
	s := smallSet()
	s.Model = model(4, 2, 6)
	must.Do(t, s.Validate())
	s.Binary = false
	s.Tasks[0].Labels = []float32{-1, 2, 3.5, 0, 0, 1e30}
	s.Tasks[0].Test = nil
	must.Do(t, s.Validate())
	s = smallSet()
	for i := range s.Tasks {
		s.Tasks[i].Labels = nil // yet to be asked for
		s.Tasks[i].Output = Output{"kind", fmt.Sprint(i % 2)}
	}
	must.Do(t, s.Validate())
	s.Oddities()
	must.Hold(t, len(s.UnseenClasses(0, nil)) == 0, "classes without labels: %v", s.UnseenClasses(0, nil))
	for _, f := range faults {
		s := smallSet()
		f.spoil(s)
		err := s.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "small: ") || !strings.Contains(err.Error(), f.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want %q", err, f.want)
		}
		if odd := s.Oddities(); len(odd) != 1 || odd[0].Found != err.Error() {
			t.Errorf("oddities %+v, want one, %q", odd, err)
		}
		s.Hash()
	}
}

// Rows are checked against the size of the task's own pool, whatever the sizes of the others.
func TestValidatePoolsOfDifferentSizes(t *testing.T) {
	s := &Set{Name: "sizes"}
	for i, rows := range []int{3, 7, 2, 9} {
		s.Pools = append(s.Pools, &Pool{Rows: rows, Cols: 1, U8: make([]uint8, rows), Scale: 1})
		s.Tasks = append(s.Tasks, Task{
			Name: fmt.Sprint(i), Pool: i, Labels: make([]float32, rows),
			Train: []int32{0}, Test: []int32{int32(rows - 1)},
		})
	}
	must.Do(t, s.Validate())
	s.Tasks[2].Test[0] = 2
	must.Fail(t, "a row of another pool", s.Validate(), `task "2": test row 0 of 1: expected 0 to 1, found 2`)
}

// Every field that belongs to the data changes the hash. Copies of slices, the set's name and the model do not.
func TestHash(t *testing.T) {
	want := smallSet().Hash()
	// Results carry the hash, so it must stay what it is from version to version.
	if golden := "78f86f003256af0d5a99b7898ea8e82960b194730cbe8c696ed057865e229d34"; want != golden {
		t.Errorf("hash %s, want %s", want, golden)
	}
	same := smallSet()
	same.Name, same.Model = "other", model(4, 2, 6)
	same.Columns = &Columns{ID: "id", Features: []string{"a", "b", "c", "d"}}
	for i := range same.Tasks {
		task := &same.Tasks[i]
		task.Output.Class = "its name says so already"
		task.Labels = append([]float32(nil), task.Labels...)
		task.Train = append([]int32(nil), task.Train...)
	}
	must.Equal(t, same.Hash(), want, "hash without sharing")
	prefix, short := smallSet(), smallSet()
	prefix.Tasks[1].Train = prefix.Tasks[0].Train[:3]
	short.Tasks[1].Train = []int32{0, 2, 3}
	must.Hold(t, prefix.Hash() == short.Hash(), "a slice that begins where a longer one does has another hash")
	seen := map[string]int{want: -1}
	for i, change := range []func(s *Set){
		func(s *Set) { s.Binary = false },
		func(s *Set) { s.Pools[0].Name = "x" },
		func(s *Set) { s.Pools[0].Rows, s.Pools[0].Cols = 4, 6 },
		func(s *Set) { s.Pools[0].Height, s.Pools[0].Width = 1, 4 },
		func(s *Set) { s.Pools[0].Height, s.Pools[0].Width = 4, 1 },
		func(s *Set) { s.Pools[0].Height, s.Pools[0].Width = 2, 1 },
		func(s *Set) { s.Pools[0].Scale = 1 },
		func(s *Set) { s.Pools[0].U8[23]++ },
		func(s *Set) { s.Pools[1].F16[23]++ },
		func(s *Set) { s.Pools[2].F32[23]++ },
		func(s *Set) { s.Pools[0], s.Pools[1] = s.Pools[1], s.Pools[0] },
		func(s *Set) { s.Tasks[1].Name = "x" },
		func(s *Set) { s.Tasks[1].Pool = 2 },
		func(s *Set) { s.Tasks[1].Labels = []float32{1, 1, 1, 0, 1, 0} },
		func(s *Set) { s.Tasks[1].Train = []int32{0, 2, 3} },
		func(s *Set) { s.Tasks[1].Train = []int32{2, 0, 3, 5} },
		func(s *Set) { s.Tasks[1].Train, s.Tasks[1].Test = s.Tasks[1].Test, s.Tasks[1].Train },
		func(s *Set) { s.Tasks[1].Test = nil },
		func(s *Set) { s.Tasks = s.Tasks[:5] },
		func(s *Set) { s.Tasks[0], s.Tasks[1] = s.Tasks[1], s.Tasks[0] },
		func(s *Set) { s.Pools[0].Cost = 2 },
		func(s *Set) { s.Pools[1].Cost = 2 },
		func(s *Set) { s.Pools[0].Target = true },
		func(s *Set) { s.Tasks[1].Output = Output{"kind", ""} },
		func(s *Set) { s.Tasks[1].Output = Output{"kind", "good"} },
		func(s *Set) { s.Tasks[2].Output = Output{"kind", "good"} },
		func(s *Set) { s.Columns = &Columns{Centre: []float64{0, 1}, Spread: []float64{1, 2}} },
		func(s *Set) { s.Columns = &Columns{Centre: []float64{0, 1}, Spread: []float64{2, 2}} },
		func(s *Set) { s.Columns = &Columns{Centre: []float64{0, 1.001}, Spread: []float64{1, 2}} },
		func(s *Set) { s.Columns = &Columns{Means: []float64{0, 1}} },
		func(s *Set) { s.Columns = &Columns{Means: []float64{1, 0}} },
		func(s *Set) {
			s.Columns = &Columns{Centre: []float64{0, 1}, Spread: []float64{1, 2}, Means: []float64{0, 1}}
		},
	} {
		s := smallSet()
		change(s)
		h := s.Hash()
		if j, taken := seen[h]; taken {
			t.Errorf("change %d has the hash of change %d", i, j)
		}
		seen[h] = i
	}
}

// Every name, class and unit changes the hash of columns. Rounding errors of the units, which depend on the order of the files, do not.
func TestHashOfColumns(t *testing.T) {
	some := func() *Columns {
		return &Columns{ID: "id", Features: []string{"a", "bc"}, Centre: []float64{1.7e9, 0}, Spread: []float64{100, 1},
			Means: []float64{1.7e9, 0}, Filled: []int64{0, 1},
			Labels: []LabelColumn{{Name: "y", Classes: []string{"no", "yes"}, Missing: []string{"", "?"}}}}
	}
	factors := func(feature int, high float64) []table.Factor {
		return []table.Factor{{Feature: feature, High: high, Mean: 1, Spread: 0.5}}
	}
	want := some().Hash()
	same := some()
	same.Centre[0], same.Centre[1], same.Spread[0], same.Means[1], same.Filled = 1.7e9+1e-6, 1e-12, 100+1e-12, 1e-12, nil
	must.Equal(t, same.Hash(), want, "hash of units that were added up in another order")
	must.Equal(t, (*Columns)(nil).Hash(), "", "hash of no columns")
	seen := map[string]int{want: -1}
	for i, change := range []func(c *Columns){
		func(c *Columns) { c.ID = "" },
		func(c *Columns) { c.Features[1] = "b" },
		func(c *Columns) { c.Features = []string{"ab", "c"} },
		func(c *Columns) { c.Features[0], c.Features[1] = c.Features[1], c.Features[0] },
		func(c *Columns) { c.Centre[0] += 10 },
		func(c *Columns) { c.Centre[1] = 0.001 },
		func(c *Columns) { c.Spread[0] = 101 },
		func(c *Columns) { c.Means = nil },
		func(c *Columns) { c.Codes = []table.Codes{{Column: "a", Values: []float64{-999}}} },
		func(c *Columns) { c.Codes = []table.Codes{{Column: "a", Values: []float64{-99}}} },
		func(c *Columns) { c.Codes = []table.Codes{{Column: "bc", Values: []float64{-999}}} },
		func(c *Columns) { c.Codes = []table.Codes{{Column: "a", Values: []float64{-999, 99}}} },
		func(c *Columns) { c.Words = []table.Words{table.Missing("a")} },
		func(c *Columns) { c.Derived.Factors = factors(0, 2) },
		func(c *Columns) { c.Derived.Factors = factors(0, 3) },
		func(c *Columns) { c.Derived.Factors = factors(1, 3) },
		func(c *Columns) { c.Labels[0].Name = "z" },
		func(c *Columns) { c.Labels[0].Classes[0] = "never" },
		func(c *Columns) { c.Labels[0].Classes = nil },
		func(c *Columns) { c.Labels[0].Missing = []string{""} },
		func(c *Columns) { c.Labels = append(c.Labels, LabelColumn{Name: "x"}) },
	} {
		c := some()
		change(c)
		h := c.Hash()
		if j, taken := seen[h]; taken {
			t.Errorf("change %d has the hash of change %d", i, j)
		}
		seen[h] = i
	}
}

// bigSet returns a set of the size of the real data: 16 pools of 5,000 rows by 784 columns.
func bigSet(t testing.TB) *Set {
	rng := rand.New(rand.NewPCG(3, 3))
	labels := make([]uint8, 5000)
	for i := range labels {
		labels[i] = uint8(rng.IntN(10))
	}
	var names []string
	var images [][]uint8
	for p := range 16 {
		names = append(names, fmt.Sprintf("p%d", p))
		images = append(images, make([]uint8, 5000*784))
		images[p][p] = 1
	}
	return must.Get(FromImages("big", names, images, labels))(t)
}

func BenchmarkValidate(b *testing.B) {
	s := bigSet(b)
	b.SetBytes(16 * 5000 * 784)
	for b.Loop() {
		must.Do(b, s.Validate())
	}
}

func BenchmarkHash(b *testing.B) {
	s := bigSet(b)
	b.SetBytes(16 * 5000 * 784)
	for b.Loop() {
		s.Hash()
	}
}

func BenchmarkHashFloat32(b *testing.B) {
	v := make([]float32, 5000*784)
	b.SetBytes(int64(4 * len(v)))
	for b.Loop() {
		digestOf(v)
	}
}

func TestTargets(t *testing.T) {
	s := smallSet() // two tasks per pool
	all := []int{0, 1, 2, 3, 4, 5}
	must.EqualSlices(t, s.Targets(), all, "targets")
	s.Pools[s.Tasks[3].Pool].Target = true
	var its []int
	for i, task := range s.Tasks {
		if task.Pool == s.Tasks[3].Pool {
			its = append(its, i)
		}
	}
	if got := s.Targets(); !slices.Equal(got, its) || len(its) == 0 {
		t.Errorf("targets %v, want %v", got, its)
	}
}
