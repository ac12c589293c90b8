package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A column that is constant in one of several sources is named with the source. A column of two values is not, nor a column that describes
// its source and so is constant in several, nor a column that may be constant by chance.
func TestStuck(t *testing.T) {
	rng := testrand.New(t)
	const sources, rows, cols = 12, 40, 4
	set := &Set{Columns: &Columns{Features: []string{"heat", "flow", "year", "night"}}}
	for i := range sources + 1 {
		p := &Pool{Name: fmt.Sprint("s", i), Rows: rows, Cols: cols, F32: make([]float32, rows*cols), Scale: 1, Target: i == sources}
		for r := range rows {
			night := float32(rng.IntN(2))
			if i == 3 {
				night = 0
			}
			year := float32(i / 2)
			if i >= 8 {
				year += float32(r % 3)
			}
			copy(p.F32[r*cols:], []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), year, night})
		}
		set.Pools = append(set.Pools, p)
		y := make([]float32, rows)
		for r := range y {
			y[r] = p.F32[r*cols] + float32(rng.NormFloat64())
		}
		set.Tasks = append(set.Tasks, Task{Name: p.Name, Pool: i, Output: Output{Name: "life"}, Labels: y, Train: upTo[int32](rows)})
	}
	stuck := func() (found []string) {
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "in all its rows") {
				found = append(found, o.Pool+": "+o.Found)
			}
		}
		return found
	}
	must.Equal(t, len(stuck()), 0, "sources with values")
	for i, p := range set.Pools { // flow becomes a word that few rows have, and no row of source 2
		for r := range rows {
			p.F32[r*cols+1] = 0
			if n := rng.IntN(20); i != 2 && n < 2 {
				p.F32[r*cols+1] = float32(1 + n)
			}
		}
	}
	must.Equal(t, len(stuck()), 0, "a word that is rare")
	for _, p := range set.Pools {
		for r := range rows {
			p.F32[r*cols+1] = float32(rng.NormFloat64())
		}
	}
	for r := range rows {
		set.Pools[5].F32[r*cols], set.Pools[5].F32[r*cols+1], set.Pools[7].F32[r*cols] = 0, 3, 0.5
	}
	must.EqualSlices(t, stuck(), []string{"s5: 1 feature is the same in all its rows, though not in other sources: flow"},
		"two sources of twelve without heat, one without flow")
	set.Pools[7].F32[0] = 1
	got := stuck()
	must.Hold(t, slices.Contains(got, "s5: 2 features are the same in all its rows, though not in other sources: heat, flow"), "%q", got)

	mean := rng.NormFloat64() * 1e5 // of flow, which source 5 lacks and which others lack in some rows
	for r := range rows {
		set.Pools[5].F32[r*cols+1] = float32(mean)
	}
	set.Columns.Filled, set.Columns.Means = []int64{0, rows + int64(rng.IntN(9)), 0, 0}, []float64{0, mean, 0, 0}
	must.Hold(t, slices.Contains(stuck(), "s5: 1 feature is missing in all its rows, though not in other sources: flow"), "%q", stuck())
	set.Columns.Filled[1] = rows - 1
	must.Hold(t, slices.Contains(stuck(), got[0]), "fewer cells were filled: %q", stuck())
}

// Where more than half of the rows are of sources that lack a column, as all machines of one make do, none of these is named: not the
// larger ones either, beside whose rows less than half of the others lack it.
func TestStuckInMany(t *testing.T) {
	rng := testrand.New(t)
	set := &Set{Columns: &Columns{Features: []string{"heat", "seal"}, Filled: []int64{0, 0}, Means: []float64{0, 0}}}
	for i := range 12 {
		rows := 50
		if i == 3 {
			rows = 300
		}
		p := &Pool{Name: fmt.Sprint("s", i), Rows: rows, Cols: 2, F32: make([]float32, 2*rows), Scale: 1, Target: i == 11}
		y := make([]float32, rows)
		for r := range rows {
			p.F32[2*r] = float32(rng.NormFloat64())
			if i >= 5 {
				p.F32[2*r+1] = float32(rng.NormFloat64())
			} else {
				set.Columns.Filled[1]++
			}
			y[r] = p.F32[2*r] + float32(rng.NormFloat64())
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, Task{Name: p.Name, Pool: i, Output: Output{Name: "life"}, Labels: y, Train: upTo[int32](rows)})
	}
	for _, o := range set.Oddities() {
		must.Hold(t, !strings.Contains(o.Found, "in all its rows"), "%s: %s", o.Pool, o.Found)
	}
}
