package pipeline

import (
	"context"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// A class without a sample is overlooked where the target's samples of another class lie where that class lies in the sources, and not
// where they lie as in the sources. Its numbers are those of a [Predictor] on the drawn rows.
func TestOverlooked(t *testing.T) {
	rng := testrand.New(t)
	const classes = 4
	for i := range 8 {
		set := shops(rng, 6, 400, 6, classes, true)
		order, moved := rng.Perm(classes), i%2 == 0
		class, other := order[0], order[1]
		if a, b := &set.Tasks[class], &set.Tasks[other]; moved {
			a.Labels, b.Labels = b.Labels, a.Labels
		}
		name := set.Tasks[class].Output.Class
		hide(set, classes, class)
		cfg := defaultConfig(t)
		cfg.Methods, cfg.TargetSamples, cfg.Schedule.Budget = []string{Uniform}, 100, 500
		dev := openDevice(t, 1, set)
		l := must.Get(newLearner(dev, cfg, 0))(t)
		defer l.Close()
		prop := must.Get(l.problem.Propose(State{}))(t)
		in := l.problem.LookUp(prop)
		st := must.Get(l.Learn(context.Background(), State{}, in))(t)
		found := st.Epochs[0].Overlooked
		if !moved {
			must.Equal(t, len(found), 0, "overlooked classes where the target is like the sources")
			continue
		}
		p := must.Get(NewPredictor(pipelinetest.NewQueue(t, dev.Device), l.Tensors(st), 0, 0))(t)
		defer p.Close()
		places := byColumn(l.problem.Set, l.problem.Target)
		want, right, others := Overlooked{Column: "column", Class: name}, 0, 0
		for m, s := range l.problem.Sources {
			for k, row := range in.Sources[m].Rows {
				x, y := narrow(features(set, s.Pool, int(row))), make([]float32, classes)
				must.Do(t, p.Predict(&dataset.Pool{Rows: 1, Cols: len(x), F32: x, Scale: 1}, y))
				says := l.problem.Set.Tasks[places[slices.Index(y, slices.Max(y))]].Output.Class
				if in.Sources[m].Y[k*classes+class] == 1 {
					want.Rows++
					want.Found += b2i(says == name)
					continue
				}
				truth := slices.Index(in.Sources[m].Y[k*classes:][:classes], 1)
				others++
				right += b2i(set.Tasks[s.Tasks[truth]].Output.Class == says)
			}
		}
		want.Sources = want.Rows
		must.Equal(t, len(found), 1, "overlooked classes")
		part := float64(right) / float64(others)
		must.Hold(t, near(found[0].Others, part, 0.2), "others %g, expected about %g", found[0].Others, part)
		want.Others = found[0].Others
		must.Equal(t, found[0], want, "what is overlooked")
	}
}
