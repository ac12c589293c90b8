package pipeline

import (
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The index that FindTarget returns, of settings that are complete or not, is that of NewProblem, which refuses sources alone.
func TestFindTargetOfPools(t *testing.T) {
	set := &dataset.Set{Name: "n"}
	rng := testrand.New(t)
	for p := range 4 {
		words := make([]string, 40)
		for i := range words {
			words[i] = []string{"no", "yes"}[rng.IntN(2)]
		}
		pool := &dataset.Pool{Name: fmt.Sprint("p", p), Rows: 40, Cols: 3, Scale: 1, F32: narrow(normals(rng, 120)), Target: p > 1}
		must.Do(t, set.AddClasses(pool, "y", words, nil))
	}
	open := must.Get(NewConfig(PresetDefault))(t)
	open.TargetSamples, open.Schedule = 20, Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 2, Budget: 30}
	fitted, _ := open.Fit(set, []string{"p2"})
	for _, cfg := range []Config{open, fitted, open.Complete(set)} {
		for _, name := range []string{"p2", "p3"} {
			at := must.Get(cfg.FindTarget(set, name))(t)
			must.Equal(t, must.Get(NewProblem(set, cfg, at))(t).TargetName(), name, "the target")
		}
		must.Fail(t, "a task", must.Err(cfg.FindTarget(set, "p2_y_yes")), `no target "p2_y_yes"`)
		must.Fail(t, "a source", must.Err(cfg.FindTarget(set, "p1")), "p1 is a source alone")
		must.Fail(t, "a source", must.Err(NewProblem(set, cfg, 1)), "p1 is a source alone")
	}
}
