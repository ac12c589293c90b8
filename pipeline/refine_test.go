package pipeline

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// machines returns pools with two columns of numbers that are linear in the features, one of them far from 0, with some labels missing.
// noise is the standard deviation of their noise, beside a spread of about 1.
func machines(t *testing.T, noise float64) *dataset.Set {
	rng, set := testrand.New(t), &dataset.Set{Name: "machines"}
	const rows, d = 150, 5
	for p := range 6 {
		pool := &dataset.Pool{Name: fmt.Sprint("machine", p), Rows: rows, Cols: d, Scale: 1, F32: narrow(normals(rng, rows*d))}
		set.Pools = append(set.Pools, pool)
		for c, name := range []string{"wear", "heat"} {
			task := dataset.Task{Name: pool.Name + name, Pool: p, Output: dataset.Output{Name: name}, Labels: make([]float32, rows)}
			for i := range rows {
				y := noise * rng.NormFloat64()
				for j, x := range pool.F32[i*d : (i+1)*d] {
					y += float64(x) * float64((j+p)%3)
				}
				if rng.IntN(3) > 0 {
					task.Labels[i], task.Train = float32(y+100*float64(1-c)), append(task.Train, int32(i))
				}
			}
			set.Tasks = append(set.Tasks, task)
		}
	}
	return set
}

// Columns of labels that are far from each other and have hardly any noise are predicted up to that noise, though the constant that the
// sources' heads have in common is so much larger that rounding could be all that is left of the rest.
func TestFarNumbers(t *testing.T) {
	for _, noise := range []float64{0, 1e-4, 1e-2} {
		set := machines(t, noise)
		for _, relevance := range []string{Ridge, Transfer} {
			cfg := defaultConfig(t)
			cfg.Sources, cfg.Relevance.Kind, cfg.TargetSamples, cfg.Schedule.Budget = SourcesPools, relevance, 80, 300
			cfg.Methods = []string{Active, Uniform, Target}
			l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
			st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
			l.Close()
			for _, e := range st.Epochs {
				most := 4*noise*noise + 1e-6 // of labels that float32 holds to 1e-5
				must.Hold(t, e.Score.Value < most, "noise %g: the mean squared error of %s, round %d, is %g, expected at most %g", noise, e.Method,
					e.Epoch, e.Score.Value, most)
			}
		}
	}
}

// A change of the units of one of several columns of numbers changes no error of any method, and no draw.
func TestColumnsHaveUnitsOfTheirOwn(t *testing.T) {
	const by = 1 << 10 // a power of two, which rounds no label
	set := machines(t, 1)
	solve := func() []Epoch {
		cfg := defaultConfig(t)
		cfg.Sources, cfg.TargetSamples, cfg.Schedule.Budget = SourcesPools, 40, 300
		cfg.Methods = []string{Active, Uniform, Target, Constant, Pooled}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		return must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t).Epochs
	}
	was := solve()
	for i := range set.Tasks {
		if task := &set.Tasks[i]; task.Output.Name == "heat" {
			for r := range task.Labels {
				task.Labels[r] *= by
			}
		}
	}
	for i, e := range solve() {
		must.EqualSlices(t, e.Counts, was[i].Counts, "%s: what is drawn in round %d", e.Method, e.Epoch)
		must.Equal(t, e.Score.Metric, MetricRelative, "metric")
		for _, of := range [][2]float64{{e.LeaveOneOut, was[i].LeaveOneOut}, {e.Score.Value, was[i].Score.Value}} {
			must.Hold(t, math.Abs(of[0]/of[1]-1) < 1e-3, "%s, round %d: %g, in other units %g", e.Method, e.Epoch, of[1], of[0])
		}
	}
}
