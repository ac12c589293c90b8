package dataset

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// asTable makes the features of a set columns of a table.
func asTable(s *Set) *Set {
	s.Columns = &Columns{}
	for j := range s.Pools[0].Cols {
		s.Columns.Features = append(s.Columns.Features, fmt.Sprint("c", j))
	}
	return s
}

// nearCells returns features of rows of which those with the same number in of differ by little, jitter, and those with others do not.
func nearCells(rng *rand.Rand, of []int, cols int, jitter float64) []float32 {
	first := map[int][]float64{}
	var cells []float32
	for _, thing := range of {
		if first[thing] == nil {
			for range cols {
				first[thing] = append(first[thing], rng.NormFloat64())
			}
		}
		for _, v := range first[thing] {
			cells = append(cells, float32(v+jitter*rng.NormFloat64()))
		}
	}
	return cells
}

// Near copies are in one group, of vectors and of columns of a table, in any unit and order, whatever their labels.
func TestGroupsOfNearCopies(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 40 {
		n, cols, things := 80+rng.IntN(100), 15+rng.IntN(50), 0
		of := make([]int, n)
		for i := range of {
			if of[i] = things; i%4 == 3 || rng.IntN(2) == 0 { // up to four rows of each thing
				things++
			}
		}
		rng.Shuffle(n, func(i, j int) { of[i], of[j] = of[j], of[i] })
		cells := nearCells(rng, of, cols, 0.001)
		set := labelledRows(n, cols, func(i, j int) float32 { return cells[i*cols+j] })
		if turn%2 == 1 {
			asTable(set)
		}
		p := set.Pools[0]
		check := func(what string, of []int) {
			t.Helper()
			got := set.GroupsOf(0)
			for a := range n {
				for b := range n {
					must.Hold(t, sameGroup(got, a, b) == (of[a] == of[b]), "%s: rows %d and %d are in one group: %v", what, a, b,
						of[a] != of[b])
				}
			}
		}
		check("as they are", of)
		said := ""
		for _, o := range set.Warnings().Oddities(false) {
			said += o.Found + "\n"
		}
		want := fmt.Sprintf("%d of %d labelled rows have nearly the features of a labelled row before", n-len(distinct(of)), n)
		must.Hold(t, strings.Contains(said, want), "expected %q, found %q", want, said)
		for j := range cols {
			scale, shift := float32(1000), float32(2)
			if turn%2 == 1 {
				scale, shift = float32(math.Exp(5*rng.NormFloat64())), float32(rng.NormFloat64())
			}
			for i := range n {
				p.F32[i*cols+j] = scale * (p.F32[i*cols+j] + shift)
			}
		}
		check("in other units", of)
		order, moved := rng.Perm(n), make([]int, n)
		was := slices.Clone(p.F32)
		for to, from := range order {
			copy(p.F32[to*cols:][:cols], was[from*cols:][:cols])
			moved[to] = of[from]
		}
		check("in another order", moved)
	}
}

func distinct(of []int) []int { return slices.Compact(slices.Sorted(slices.Values(of))) }

// Rows of smooth distributions of several kinds are near copies of others in less than one of a hundred sets.
func TestNoNearCopiesByChance(t *testing.T) {
	rng := testrand.New(t)
	normals := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	kinds := map[string]func(n, cols int) func(i, j int) float64{
		"normal": func(int, int) func(i, j int) float64 { return func(int, int) float64 { return rng.NormFloat64() } },
		"heavy tails": func(int, int) func(i, j int) float64 {
			return func(int, int) float64 { return rng.NormFloat64() / math.Abs(rng.NormFloat64()) }
		},
		"lognormal": func(int, int) func(i, j int) float64 {
			return func(int, int) float64 { return math.Exp(2 * rng.NormFloat64()) }
		},
		"a size for each row": func(n, _ int) func(i, j int) float64 {
			size := normals(n)
			return func(i, _ int) float64 { return math.Exp(1.5*size[i]) * rng.NormFloat64() }
		},
		"falling spectrum": func(int, int) func(i, j int) float64 {
			return func(_, j int) float64 { return rng.NormFloat64() / float64(1+j) }
		},
		"one factor": func(n, _ int) func(i, j int) float64 {
			factor := normals(n)
			return func(i, _ int) float64 { return factor[i] + 0.1*rng.NormFloat64() }
		},
		"clusters": func(n, cols int) func(i, j int) float64 {
			centres, of := normals(8*cols), make([]int, n)
			for i := range of {
				of[i] = rng.IntN(8)
			}
			return func(i, j int) float64 { return centres[of[i]*cols+j] + 0.3*rng.NormFloat64() }
		},
		"a curve": func(n, cols int) func(i, j int) float64 {
			at, phase := normals(n), normals(cols)
			return func(i, j int) float64 { return math.Sin(at[i]*(1+math.Abs(phase[j])) + 5*phase[j]) }
		},
		"a walk": func(_, cols int) func(i, j int) float64 {
			at := normals(cols)
			return func(_, j int) float64 {
				at[j] += rng.NormFloat64()
				return at[j]
			}
		},
		"few values": func(_, cols int) func(i, j int) float64 {
			return func(int, int) float64 { return float64(rng.IntN(10)) }
		},
		"rare bits": func(int, int) func(i, j int) float64 {
			return func(int, int) float64 { return math.Max(0, float64(rng.IntN(20)-18)) }
		},
		"no negative ones": func(int, int) func(i, j int) float64 {
			return func(int, int) float64 { return math.Max(0, rng.NormFloat64()) }
		},
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) { // in one order, for one seed
		sets, grouped, some := 0, 0, 0
		for range 100 {
			n, cols := 10+rng.IntN(100), 1+rng.IntN(30)
			of := kinds[name](n, cols)
			set := labelledRows(n, cols, func(i, j int) float32 { return float32(of(i, j)) })
			for range 2 {
				_, different := set.Pools[0].equalRows(set.Tasks[0].Train)
				sets++
				rows := set.nearCopies(set.Pools[0], different, func() func([]int32) float64 { return set.labelsVary(0, different) })
				if some += len(rows); len(rows) > 0 {
					grouped++
				}
				asTable(set)
			}
		}
		t.Logf("%s: %d rows are near copies, in %d of %d sets", name, some, grouped, sets)
		must.Hold(t, 25*grouped <= sets, // four times the rate, which chance does not reach
			"%s: %d rows are near copies, in %d of %d sets", name, some, grouped, sets)
	}
}

// Classes that lie tight and far from each other are no copies, nor are many rows that have little in common but their place.
func TestTightClassesAreNoNearCopies(t *testing.T) {
	rng := testrand.New(t)
	copies := 0
	for range 20 {
		const n, cols, classes = 80, 20, 25
		of := make([]int, n)
		for i := range of {
			of[i] = i % classes
		}
		cells := nearCells(rng, of, cols, 0.0001)
		set := labelledRows(n, cols, func(i, j int) float32 { return cells[i*cols+j] })
		must.Hold(t, set.GroupsOf(0) != nil, "things of which each was measured four times are on their own")
		set.Binary, set.Tasks = true, nil
		for class := range classes {
			labels := make([]float32, n)
			for i, c := range of {
				if c == class && i > 0 { // the label of one row is wrong
					labels[i] = 1
				}
			}
			set.Tasks = append(set.Tasks, Task{Name: fmt.Sprint(class), Labels: labels, Train: upTo[int32](n)})
		}
		if set.GroupsOf(0) != nil {
			copies++
		}
		set.Tasks = set.Tasks[:1]
		for i := range n {
			set.Tasks[0].Labels[i] = float32(i / classes % 2)
		}
		must.Hold(t, set.GroupsOf(0) != nil, "copies whose labels differ are on their own")
	}
	must.Hold(t, copies <= 4, "classes are copies in %d of 20 sets", copies) // by chance in one of a thousand sets
}

// Rows of a table that are near in the columns of measurements but differ in a word are no copies.
func TestNearCopiesDifferInWord(t *testing.T) {
	rng := testrand.New(t)
	const n, cols = 60, 30
	of := make([]int, n)
	for i := range of {
		of[i] = i / 2
	}
	for words := range 2 {
		cells := nearCells(rng, of, cols, 0.001)
		set := asTable(labelledRows(n, cols+1, func(i, j int) float32 {
			if j < cols {
				return cells[i*cols+j]
			}
			return float32(i % (1 + words))
		}))
		must.Hold(t, (set.GroupsOf(0) == nil) == (words == 1), "differ in a word: %v, groups %v", words == 1, set.GroupsOf(0))
	}
}

// Rows for tests that are near copies of rows to draw from are counted.
func TestNearCopiesAcrossSplit(t *testing.T) {
	rng := testrand.New(t)
	const n, cols = 60, 30
	of := make([]int, n)
	for i := range of {
		of[i] = i % 40
	}
	cells := nearCells(rng, of, cols, 0.01)
	set := labelledRows(n, cols, func(i, j int) float32 { return cells[i*cols+j] })
	set.Tasks[0].Train, set.Tasks[0].Test = upTo[int32](50), upTo[int32](n)[50:]
	said := ""
	for _, o := range set.Warnings().Oddities(false) {
		said += o.Found + "\n"
	}
	must.Hold(t, strings.Contains(said, "10 rows for tests of 10 are copies, or nearly, of rows to draw from"), "%s", said)
}

// Many near copies with any labels, as texts without words are, are no copies, nor are those that leave less than a quarter of the rows.
func TestManyNearCopies(t *testing.T) {
	rng := testrand.New(t)
	const n, cols = 80, 30
	for _, test := range []struct {
		of      func(i int) int
		label   func(i int) int
		grouped bool
	}{
		{func(i int) int { return max(0, i-11) }, func(i int) int { return 37 * i % n }, false},
		{func(i int) int { return max(0, i-11) }, func(i int) int { return max(0, i-11) * 37 % n }, true},
		{func(i int) int { return i / 5 }, func(i int) int { return i / 5 * 37 % n }, false},
		{func(i int) int { return i / 3 }, func(i int) int { return i / 3 * 37 % n }, true},
	} {
		of := make([]int, n)
		for i := range of {
			of[i] = test.of(i)
		}
		cells := nearCells(rng, of, cols, 0.001)
		set := labelledRows(n, cols, func(i, j int) float32 { return cells[i*cols+j] })
		for i := range n {
			set.Tasks[0].Labels[i] = float32(test.label(i))
		}
		must.Equal(t, set.GroupsOf(0) != nil, test.grouped, "there are near copies")
	}
}
