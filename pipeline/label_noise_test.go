package pipeline

import (
	"context"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A few wrong labels among the target's samples hardly raise the error, since the predictions keep what the sources know.
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
