package ranks

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The rank of a value is the number of smaller ones and half of the others that equal it.
func TestOf(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		values := make([]float64, rng.IntN(30))
		for i := range values {
			values[i] = float64(rng.IntN(12)) - 5
		}
		got := Of(values)
		for i, v := range values {
			want := -0.5
			for _, w := range values {
				if w < v {
					want++
				} else if w == v {
					want += 0.5
				}
			}
			must.Hold(t, got[i] == want, "rank %g of %g in %g, expected %g", got[i], v, values, want)
		}
	}
	must.Hold(t, math.IsNaN(Correlation(Of([]float64{1, 1}), Of([]float64{1, 2}))), "equal values have no correlation")
}
