package regress

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// The loss of a row whose class is among several known labels is -log of the score of the class among these. Otherwise the losses of the
// known labels add up. A rate of wrong labels mixes each probability with that of a random label.
func TestLogOfLabels(t *testing.T) {
	nan := math.NaN()
	sigmoids := []float64{0.5, 0.25, 0.75}
	var heads []float64
	for _, v := range sigmoids {
		heads = append(heads, math.Log(v/(1-v)))
	}
	for _, of := range []struct {
		y          []float64
		rate, want float64
	}{
		{[]float64{0, 0, 1}, 0, 0.75 / 1.5},
		{[]float64{0, 0, 1}, 0.3, 0.7*0.5 + 0.1},
		{[]float64{nan, 0, 1}, 0, 0.75},
		{[]float64{nan, nan, 1}, 0, 0.75},
		{[]float64{0, 0, 0}, 0, 0.5 * 0.75 * 0.25},
		{[]float64{0, nan, nan}, 0.2, 0.8*0.5 + 0.1},
		{[]float64{nan, nan, nan}, 0.2, 1},
	} {
		got := LogOfLabels(of.y, heads, of.rate)
		must.Hold(t, math.Abs(got+math.Log(of.want)) < 1e-12, "labels %v: %g, expected %g", of.y, got, -math.Log(of.want))
	}
}
