package runs

import (
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// A result has the overlooked classes of the last round of the recommended method, or of the first one where none is recommended.
func TestOverlookedOfRecommended(t *testing.T) {
	for _, prior := range []string{pipeline.PriorResidual, pipeline.PriorIdentity} {
		set := smallSet(31, 6, 400, 6, false)
		dev, cfg := openDevice(t, 1, set), smallConfig()
		cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: prior, Rcond: -1}
		p := must.Get(pipeline.NewProblem(set, cfg, 1))(t)
		l := must.Get(pipeline.NewLearner(dev, p))(t)
		defer l.Close()
		epochs := must.Get(l.Solve(t.Context(), pipeline.State{}, quiet, func(pipeline.State) error { return nil }))(t).Epochs
		want := map[string]string{}
		for i := range epochs {
			want[epochs[i].Method] = fmt.Sprint(i)
			epochs[i].Overlooked = []pipeline.Overlooked{{Class: fmt.Sprint(i)}}
			if epochs[i].LeaveOneOut = 1; epochs[i].Method != epochs[0].Method {
				epochs[i].LeaveOneOut = 1e-9
			}
		}
		res := summarise(p, set.Name, p.TargetSamples(), epochs)
		of := epochs[0].Method
		if prior == pipeline.PriorResidual {
			must.Hold(t, res.Recommended != of, "recommended is %q", res.Recommended)
			of = res.Recommended
		}
		must.Equal(t, res.Overlooked[0].Class, want[of], "prior %s", prior)
	}
}
