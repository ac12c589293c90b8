package pipeline

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"

	"github.com/amtrl/amtrl/internal/testrand"
)

func TestConvSplit(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		c := Conv{Validation: []float64{0, 0.05, 0.1, 0.3, 0.5}[rng.IntN(5)]}
		counts := make([]int, 1+rng.IntN(20))
		more := make([]int, len(counts))
		for m := range counts {
			counts[m] = rng.IntN(200)
			more[m] = counts[m] + rng.IntN(50)
		}
		// parts returns for each source which of its samples, in order, are trained on.
		parts := func(counts []int) [][]bool {
			train, aside := c.split(counts)
			n := 0
			for _, k := range counts {
				n += k
			}
			all := slices.Sorted(slices.Values(slices.Concat(train, aside)))
			for i, v := range all {
				if v != int32(i) || len(all) != n {
					t.Fatalf("%v samples split into %v and %v", counts, train, aside)
				}
			}
			if share := float64(len(aside)) / float64(max(1, n)); n > 500 && math.Abs(share-c.Validation) > 0.25*c.Validation {
				t.Errorf("%g of %v samples are set aside, want %g", share, counts, c.Validation)
			}
			var out [][]bool
			at := int32(0)
			for _, k := range counts {
				var part []bool
				for range k {
					part = append(part, slices.Contains(train, at))
					at++
				}
				out = append(out, part)
			}
			return out
		}
		before, after := parts(counts), parts(more)
		for m := range counts {
			if !slices.Equal(after[m][:counts[m]], before[m]) {
				t.Fatalf("source %d: drawing more moved samples between the parts", m)
			}
		}
	}
}

func TestOneCycle(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 100, 1001} {
		top, last := 0.0, 0.0
		for s := range n {
			v := oneCycle(2, s, n)
			if !(v > 0 && v <= 2) {
				t.Fatalf("step %d of %d: %g", s, n, v)
			}
			if rising := float64(s) <= 0.3*float64(n)-1; s > 0 && (v > last) != rising {
				t.Errorf("step %d of %d: %g after %g", s, n, v, last)
			}
			top, last = max(top, v), v
		}
		if n >= 10 && (!near(oneCycle(2, 0, n), 0.08, 1e-12) || !near(last/8e-6, 1, 1e-9) || top < 1.9) {
			t.Errorf("%d steps: from %g over %g to %g", n, oneCycle(2, 0, n), top, last)
		}
	}
}

// PassesAuto sees samples leastSeen times or more, in no fewer than 8 and no more than 80 passes.
func TestPassesAuto(t *testing.T) {
	for _, c := range []struct{ set, samples, want int }{
		{PassesAuto, 40_000, 8}, {PassesAuto, 5000, 8}, {PassesAuto, 4999, 9}, {PassesAuto, 1000, 40}, {PassesAuto, 10, 80},
		{3, 10, 3}, {3, 40_000, 3}, {100, 1000, 100},
	} {
		must.Equal(t, (&Conv{Passes: c.set}).passes(c.samples), c.want, "passes of %d over %d samples", c.set, c.samples)
	}
}
