package regress

import (
	"math"
	"testing"
)

// ShiftTo adds to each prediction the mean residual of the other samples, shrunk by the prior, and returns the shift by all samples.
func TestShiftTo(t *testing.T) {
	y, nan := []float64{1, 2, 6, 0}, math.NaN()
	for rho, want := range map[float64][]float64{0: {0, 0, 0, 0, 0}, MaxRho: {4, 3.5, 1.5, 3, 3}, 0.5: {2, 1.75, 0.75, 1.8, 1.8}} {
		f := make([]float64, 4)
		by := ShiftTo(f, []float64{y[0], y[1], y[2], nan}, rho, Groups{})
		closeVectors(t, "predictions and shift", append(f, by), want, 1e-4, 0.01)
	}
}
