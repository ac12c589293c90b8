package pipeline

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A few wrong labels of the target do not take from it what the sources know.
func TestWrongLabels(t *testing.T) {
	rng := testrand.New(t)
	const classes, sets, samples, wrong = 4, 10, 40, 5
	errs := map[string][2]float64{}
	for range sets {
		set := shops(rng, 6, 400, 6, classes, true)
		for noise := range 2 {
			if noise == 1 {
				for range wrong * len(set.Tasks[0].Train) / samples {
					i := set.Tasks[0].Train[rng.IntN(len(set.Tasks[0].Train))]
					class := rng.IntN(classes)
					for c := range classes {
						set.Tasks[c].Labels[i] = float32(b2i(c == class))
					}
				}
			}
			cfg := defaultConfig(t)
			cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = samples, 900, []string{Uniform, Pooled}
			l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
			defer l.Close()
			st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
			for _, e := range st.Epochs {
				of := errs[e.Method]
				of[noise] += e.Score.Value / sets
				errs[e.Method] = of
			}
		}
	}
	for method, of := range errs {
		t.Logf("%s %v", method, of)
		must.Hold(t, of[1] < of[0]+0.025, "%s errs %.3f with %d of %d labels wrong, and %.3f with none", method, of[1], wrong, samples, of[0])
	}
}

// That labels are wrong takes that it makes them e times as likely, and noise makes one that is surely wrong no less likely than it says.
func TestNoiseRate(t *testing.T) {
	rng := testrand.New(t)
	const n, c = 50, 4
	losses := make([]float64, n)
	for range 100 {
		p := make([]float64, n)
		for i := range p { // labels as likely as they are said to be
			p[i] = 0.5 + 0.5*rng.Float64()
			if losses[i] = -math.Log(p[i]); rng.Float64() > p[i] {
				losses[i] = -math.Log((1 - p[i]) / (c - 1))
			}
		}
		at := func(rate float64) [][]float64 {
			out := make([]float64, n)
			for i, v := range losses {
				out[i] = noisy(v, rate, c)
			}
			return [][]float64{out}
		}
		rate, least := noiseRate(at, 1)
		plain := floats.Sum(losses)
		must.Hold(t, least <= plain && (rate > 0) == (least < plain), "rate %g, loss %g, and %g without", rate, least, plain)
		losses[rng.IntN(n)] = 1e9
		rate, least = noiseRate(at, 1)
		most := plain + 1 - math.Log(noiseRates[1]/c) + 2*n*noiseRates[1]
		must.Hold(t, rate > 0 && least < most, "rate %g, loss %g, and %g before", rate, least, plain)
	}
}
