package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A set with one odd thing has one oddity, which names the source and what was found. A set without has none.
func TestOddities(t *testing.T) {
	const rows, cols = 40, 5
	rng := testrand.New(t)
	make3 := func() *Set {
		set := &Set{Name: "own", Binary: true}
		for i, name := range []string{"a", "b", "target"} {
			p := &Pool{Name: name, Rows: rows, Cols: cols, F32: make([]float32, rows*cols), Scale: 1, Target: name == "target"}
			for j := range p.F32 {
				p.F32[j] = float32(rng.NormFloat64())
			}
			for _, class := range []string{"no", "yes"} {
				y := make([]float32, rows)
				for r := range y {
					y[r] = float32(r % 2)
				}
				task := Task{Name: name + "_" + class, Pool: i, Output: Output{"label", class}, Labels: y, Train: upTo[int32](rows)}
				set.Tasks = append(set.Tasks, task)
			}
			set.Pools = append(set.Pools, p)
		}
		must.Do(t, set.Validate())
		return set
	}
	for what, c := range map[string]struct {
		change      func(*Set)
		pool, found string
	}{
		"nothing":  {func(*Set) {}, "", ""},
		"constant": {func(s *Set) { setColumn(s, 3, 7) }, "", "1 of 5 features are the same in all rows, the first at place 3"},
		"numbered": {func(s *Set) { numberRows(s, 2, func(r int) int { return r }) }, "",
			"the feature at place 2 goes one way from row to row"},
		"backwards": {func(s *Set) { numberRows(s, 4, func(r int) int { return -r }) }, "", "the feature at place 4 goes one way"},
		"two alike": {func(s *Set) { numberRows(s, 2, func(r int) int { return r / 2 }) }, "", ""},
		"one back":  {func(s *Set) { numberRows(s, 2, func(r int) int { return r - 3*(r/39) }) }, "", ""},
		"twice": {func(s *Set) { copy(s.Pools[1].F32[5*cols:6*cols], s.Pools[1].F32) }, "b",
			"1 of 40 rows has the features of a row before it in the source: row 5, like row 0"},
		"leak": {func(s *Set) { copy(s.Pools[0].F32[:2*cols], s.Pools[2].F32) }, "a",
			"2 of 40 rows have the features of a row of the target, the first is row 0, like row 0"},
		"few values": {func(s *Set) {
			for _, p := range s.Pools {
				for j := range p.F32 {
					p.F32[j] = float32(j / cols % 3 * (j%cols + 1)) // equal rows occur with both labels
				}
			}
		}, "", "111 of 120 rows have the features of a row before in their source; labels differ in "},
		"one class": {func(s *Set) {
			for i := range rows {
				s.Tasks[2].Labels[i], s.Tasks[3].Labels[i] = 0, 1
			}
		}, "b", `all labelled rows are of class "yes" of label`},
		"units":      {func(s *Set) { s.Pools[0].Scale = 30 }, "a", "features of root mean square"},
		"unlabelled": {func(s *Set) { s.Tasks = s.Tasks[2:] }, "a", "no row has a label"},
		"unseen":     {func(s *Set) { s.Tasks = s.Tasks[:5] }, "target", `no labelled sample is of class "yes" of label`},
		"none":       {func(s *Set) { s.Pools[0].Name = "NA" }, "NA", "the name is a word for none"},
		"alike":      {func(s *Set) { s.Pools[0].Name = "B " }, "", `the sources differ in case, blanks or zero decimals alone: "B ", "b"`},
		"decimals": {func(s *Set) { s.Pools[0].Name, s.Pools[1].Name = "1", "1.0" }, "",
			`the sources differ in case, blanks or zero decimals alone: "1", "1.0"`},
		"numbers": {func(s *Set) { s.Pools[0].Name, s.Pools[1].Name = "01", "1" }, "", ""},
		"few":     {func(s *Set) { s.Tasks = append(s.Tasks, fewRows(s)...) }, "target", "labelled rows for 42 outputs"},
	} {
		set := make3()
		c.change(set)
		got := set.Oddities()
		switch {
		case c.found == "" && len(got) > 0, c.found != "" && len(got) != 1:
			t.Errorf("%s: %+v", what, got)
		case c.found != "" && (got[0].Pool != c.pool || !strings.Contains(got[0].Found, c.found) || got[0].Advice == ""):
			t.Errorf("%s: %+v, expected %q of %q", what, got[0], c.found, c.pool)
		}
	}
}

// numberRows sets a column of each pool to number(row) / 20.
func numberRows(s *Set, column int, number func(row int) int) {
	for _, p := range s.Pools {
		for r := range p.Rows {
			p.F32[r*p.Cols+column] = float32(number(r)) / 20
		}
	}
}

func setColumn(s *Set, column int, to float32) {
	for _, p := range s.Pools {
		for r := range p.Rows {
			p.F32[r*p.Cols+column] = to
		}
	}
}

// fewRows returns 40 more tasks of the target, each with an output of its own.
func fewRows(s *Set) []Task {
	more := make([]Task, s.Pools[2].Rows)
	for i := range more {
		more[i] = s.Tasks[4]
		more[i].Name, more[i].Output = fmt.Sprint("another_", i), Output{"another", fmt.Sprint(i)}
	}
	return more
}

// A code that no cell of a column has is odd, except where another column has it: then new rows may.
func TestUnusedCodes(t *testing.T) {
	set := &Set{Columns: &Columns{Features: []string{"a", "b", "c"}, Filled: []int64{5, 0, 0}, Codes: []table.Codes{{Column: "a",
		Values: []float64{-9999}}, {Column: "b", Values: []float64{-9999}}, {Column: "c", Values: []float64{-999}}}}}
	odd := set.unusedCodes()
	must.Hold(t, len(odd) == 1 && strings.HasPrefix(odd[0].Found, "no cell of column c is missing"), "%v", odd)
}
