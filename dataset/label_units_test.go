package dataset

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// stores returns a set with a source for each size, the last one the target. Labels are drawn by label(size).
func stores(rng *rand.Rand, sizes []float64, label func(size float64) float64) *Set {
	const rows = 40
	set := &Set{}
	for i, size := range sizes {
		p := &Pool{Name: string(rune('a' + i)), Rows: rows, Cols: 2, F32: make([]float32, 2*rows), Scale: 1, Target: i == len(sizes)-1}
		y := make([]float32, rows)
		for r := range y {
			p.F32[2*r], p.F32[2*r+1] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
			y[r] = float32(label(size))
		}
		set.Pools = append(set.Pools, p)
		set.Tasks = append(set.Tasks, Task{Name: p.Name, Pool: i, Output: Output{Name: "sales"}, Labels: y, Train: upTo[int32](rows)})
	}
	return set
}

// A source whose labels are in another unit is named once. Sources that differ in size are not named.
func TestLabelUnits(t *testing.T) {
	positive := func(rng *rand.Rand) func(float64) float64 {
		return func(size float64) float64 { return size * math.Exp(2+0.4*rng.NormFloat64()) }
	}
	signed := func(rng *rand.Rand) func(float64) float64 {
		return func(size float64) float64 { return size * (5 + 3*rng.NormFloat64()) }
	}
	for name, c := range must.Ordered(map[string]struct {
		sizes []float64
		label func(*rand.Rand) func(float64) float64
		want  string
	}{
		"cents":              {[]float64{1, 1, 100, 1, 2, 1}, positive, "c"},
		"thousands":          {[]float64{1, 1, 1, 1, 0.001, 1}, positive, "e"},
		"of both signs":      {[]float64{1, 1e4, 1, 1, 1}, signed, "b"},
		"the target":         {[]float64{1, 1, 1, 1, 100}, positive, "e"},
		"alike":              {[]float64{1, 2, 0.5, 3, 1}, positive, ""},
		"of all sizes":       {[]float64{1, 0.01, 100, 10, 0.1, 1000, 1}, positive, ""},
		"two":                {[]float64{1, 100}, positive, ""},
		"some of many sizes": {[]float64{1, 0.2, 3, 9, 10, 0.15, 0.6, 6, 1, 2.2}, positive, ""},
		"refunds": {[]float64{1, 0, 1, 1, 1}, func(rng *rand.Rand) func(float64) float64 {
			n := 0
			return func(size float64) float64 {
				if n++; n == 3 {
					return -1
				}
				return 1000 * math.Exp(0.01*rng.NormFloat64()+0.4*size*rng.NormFloat64())
			}
		}, ""},
		"logarithms": {[]float64{1, 1, 2, 1, 1, 1}, func(rng *rand.Rand) func(float64) float64 {
			return func(size float64) float64 {
				if y := 6 + 1.2*rng.NormFloat64(); size == 1 {
					return y
				} else {
					return math.Pow(10, 9-y)
				}
			}
		}, "c"},
		"part of a hundred": {[]float64{1, 2, 1, 1, 1, 1}, func(rng *rand.Rand) func(float64) float64 {
			return func(size float64) float64 {
				if y := 6.5 + rng.NormFloat64(); size == 1 {
					return y
				} else {
					return 100 / (1 + math.Pow(10, 6-y))
				}
			}
		}, "b"},
		"noisier":  {[]float64{1, 1, 1, 1, 1}, noisier, ""},
		"the same": {[]float64{1, 1, 1, 1, 1}, func(*rand.Rand) func(float64) float64 { return func(float64) float64 { return 3 } }, ""},
	}) {
		rng := testrand.New(t)
		set := stores(rng, c.sizes, c.label(rng))
		for what, odd := range map[string][]Oddity{"check": set.Oddities(), "run": set.Warnings().Oddities(true)} {
			var found []string
			for _, o := range odd {
				if strings.Contains(o.Found, "typical source") {
					found = append(found, o.Pool)
					must.Hold(t, strings.HasPrefix(o.Found, "nine of ten labels of sales are from "), "%s: %s", name, o.Found)
				}
				twice := o.Pool == c.want && strings.Contains(o.Found, "far from the others")
				must.Hold(t, !twice, "%s, %s: %+v", name, what, o)
			}
			must.Equal(t, strings.Join(found, " "), c.want, "%s, %s: %+v", name, what, odd)
		}
	}
}

// noisier returns a function that draws labels of one size for each source in turn. Those of the second source spread more.
func noisier(rng *rand.Rand) func(float64) float64 {
	n := 0
	return func(float64) float64 {
		n++
		if n > 40 && n <= 80 {
			return 1000 + 900*(rng.Float64()-0.5)
		}
		return 1000 + 30*(rng.Float64()-0.5)
	}
}
