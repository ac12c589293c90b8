package dataset

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Columns that the target alone has in another unit, or not at all, are named, and no others.
func TestShifted(t *testing.T) {
	rng := testrand.New(t)
	for name, c := range map[string]struct {
		change func(p *Pool)
		want   string
	}{
		"as they are": {func(*Pool) {}, ""},
		"one cell":    {func(p *Pool) { p.F32[1] += 100 }, ""},
		"another unit": {func(p *Pool) {
			for i := 2; i < len(p.F32); i += 3 {
				p.F32[i] = 10*p.F32[i] + 1000
			}
		}, "1 feature outside of all that sources have: heat (half are from -1.0"},
		"none": {func(p *Pool) {
			for i := 0; i < len(p.F32); i += 3 {
				p.F32[i], p.F32[i+1] = 0, 0.5
			}
		}, "2 features are the same in all rows, though not in the sources: ph, flow"},
	} {
		set := measured(rng)
		c.change(set.Pools[2])
		found := ""
		for _, o := range set.shifted() {
			found += o.Found
			must.Equal(t, o.Pool, "target", "%s", name)
		}
		must.Hold(t, (found == "") == (c.want == "") && strings.HasPrefix(found, c.want), "%s: %q, expected %q", name, found, c.want)
	}
}
