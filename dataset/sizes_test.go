package dataset

import (
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
