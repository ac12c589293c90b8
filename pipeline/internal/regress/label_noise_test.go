package regress

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A noise rate above 0 is found only where it makes the labels e times as likely. A label of probability next to 0 makes it so, and then
// costs no more than -log(rate/c), apart from what the rate costs the other labels.
func TestNoiseRate(t *testing.T) {
	rng := testrand.New(t)
	const n, c = 50, 4
	losses := make([]float64, n)
	for range 100 {
		p := make([]float64, n)
		for i := range p { // labels drawn with the probabilities that the losses state
			p[i] = 0.5 + 0.5*rng.Float64()
			if losses[i] = -math.Log(p[i]); rng.Float64() > p[i] {
				losses[i] = -math.Log((1 - p[i]) / (c - 1))
			}
		}
		at := func(rate float64) [][]float64 {
			out := make([]float64, n)
			for i, v := range losses {
				out[i] = Noisy(v, rate, c)
			}
			return [][]float64{out}
		}
		rate, least := NoiseRate(at, 1)
		plain := floats.Sum(losses)
		must.Hold(t, least <= plain && (rate > 0) == (least < plain), "rate %g, loss %g, and %g without", rate, least, plain)
		losses[rng.IntN(n)] = 1e9
		rate, least = NoiseRate(at, 1)
		most := plain + 1 - math.Log(NoiseRates[1]/c) + 2*n*NoiseRates[1]
		must.Hold(t, rate > 0 && least < most, "rate %g, loss %g, and %g before", rate, least, plain)
	}
}
