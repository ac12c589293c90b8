package pipeline

import (
	"context"
	"encoding/json"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Outputs of the same column and class are weighted by their numbers of labels, whatever the order
// of a source's outputs. There are no weights without labels, or where outputs have no name.
func TestSameOutputs(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 4, 60, 4, 3, true)
	for i := range set.Tasks { // each pool has its classes in an order of its own
		pool := set.Tasks[i].Pool
		set.Tasks[i].Output.Class = string(rune('a' + (i+pool)%3))
	}
	cfg := smallConfig()
	cfg.Sources, cfg.TargetSamples = SourcesPools, 20
	p := must.Get(NewProblem(set, cfg, 0))(t)
	labels := make([]int, p.outputs())
	for i := range labels {
		labels[i] = rng.IntN(5)
	}
	weights := p.sameOutputs(labels)
	for c, own := range p.Target.Tasks {
		var same []float64
		at := 0
		for _, s := range p.Sources {
			for _, task := range s.Tasks {
				if set.Tasks[task].Output.Class == set.Tasks[own].Output.Class && labels[at] > 0 {
					same = append(same, float64(labels[at]))
				}
				at++
			}
		}
		weight := func(n float64) float64 { return n / (n + stat.Mean(same, nil)) }
		total := 0.0
		for _, n := range same {
			total += weight(n)
		}
		at = 0
		for _, s := range p.Sources {
			for _, task := range s.Tasks {
				want := 0.0
				if set.Tasks[task].Output.Class == set.Tasks[own].Output.Class && total > 0 {
					want = weight(float64(labels[at])) / total
				}
				if !near(weights.At(at, c), want, 1e-12) {
					t.Errorf("output %d of the sources, %d of the target: weight %g, expected %g", at, c, weights.At(at, c), want)
				}
				at++
			}
		}
	}
	if p.sameOutputs(make([]int, len(labels))) != nil {
		t.Error("weights without a label")
	}
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{}
	}
	if p.sameOutputs(labels) != nil {
		t.Error("weights for outputs without a name")
	}
}

// Where classes of the sources have the names of the target's, the target's heads are drawn towards
// the mean of their heads, and err no more for it. Where no class has such a name, they are not.
func TestClassesInCommon(t *testing.T) {
	rng := testrand.New(t)
	named := shops(rng, 12, 300, 30, 4, true)
	apart := *named
	apart.Tasks = append([]dataset.Task{}, named.Tasks...)
	for i := range apart.Tasks {
		apart.Tasks[i].Output.Class += apart.Pools[apart.Tasks[i].Pool].Name
	}
	cfg := smallConfig()
	cfg.Sources, cfg.TargetSamples, cfg.Intercept = SourcesPools, 12, true
	cfg.Head = Head{Ridge: RidgeAuto, Prior: PriorResidual, Rcond: -1}
	errs, leans := map[*dataset.Set]float64{}, 0
	for _, set := range []*dataset.Set{named, &apart} {
		for target := range named.Pools {
			_, st := runUnit(t, openDevice(t, 1, set), cfg, target)
			last := st.Epochs[2]
			if last.HeadToMean > 0 {
				leans++
			}
			if set != named && last.HeadToMean != 0 {
				t.Errorf("target %d: the factor of the mean is %g, expected none", target, last.HeadToMean)
			}
			errs[set] += last.Score.Value / float64(len(named.Pools))
		}
	}
	if leans == 0 || errs[named] > errs[&apart]+0.03 {
		t.Errorf("%d lean on the mean, and the error is %g, with names that say nothing %g", leans, errs[named], errs[&apart])
	}
}

// Rounds of few samples, whose penalty leaves nothing of the sources' heads, record finite numbers.
func TestHeadsOfFewSamples(t *testing.T) {
	rng := testrand.New(t)
	set := &dataset.Set{Name: "line"}
	for p, rows := range []int{10, 30} {
		pool := &dataset.Pool{Name: []string{"s", "t"}[p], Rows: rows, Cols: 1, Scale: 1, F32: narrow(normals(rng, rows))}
		task := dataset.Task{Name: pool.Name, Pool: p, Output: dataset.Output{Name: "y"}}
		for i, v := range pool.F32 {
			task.Labels = append(task.Labels, float32(5+2*float64(v)+0.2*rng.NormFloat64()))
			if p == 0 || i < 11 {
				task.Train = append(task.Train, int32(i))
			} else {
				task.Test = append(task.Test, int32(i))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, pool), append(set.Tasks, task)
	}
	dev := openDevice(t, 1, set)
	for seed := range uint64(must.Long(60, 30)) {
		cfg := defaultConfig(t)
		cfg.K, cfg.TargetSamples, cfg.Seed, cfg.Sources = 1, 11, seed, []string{SourcesPools, SourcesTasks}[seed%2]
		cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 4, Budget: 4}
		l := must.Get(newLearner(dev, cfg, 1))(t)
		st, err := l.Solve(context.Background(), State{}, quiet, unsaved)
		must.Hold(t, err == nil, "seed %d: %v", seed, err)
		for _, e := range st.Epochs {
			_, err := json.Marshal(e)
			must.Hold(t, err == nil, "seed %d, round %d: %v", seed, e.Epoch, err)
		}
		l.Close()
	}
}
