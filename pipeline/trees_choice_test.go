package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Of sources whose labels have nothing to do with the target's, trees leave out the rows, more often than not: the labels of most sources
// are those of three other features.
func TestTreesChooseSources(t *testing.T) {
	const problems = 4
	cfg, rng, gain := treesConfig(t), testrand.New(t), 0.0
	cfg.TargetSamples, cfg.Schedule.Budget = 80, 2400
	defer func(was []int) { treeParts = was }(treeParts)
	parts := treeParts
	for range problems {
		set := asTable(shops(rng, 9, 400, 6, 1, false))
		together(t, set, 1)
		for i := range set.Tasks[:7] {
			if i < 2 {
				continue
			}
			pool := set.Pools[set.Tasks[i].Pool]
			for row := range pool.Rows {
				x := pool.F32[row*pool.Cols+3:]
				set.Tasks[i].Labels[row] = float32(math.Copysign(1, float64(x[0])*float64(x[1])*float64(x[2])))
			}
		}
		score := func(parts []int) float64 {
			treeParts = parts
			_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
			return st.Epochs[len(st.Epochs)-1].Score.Value
		}
		gain += math.Log(score([]int{1})/score(parts)) / problems
	}
	must.Hold(t, gain > math.Log(1.2), "with the rows of all sources the mean squared error is %g times as large", math.Exp(gain))
}

// mills returns ten mills and a target whose rows have a fault where an odd number of three columns are above a limit;
// one in ten labels is wrong. In four mills another column decides. The target has 60 samples, and 2,000 rows for tests.
func mills(rng *rand.Rand) *dataset.Set {
	const d = 6
	set := &dataset.Set{Name: "mills", Binary: true}
	for m := range 11 {
		n, like, last := 500, m < 6, m == 10
		if last {
			n, like = 2060, true
		}
		pool := &dataset.Pool{Name: fmt.Sprint("mill ", m), Rows: n, Cols: d, Scale: 1, F32: narrow(normals(rng, n*d)), Target: last}
		t := dataset.Task{Name: pool.Name, Pool: m, Output: dataset.Output{Name: "fault", Class: "yes"}, Labels: make([]float32, n)}
		for i := range n {
			x := pool.F32[i*d:]
			fault := x[3] > 0
			if like {
				fault = ((x[0] > 0) != (x[1] > 0.3)) != (x[2] > -0.3)
			}
			if fault != (rng.IntN(10) == 0) {
				t.Labels[i] = 1
			}
			if last && i >= 60 {
				t.Test = append(t.Test, int32(i))
			} else {
				t.Train = append(t.Train, int32(i))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, pool), append(set.Tasks, t)
	}
	return asTable(set)
}

// Of several problems that no linear model can tell anything about, trees learn most, and what they are averaged with no less.
func TestTreesOfMills(t *testing.T) {
	problems := must.Long(8, 3)
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = []string{Active, Uniform, Target, Constant, Pooled, Trees}, SourcesPools
	cfg.K, cfg.TargetSamples, cfg.Schedule = 6, 60, Schedule{Kind: ScheduleBudget, Epochs: 5, Floor: 5, Budget: 2500}
	sums, rng := map[string]float64{}, testrand.New(t)
	for range problems {
		set := mills(rng)
		_, st := runUnit(t, openDevice(t, 2, set), cfg, len(set.Tasks)-1)
		for _, e := range st.Epochs {
			if e.Losses != nil {
				sums[e.Method] += 100 * e.Score.Value / float64(problems)
			}
		}
	}
	line := ""
	for _, m := range cfg.Methods {
		line += fmt.Sprintf(" %s %.1f %%", m, sums[m])
	}
	t.Logf("error on held-out rows:%s", line)
	for _, m := range []string{Active, Uniform, Trees} {
		must.Hold(t, sums[m] < sums[Pooled]-15 && sums[m] < sums[Target]-15, "%s errs %.1f %%", m, sums[m])
	}
}
