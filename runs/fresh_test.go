package runs

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// solveFresh carries out a run for the source "target" of a set. It returns the result, and the error of each method on the rows of the
// target's pool from row from on, none of which is a sample.
func solveFresh(t *testing.T, set *dataset.Set, from int) (Result, map[string]float64) {
	t.Helper()
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg, _ = cfg.Fit(set, []string{"target"})
	full := cfg.Complete(set)
	full.Methods = slices.DeleteFunc(slices.Clone(full.Methods), func(m string) bool { return m == pipeline.Kernel }) // which takes long
	cfg.Methods, cfg.Sources = full.Methods, full.Sources
	p := must.Get(pipeline.NewProblem(set, cfg, must.Get(full.FindTarget(set, "target"))(t)))(t)
	l := must.Get(pipeline.NewLearner(openDevice(t, 1, set), p))(t)
	defer l.Close()
	var fresh pipeline.Labelled
	for row := from; row < set.Pools[p.Target.Pool].Rows; row++ {
		fresh.Rows = append(fresh.Rows, int32(row))
		for _, task := range p.Target.Tasks {
			fresh.Y = append(fresh.Y, p.Set.Tasks[task].Labels[row])
		}
	}
	errs := map[string]float64{}
	st := must.Get(l.Solve(t.Context(), pipeline.State{}, nil, func(st pipeline.State) error {
		score, _, err := l.ScoreOn(fresh)
		errs[st.Epochs[len(st.Epochs)-1].Method] = score.Value
		return err
	}))(t)
	return summarise(p, set.Name, p.TargetSamples(), st.Epochs), errs
}
