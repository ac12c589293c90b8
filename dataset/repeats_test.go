package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// labelledRows returns a set of one target, whose rows all have a label.
func labelledRows(rows, cols int, cell func(i, j int) float32) *Set {
	p := &Pool{Name: "t", Rows: rows, Cols: cols, Scale: 1, Target: true}
	labels := make([]float32, rows)
	for i := range rows {
		labels[i] = float32(i)
		for j := range cols {
			p.F32 = append(p.F32, cell(i, j))
		}
	}
	return &Set{Name: "s", Pools: []*Pool{p}, Tasks: []Task{{Name: "t", Labels: labels, Train: upTo[int32](rows)}}}
}

// sameGroup reports for each two rows whether they are in one group.
func sameGroup(groups []int32, a, b int) bool {
	return a == b || groups != nil && groups[a] >= 0 && groups[a] == groups[b]
}

// Copies of rows are in one group, and join the groups that their rows are in; all else stays as it is.
func TestGroupsOfCopies(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		n, cols, jitter := 30+rng.IntN(60), 2+rng.IntN(8), float32(0)
		if cols >= ownValues && rng.IntN(2) == 0 {
			jitter = 1e-6
		}
		set := labelledRows(n, cols, func(int, int) float32 { return rng.Float32() })
		p := set.Pools[0]
		as := upTo[int32](n)
		for range rng.IntN(n / 2) {
			to, from := rng.IntN(n), rng.IntN(n)
			set.Tasks[0].Labels[to] = set.Tasks[0].Labels[from]
			for j := range cols {
				p.F32[to*cols+j] = p.F32[from*cols+j] + jitter*(2*rng.Float32()-1)
			}
		}
		for i := range as {
			as[i] = int32(slices.IndexFunc(upTo[int32](n), func(r int32) bool {
				return slices.EqualFunc(p.F32[int(r)*cols:][:cols], p.F32[i*cols:][:cols], func(a, b float32) bool {
					return math.Abs(float64(a-b)) <= 3e-5
				})
			}))
		}
		if rng.IntN(2) == 0 {
			for range n {
				p.Groups = append(p.Groups, int32(rng.IntN(n)-n/2))
			}
		}
		named := slices.Clone(p.Groups)
		reached := make([][]bool, n) // by the slow way
		for a := range n {
			reached[a] = make([]bool, n)
			for b := range n {
				reached[a][b] = as[a] == as[b] || sameGroup(named, a, b)
			}
		}
		for k := range n {
			for a := range n {
				for b := range n {
					reached[a][b] = reached[a][b] || reached[a][k] && reached[k][b]
				}
			}
		}
		got := set.GroupsOf(0)
		for a := range n {
			for b := range n {
				must.Hold(t, sameGroup(got, a, b) == reached[a][b], "rows %d and %d are in one group: %v", a, b, !reached[a][b])
			}
		}
		must.EqualSlices(t, p.Groups, named, "the named groups")
		copies := 0
		for i, r := range as {
			if int(r) != i && (named == nil || !sameGroup(named, int(r), i)) {
				copies++
			}
		}
		said := ""
		for _, o := range set.Warnings().Oddities(false) {
			if strings.Contains(o.Found, "labelled row before") {
				said = o.Found
			}
		}
		must.Hold(t, (said != "") == (copies > 0), "%d copies: %q", copies, said)
		must.Hold(t, said == "" || jitter > 0 || strings.HasPrefix(said, fmt.Sprint(copies, " labelled row")), "%d copies: %q", copies, said)
	}
}

// Rows for tests that are copies of rows to draw from are counted.
func TestCopiesAcrossSplit(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		n := 30 + rng.IntN(60)
		set := labelledRows(n, 4, func(int, int) float32 { return rng.Float32() })
		task := &set.Tasks[0]
		of := upTo[int32](n)
		for range rng.IntN(n / 3) {
			to, from := rng.IntN(n), rng.IntN(n)
			copy(set.Pools[0].F32[4*to:4*to+4], set.Pools[0].F32[4*from:4*from+4])
			task.Labels[to], of[to] = task.Labels[from], of[from]
			for i := range of { // of a row that was itself a copy
				if slices.Equal(set.Pools[0].F32[4*i:4*i+4], set.Pools[0].F32[4*to:4*to+4]) {
					of[i] = of[to]
				}
			}
		}
		task.Train = nil
		for i := range n {
			if rng.IntN(3) == 0 {
				task.Test = append(task.Test, int32(i))
			} else {
				task.Train = append(task.Train, int32(i))
			}
		}
		copies := 0
		for _, i := range task.Test {
			if slices.ContainsFunc(task.Train, func(r int32) bool { return of[r] == of[i] }) {
				copies++
			}
		}
		said := ""
		for _, o := range set.Warnings().Oddities(false) {
			if strings.Contains(o.Found, "for tests") {
				said = o.Found
			}
		}
		must.Hold(t, (said != "") == (copies > 0) && (said == "" || strings.HasPrefix(said, fmt.Sprint(copies, " row"))),
			"%d copies across the split: %q", copies, said)
	}
}

// Rows that are equal by chance are not copies, whatever the features that make them so: less than a hundredth of rows is, such as the one
// pair that is equal among many columns.
func TestGroupsOfFewValues(t *testing.T) {
	rng := testrand.New(t)
	for name, cells := range must.Ordered(map[string]func(n, cols int) func(i, j int) float32{
		"levels": func(_, cols int) func(i, j int) float32 {
			levels := make([]int, cols)
			for j := range levels {
				levels[j] = 2 + rng.IntN(4)
			}
			return func(_, j int) float32 { return float32(rng.IntN(levels[j])) }
		},
		"words": func(n, cols int) func(i, j int) float32 {
			word := make([]int, n)
			for i := range word {
				word[i] = rng.IntN(cols)
			}
			return func(i, j int) float32 { return map[bool]float32{true: 1}[word[i] == j] }
		},
		"rare events": func(int, int) func(i, j int) float32 {
			return func(int, int) float32 { return map[bool]float32{true: 1}[rng.IntN(10) == 0] }
		},
		"a number and a constant": func(int, int) func(i, j int) float32 {
			return func(_, j int) float32 { return []float32{float32(rng.IntN(40)), 7}[min(j, 1)] }
		},
		"a number and a word": func(int, int) func(i, j int) float32 {
			return func(_, j int) float32 { return float32(rng.IntN([]int{30, 2}[j%2])) }
		},
	}) {
		rows, grouped := 0, 0
		for range 400 {
			n, cols := 20+rng.IntN(200), 2+rng.IntN(5)
			rows += n
			for _, g := range labelledRows(n, cols, cells(n, cols)).GroupsOf(0) {
				if g >= 0 {
					grouped++
				}
			}
		}
		must.Hold(t, 100*grouped <= rows, "%s: %d of %d rows are copies", name, grouped, rows)
	}
}

// Rows without features of their own, with any labels, are no copies, though the named groups that they are in have one each; things that
// were measured many times are.
func TestGroupsOfManyEqualRows(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		const n, cols = 60, 6
		blank, times := 5+rng.IntN(20), 2+rng.IntN(9)
		set := labelledRows(n, cols, func(i, _ int) float32 {
			if v := rng.Float32(); i >= blank {
				return v
			}
			return 0
		})
		p, y := set.Pools[0], set.Tasks[0].Labels
		for i := range y {
			y[i] = float32(i*5%13) + rng.Float32()
			p.Groups = append(p.Groups, int32(i%15))
		}
		must.EqualSlices(t, set.GroupsOf(0), p.Groups, "groups with a blank row each")
		p.Groups = nil
		must.Hold(t, set.GroupsOf(0) == nil, "%d blank rows are copies", blank)
		for i := range n {
			first := i / times * times
			copy(p.F32[i*cols:(i+1)*cols], p.F32[first*cols:])
			for j := range cols {
				if i == first {
					p.F32[i*cols+j] = rng.Float32()
				}
			}
			y[i] = float32(first) + float32(rng.NormFloat64())
			copy(p.F32[i*cols:(i+1)*cols], p.F32[first*cols:])
		}
		got := set.GroupsOf(0)
		for a := range n {
			for b := range n {
				must.Hold(t, sameGroup(got, a, b) == (a/times == b/times), "%d of each: rows %d and %d", times, a, b)
			}
		}
	}
	few := labelledRows(48, 6, func(i, j int) float32 { return float32(i%4) + float32(j*(i%4)*(i%4)) }) // of four things, told by six numbers
	for i := range few.Tasks[0].Labels {
		few.Tasks[0].Labels[i] = float32(i % 4)
	}
	must.Hold(t, few.GroupsOf(0) == nil, "four things with twelve rows each are four groups")
	same := labelledRows(20, 4, func(int, j int) float32 { return float32(j) })
	clear(same.Tasks[0].Labels)
	must.Hold(t, same.GroupsOf(0) == nil, "all rows are one group")
}

// Only labelled rows are compared, of pixels too.
func TestGroupsOfLabelledRows(t *testing.T) {
	rng := testrand.New(t)
	set := labelledRows(40, 9, func(int, int) float32 { return 0 })
	p := set.Pools[0]
	p.F32, p.U8 = nil, make([]uint8, 40*9)
	for i := range p.U8 {
		p.U8[i] = uint8(rng.IntN(256))
	}
	copy(p.U8[30*9:], p.U8[:10*9])
	must.Hold(t, set.GroupsOf(0) != nil, "rows 30 to 39 are no copies")
	set.Tasks[0].Train = upTo[int32](30)
	must.Hold(t, set.GroupsOf(0) == nil, "rows without labels are copies")
	set.Tasks[0].Train, set.Tasks[0].Test = upTo[int32](30)[5:], []int32{0, 1, 33}
	must.Hold(t, set.GroupsOf(0) == nil, "row 33 is a copy of an unlabelled row")
	set.Tasks[0].Test = []int32{0, 1, 36}
	groups := set.GroupsOf(0)
	must.Hold(t, groups != nil && groups[36] == groups[6] && groups[6] >= 0 && groups[0] < 0, "groups of rows 0, 6 and 36: %v", groups)
}
