package table

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Knots lie between the least and the largest value, ascend, and have the right number of values on each side. Values with the sign changed
// have the same knots with the sign changed, and few values have few knots.
func TestKnotsOf(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		n, most := 1+rng.IntN([]int{8, 50}[rng.IntN(2)]), 1+rng.IntN([]int{8, 400}[rng.IntN(2)])
		values := make([]float64, 1+rng.IntN(300))
		for i := range values {
			values[i] = float64(rng.IntN(most)) - 0.25*float64(most)
		}
		reversed := make([]float64, len(values))
		for i, v := range values {
			reversed[i] = -v
		}
		knots, other := KnotsOf(values, n), KnotsOf(reversed, n)
		must.Hold(t, slices.IsSortedFunc(knots, func(a, b float64) int {
			if a < b {
				return -1
			}
			return 1
		}), "knots %v", knots)
		must.Equal(t, len(other), len(knots), "knots the other way round")
		for i, k := range knots {
			must.Equal(t, other[len(knots)-1-i], -k, "a knot the other way round")
			must.Hold(t, k > values[0] && k < values[len(values)-1], "a knot at %g of values from %g to %g", k, values[0], values[len(values)-1])
		}
		inner := values // KnotsOf has sorted them
		for len(inner) > 1 && inner[1] == inner[0] {
			inner = inner[1:]
		}
		for len(inner) > 1 && inner[len(inner)-2] == inner[len(inner)-1] {
			inner = inner[:len(inner)-1]
		}
		if len(knots) < n || n > len(inner)/2 {
			continue
		}
		for i, k := range knots {
			below, above := 0, 0
			for _, v := range inner {
				below, above = below+b2i(v < k), above+b2i(v > k)
			}
			share := float64(i+1) / float64(n+1)
			must.Hold(t, float64(below) <= share*float64(len(inner))+1 && float64(above) <= (1-share)*float64(len(inner))+1,
				"%d values are below knot %d of %d at %g and %d above, of %d", below, i, n, k, above, len(inner))
		}
	}
	must.EqualSlices(t, KnotsOf([]float64{1, 0, 1, 0, 0}, 5), []float64{}, "knots of 0 and 1")
	must.EqualSlices(t, KnotsOf([]float64{0, 1, 2, 3}, 7), []float64{1, 1.5, 2}, "more knots than values")
	must.EqualSlices(t, KnotsOf(nil, 5), []float64{}, "knots of nothing")
	must.EqualSlices(t, KnotsOf(append(make([]float64, 1000), 1, 2, 3, 4, 5), 5), []float64{1, 2, 2.5, 3, 4}, "knots of rare counts")
	must.EqualSlices(t, KnotsOf([]float64{3, 1, 2}, 5), []float64{2}, "knots of three")
	must.EqualSlices(t, KnotsOf([]float64{0, 0, 1, 1, 1, 2, 5, 9}, 3), []float64{1, 2}, "knots of many that are the same")
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
