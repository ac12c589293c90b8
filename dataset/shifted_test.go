package dataset

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Columns that in the target alone are in another unit or constant are named, and no others.
func TestShifted(t *testing.T) {
	rng := testrand.New(t)
	for name, c := range must.Ordered(map[string]struct {
		change func(p *Pool)
		want   string
	}{
		"as they are": {func(*Pool) {}, ""},
		"one cell":    {func(p *Pool) { p.F32[1] += 100 }, ""},
		"another unit": {func(p *Pool) {
			for i := 2; i < len(p.F32); i += 3 {
				p.F32[i] = 10*p.F32[i] + 1000
			}
		}, "1 feature outside of what the sources have: heat (half are from -1.0"},
		"none": {func(p *Pool) {
			for i := 0; i < len(p.F32); i += 3 {
				p.F32[i], p.F32[i+1] = 0, 0.5
			}
		}, "2 features are the same in all rows, though not in the sources: ph, flow"},
		"a rare flag": {func(p *Pool) {
			for i := 0; i < len(p.F32); i += 3 {
				p.F32[i] = -1
			}
		}, ""},
		"no flag": {func(p *Pool) {
			for i := 1; i < len(p.F32); i += 3 {
				p.F32[i] = 7
			}
		}, "1 feature is the same in all rows, though not in the sources: flow"},
	}) {
		set := measured(rng)
		for _, p := range set.Pools[:2] { // flags: ph is -1 in all rows but the first, and flow is 7 in half of the rows
			for i := 0; i < len(p.F32) && name != "as they are"; i += 3 {
				if i > 0 && strings.Contains(name, "flag") {
					p.F32[i] = -1
				}
				if i%2 == 0 && strings.Contains(name, "flag") {
					p.F32[i+1] = 7
				}
			}
		}
		c.change(set.Pools[2])
		found := ""
		for _, o := range set.shifted() {
			found += o.Found
			must.Equal(t, o.Pool, "target", "%s", name)
		}
		must.Hold(t, (found == "") == (c.want == "") && strings.HasPrefix(found, c.want), "%s: %q, expected %q", name, found, c.want)
	}
}

// A column of which the target has no cell, so that each has the mean of the sources in its place, is said to be missing.
func TestShiftedBlank(t *testing.T) {
	set := measured(testrand.New(t))
	c, target := set.Columns, set.Pools[2]
	c.Filled, c.Means = make([]int64, 3), c.Centre
	c.Filled[1] = int64(target.Rows)
	for i := 0; i < len(target.F32); i += 3 {
		target.F32[i], target.F32[i+1] = 0.5, 0
	}
	var found []string
	for _, o := range set.shifted() {
		found = append(found, o.Found)
	}
	must.EqualSlices(t, found, []string{"1 feature is missing in all rows, though not in the sources: flow",
		"1 feature is the same in all rows, though not in the sources: ph"}, "flow is missing")
}
