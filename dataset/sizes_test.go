package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Before a run, vectors of a source that are ten times as large as those of others, or a tenth as large, are named, and so they are by a
// check. The columns of a table are not, since each has a unit of its own.
func TestSizesBeforeARun(t *testing.T) {
	rng := testrand.New(t)
	for times, odd := range must.Ordered(map[float32]bool{1: false, 5: false, 0.3: false, 100: true, 0.01: true}) {
		for _, vectors := range []bool{true, false} {
			set := measured(rng)
			if vectors {
				set.Columns = nil
			}
			p := set.Pools[1]
			for i := range p.F32 {
				p.F32[i] *= times
			}
			says := func(all []Oddity) (found []string) {
				for _, o := range all {
					if strings.HasPrefix(o.Found, "features of root mean square") {
						found = append(found, o.Pool)
					}
				}
				return found
			}
			want := map[bool][]string{true: {"b"}}[odd]
			must.EqualSlices(t, says(set.Oddities()), want, "a check of vectors %g times as large", times)
			if !vectors {
				want = nil
			}
			must.EqualSlices(t, says(set.Warnings().Oddities(true)), want, "vectors %v, %g times as large, before a run", vectors, times)
		}
	}
}

// Where data take long to read, a run looks at some rows of each source, from all over it.
func TestSizesOfManyRows(t *testing.T) {
	const rows, cols = 1 << 19, 64
	shared := make([]uint8, rows*cols)
	for i := range shared {
		shared[i] = uint8(1 + i%3)
	}
	set := &Set{}
	for i, name := range []string{"a", "b", "c"} {
		set.Pools = append(set.Pools, &Pool{Name: name, Rows: rows, Cols: cols, U8: shared, Scale: []float32{1, 1, 20}[i]})
		set.Tasks = append(set.Tasks, Task{Name: name, Pool: i, Labels: make([]float32, rows), Train: []int32{0, 1}})
	}
	set.Pools[1].Rows, set.Pools[1].U8, set.Tasks[1].Labels = 2, shared[:2*cols], make([]float32, 2)
	must.Do(t, set.Validate())
	says := func() (found []Oddity) {
		for _, o := range set.Warnings().Oddities(true) {
			if strings.Contains(o.Found, "root mean square") {
				found = append(found, o)
			}
		}
		return found
	}
	if found := says(); len(found) != 1 || found[0].Pool != "c" ||
		!strings.HasPrefix(found[0].Found, "features of root mean square 43 in 349,525 rows looked at, 2.1") {
		t.Errorf("found %v, want that c has other units", found)
	}
	set.Pools[2].Scale = 1
	half := slices.Clone(shared) // the second half of c is 20 times as large: it is 14 times as large as the others
	for i := len(half) / 2; i < len(half); i++ {
		half[i] *= 20
	}
	set.Pools[2].U8 = half
	if found := says(); len(found) != 1 {
		t.Errorf("found %v, want that c has other units in its second half", found)
	}
}
