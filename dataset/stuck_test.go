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
