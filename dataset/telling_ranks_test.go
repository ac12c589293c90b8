package dataset

import (
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A feature that rises or falls wherever a numeric label does is named, whatever the curve, as the price is where the label is its
// logarithm. One that nearly does is named by the check alone, and one that merely predicts the label is not.
func TestTellingOrder(t *testing.T) {
	rng := testrand.New(t)
	for name, c := range must.Ordered(map[string]struct {
		of         func(y, noise float64) float64
		run, check bool
	}{
		"exponential": {func(y, _ float64) float64 { return math.Exp(3 * y) }, true, true},
		"falls":       {func(y, _ float64) float64 { return -y * y * y }, true, true},
		"nearly":      {func(y, noise float64) float64 { return math.Exp(3 * (y + 0.05*noise)) }, false, true},
		"predicts":    {func(y, noise float64) float64 { return math.Exp(3 * (y + 0.5*noise)) }, false, false},
		"even":        {func(y, _ float64) float64 { return y * y }, false, false},
		"three steps": {func(y, _ float64) float64 { return math.Round(max(-1, min(1, y))) }, false, false},
	}) {
		set := measured(rng)
		for i, p := range set.Pools {
			for r := range p.Rows {
				y := rng.NormFloat64()
				set.Tasks[i].Labels[r] = float32(y)
				p.F32[r*p.Cols+1] = float32(c.of(y, rng.NormFloat64()))
			}
		}
		names := func(odd []Oddity) (is bool) {
			for _, o := range odd {
				is = is || strings.Contains(o.Found, "flow") && strings.Contains(o.Advice, "before they are labelled")
			}
			return is
		}
		must.Equal(t, names(set.Warnings().Oddities(true)), c.run, "%s: a run names it", name)
		must.Equal(t, names(set.Oddities()), c.check, "%s: the check names it", name)
	}
}
