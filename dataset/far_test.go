package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// measured returns a set of two sources and a target, with three columns in units of their own and numeric labels.
func measured(rng *rand.Rand) *Set {
	const rows, cols = 60, 3
	set := &Set{Columns: &Columns{Features: []string{"ph", "flow", "heat"}, Centre: []float64{7, 1e5, -2}, Spread: []float64{1, 3e4, 1e-3}}}
	for i, name := range []string{"a", "b", "target"} {
		p := &Pool{Name: name, Rows: rows, Cols: cols, F32: make([]float32, rows*cols), Scale: 1, Target: name == "target"}
		for j := range p.F32 {
			p.F32[j] = float32(rng.NormFloat64())
		}
		y := make([]float32, rows)
		for r := range y {
			y[r] = float32(20 + 3*rng.NormFloat64())
		}
		set.Pools = append(set.Pools, p)
		all := upTo[int32](rows)
		set.Tasks = append(set.Tasks, Task{Name: name, Pool: i, Output: Output{Name: "yield"}, Labels: y, Train: all[:40], Test: all[40:]})
	}
	return set
}

// A cell or a label that is far from all others is found, with its row, and nothing else is.
func TestFar(t *testing.T) {
	rng := testrand.New(t)
	for name, c := range must.Ordered(map[string]struct {
		change func(*Set)
		want   []string
	}{
		"nothing": {func(*Set) {}, nil},
		"cell": {func(s *Set) { s.Pools[1].F32[7*3+2] = 1e9 },
			[]string{"b: 999998 in column heat, far from the others, in row 7: half of all are from -2.00"}},
		"low cell": {func(s *Set) { s.Pools[2].F32[0] = -1e6 }, []string{"target: -999993 in column ph, far from the others, in row 0: half"}},
		"cells": {func(s *Set) { s.Pools[0].F32[3], s.Pools[1].F32[9], s.Pools[2].F32[0] = -1e6, -2e6, 3e5 },
			[]string{"b: -1.99999e+06 in column ph, far from the others, in row 3, the furthest of 3 such cells: half"}},
		"labels": {func(s *Set) { s.Tasks[0].Labels[3], s.Tasks[0].Labels[50] = 1e8, -1e9 },
			[]string{"a: 2 of 60 labels of yield far from the others, the first 1e+08 in row 3: half of all are from 1"}},
		"codes": {func(s *Set) {
			for r := range 4 {
				s.Tasks[1].Labels[5*r] = -999
			}
		}, []string{": -999 in 4 of 180 labels of yield, all others are from "}},
		"no columns": {func(s *Set) { s.Pools[1].F32[0], s.Columns.Features = 1e9, []string{"list"} }, nil},
	}) {
		set := measured(rng)
		must.Do(t, set.Validate())
		c.change(set)
		var got []string
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "far from") || strings.Contains(o.Found, "all others are") {
				got = append(got, o.Pool+": "+o.Found)
			}
		}
		must.Equal(t, len(got), len(c.want), "%s: %q", name, got)
		for i := range min(len(got), len(c.want)) {
			must.Hold(t, strings.HasPrefix(got[i], c.want[i]), "%s: %q, want %q", name, got[i], c.want[i])
		}
	}
}

// Such a cell is named before a run too, since it sets the scale of its column. Where it is so far that float32 has lost the differences of
// the others, they are not said to be known.
func TestFarBeforeRun(t *testing.T) {
	rng := testrand.New(t)
	set := measured(rng)
	must.Equal(t, len(set.Warnings().Oddities(true)), 0, "warnings of nothing")
	set.Pools[1].F32[7*3+2] = 1e9
	odd := set.Warnings().Oddities(false)
	must.Hold(t, len(odd) == 1 && odd[0].Pool == "b" &&
		strings.HasPrefix(odd[0].Found, "999998 in column heat, far from the others, in row 7: half of all are from -2.00"), "%+v", odd)

	values := make([]float64, 180) // of column ph, as an import scales them
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	values[10] = 1e12
	mean, spread := 1e12/180, 1e12/math.Sqrt(180)
	set = measured(rng)
	set.Columns.Centre[0], set.Columns.Spread[0] = mean, spread
	for i, v := range values {
		set.Pools[i/60].F32[i%60*3] = float32((v - mean) / spread)
	}
	odd = set.Warnings().Oddities(false)
	const says = "1e+12 in column ph, far from the others, in row 10: half of all are within "
	must.Hold(t, len(odd) == 1 && strings.HasPrefix(odd[0].Found, says) &&
		strings.Contains(odd[0].Found, "e+03 of "), "%+v", odd)
}

// The list of columns is cut off: after five columns it counts the others.
func TestFarColumns(t *testing.T) {
	set := measured(testrand.New(t))
	const cols = 9
	set.Columns = &Columns{}
	for j := range cols {
		set.Columns.Features = append(set.Columns.Features, fmt.Sprint("f", j))
	}
	for _, p := range set.Pools {
		p.Cols, p.F32 = cols, make([]float32, p.Rows*cols)
	}
	for j := range cols {
		set.Pools[0].F32[j] = -1e8
	}
	found := 0
	for _, o := range set.Oddities() {
		if strings.Contains(o.Found, "far from") {
			found++
			must.Hold(t, found < 6 || o.Found == "4 more columns have values far from the others", "%s", o.Found)
		}
	}
	must.Equal(t, found, 6, "oddities")
}

// Where most values are equal, another value is far only if all but a few values are far from it. Among fewer than farLeast values none is
// far.
func TestUsualOf(t *testing.T) {
	for name, c := range map[string]struct {
		value    func(i int) float64
		far, not float64
	}{
		"flags":  {func(i int) float64 { return float64(b2i(i == 500)) }, 2e6, 1},
		"counts": {func(i int) float64 { return float64(max(0, i%10-6)) }, 1e6, 1000},
		"same":   {func(int) float64 { return 5.25 }, 1e18, 6},
		"even":   {func(i int) float64 { return float64(i) }, -999_999, 100_000},
	} {
		var values []float64
		for i := range 1000 {
			values = append(values, c.value(i))
		}
		few := usualOf(append([]float64{c.far}, values[:farLeast-2]...), farLabel)
		u := usualOf(append(values, c.far), farLabel)
		must.Hold(t, (c.far < u.low || c.far > u.high) && c.not >= u.low && c.not <= u.high, "%s: %+v", name, u)
		must.Hold(t, c.far >= few.low && c.far <= few.high, "%s: of few values %+v", name, few)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Features that are the same in all rows are named by their columns where these have names.
func TestConstantColumn(t *testing.T) {
	set := measured(testrand.New(t))
	setColumn(set, 1, 2)
	setColumn(set, 2, 3)
	list := set.Oddities()
	must.Hold(t, len(list) == 1 && list[0].Found == "2 of 3 features are the same in all rows, the first in column flow" &&
		list[0].Advice == "leave them out of columns: features", "%+v", list)
	// The elements of a vector are not columns that could be left out.
	for what, columns := range map[string]*Columns{"a program's": nil, "a list column": {Features: []string{"embedding"}}} {
		set.Columns = columns
		for i, p := range set.Pools {
			for r := range p.Rows {
				p.F32[r*p.Cols] = float32(r) + float32(i)/8
			}
		}
		list = set.Oddities()
		must.Hold(t, len(list) == 2 && list[0].Found == "2 of 3 features are the same in all rows, the first at place 1", "%s: %+v", what, list)
		for _, o := range list {
			must.Hold(t, strings.Contains(o.Advice, "out where the vectors are made") && !strings.Contains(o.Advice, "columns: features"),
				"%s: %s: %s", what, o.Found, o.Advice)
		}
	}
}

// Of a feature whose cells were cut, the one at the limit is named, and no code is found there.
func TestCellsThatWereCut(t *testing.T) {
	r := testrand.New(t)
	set := measured(r)
	p := set.Pools[1]
	for _, row := range []int{3, 4, 5} {
		p.F32[row*p.Cols+1] = 90
	}
	low := func() []Oddity {
		return slices.DeleteFunc(set.Oddities(), func(o Oddity) bool { return !strings.Contains(o.Found, "far from the others") })
	}
	must.Equal(t, len(low()), 0, "cells that are not far enough")
	set.Columns.Cuts = []Cut{{1, 1e5 - 90*3e4, 1e5 + 90*3e4}}
	odd := low()
	must.Hold(t, len(odd) == 1 && odd[0].Pool == p.Name &&
		strings.HasPrefix(odd[0].Found, "a cell above 2.8e+06 in column flow, counted as that, far from the others, in row 3"),
		"%+v", odd)
	p.F32[7*p.Cols+1] = -90
	for _, row := range []int{3, 4, 5} {
		p.F32[row*p.Cols+1] = 1
	}
	must.Hold(t, strings.HasPrefix(low()[0].Found, "a cell below -2.6e+06 in column "), "%+v", low())
}

// Warnings that were found once name rows both by file and line and by number.
func TestWarningsNameRowsTwice(t *testing.T) {
	set := measured(testrand.New(t))
	set.Pools[1].F32[7*3+2], set.Tasks[0].Labels[11] = 1e9, 1e9
	for i, p := range set.Pools {
		p.Origin = inFile{i}
	}
	found := set.Warnings()
	for files, want := range map[bool][2]string{true: {"in file 1, line 7:", "in file 0, line 11:"}, false: {"in row 107:", "in row 11:"}} {
		odd := found.Oddities(files)
		must.Equal(t, len(odd), 2, "warnings")
		for i, w := range want {
			must.Hold(t, strings.Contains(odd[i].Found, w), "expected %q: %s", w, odd[i])
		}
	}
}

// inFile has the rows of a pool from row 100 times its number on.
type inFile struct{ number int }

func (f inFile) Find(i int) (string, int64, error) { return "", int64(100*f.number + i), nil }

func (f inFile) Place(i int) string { return fmt.Sprintf("file %d, line %d", f.number, i) }

// Where one source has most of the rows, a column in which several other sources have values of their own, such as the speed of machines of
// other kinds, has no odd cells. One that is far from the others of such a source is named, and so is a single source with such values.
func TestFarLevels(t *testing.T) {
	rng := testrand.New(t)
	const cols = 2
	fleet := func(others int) *Set {
		set := &Set{Columns: &Columns{Features: []string{"speed", "heat"}, Centre: []float64{1700, 60}, Spread: []float64{100, 5}}}
		for i := range 7 {
			rows := 40
			if i == 0 {
				rows = 2000
			}
			p := &Pool{Name: fmt.Sprint("m", i), Rows: rows, Cols: cols, F32: make([]float32, rows*cols), Scale: 1, Target: i == 6}
			y := make([]float32, rows)
			for r := range rows {
				p.F32[r*cols], p.F32[r*cols+1] = float32(0.02*rng.NormFloat64()), float32(rng.NormFloat64())
				if i > 0 && i <= others {
					p.F32[r*cols] += 12
				}
				y[r] = float32(rng.NormFloat64())
			}
			set.Pools = append(set.Pools, p)
			set.Tasks = append(set.Tasks, Task{Name: p.Name, Pool: i, Output: Output{Name: "life"}, Labels: y, Train: upTo[int32](rows)})
		}
		return set
	}
	far := func(s *Set) (found string) {
		for _, o := range s.farCells((*Pool).place) {
			found += o.Pool + ": " + o.Found + "\n"
		}
		return found
	}
	must.Equal(t, far(fleet(4)), "", "four sources of another speed")
	must.Hold(t, strings.Contains(far(fleet(1)), "in column speed, far from the others"), "one source of another speed: %q", far(fleet(1)))
	set := fleet(4)
	set.Pools[2].F32[8*cols] = 1e4
	must.Hold(t, strings.HasPrefix(far(set), "m2: 1.0017e+06 in column speed, far from the others, in row 8"), "a far cell: %q", far(set))
}

// A negative label that is there several times among positive ones is named once, as a code, and not in each source.
func TestFarNegativeLabels(t *testing.T) {
	set := measured(testrand.New(t))
	set.Tasks[0].Labels[3], set.Tasks[0].Labels[8], set.Tasks[1].Labels[5] = -1, -1, -1
	columns := set.labelColumns()
	found := set.farLabels(columns, set.labelNumbers(nil), nil, (*Pool).place)
	must.Hold(t, len(found) == 1 && strings.HasPrefix(found[0].Found, "-1 in 3 of 180 labels of yield, all others are from "), "%v", found)
}
