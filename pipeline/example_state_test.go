package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// machines stands for a database: each call returns more labelled rows of a machine. Machine 0, the target, and machine 1 are alike.
func machines(rng *rand.Rand, machine, rows int) (features, wear []float32) {
	weight := [][]float64{{1, 2, 0}, {1, 2, 0.2}, {2, -1, 0}, {0, 0, 1}}[machine]
	for range rows {
		sum := 0.1 * rng.NormFloat64()
		for _, w := range weight {
			x := rng.NormFloat64()
			features, sum = append(features, float32(x)), sum+w*x
		}
		wear = append(wear, float32(sum))
	}
	return features, wear
}

// Rows are fetched as they are asked for: each round learns from a set of the rows so far, and tells how many more rows of each source the
// next round wants. It hands on its state as JSON, so that each round may run in a process of its own.
func ExampleState() {
	blas64.Use(cpu.BLAS{}) // the products of the command, which are several times as fast as gonum's own
	rng, ctx := rand.New(rand.NewPCG(1, 2)), context.Background()
	device, err := cpu.Open(1)
	check(err)
	defer device.Close()
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	check(err)
	cfg.K, cfg.TargetSamples, cfg.Methods, cfg.Scaling = 2, 15, []string{pipeline.Active}, pipeline.ScalingGlobal
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 3, Budget: 300} // Allocate below has budgets of its own

	var features, wear [4][]float32
	more, stored := []int{15, 20, 20, 20}, []byte("{}")
	for round := 1; round <= 3; round++ {
		set := &dataset.Set{Name: "machines"}
		for m, n := range more {
			x, y := machines(rng, m, n)
			features[m], wear[m] = append(features[m], x...), append(wear[m], y...)
			pool := &dataset.Pool{Name: fmt.Sprint("machine ", m), Rows: len(wear[m]), Cols: 3, Scale: 1, F32: features[m], Target: m == 0}
			check(set.AddNumbers(pool, "wear", wear[m], nil))
		}
		check(set.Validate())
		data, err := pipeline.NewResident(device, set)
		check(err)
		cfg = cfg.Complete(set)
		target, err := cfg.FindTarget(set, "machine 0")
		check(err)
		problem, err := pipeline.NewProblem(set, cfg, target)
		check(err)
		learner, err := pipeline.NewLearner(data, problem)
		check(err)

		in := pipeline.Round{Method: pipeline.Active, Epoch: round, Target: problem.TargetSamples()}
		for _, s := range problem.Sources { // all rows so far
			task := set.Tasks[s.Tasks[0]]
			in.Sources = append(in.Sources, pipeline.Labelled{Rows: task.Train, Y: task.Labels})
		}
		var st pipeline.State
		check(json.Unmarshal(stored, &st))
		st, err = learner.Learn(ctx, st, in)
		check(err)
		stored, err = json.Marshal(st)
		check(err)
		learner.Close()
		data.Close()

		last, have, many := &st.Epochs[round-1], st.Epochs[round-1].Counts, []int{1e6, 1e6, 1e6}
		for m, n := range problem.Allocate(last, last.Cost+60, 0, have, many) {
			more[1+m] = n - have[m]
		}
		more[0] = 0
		fmt.Println("round", round, "learned from", have)
	}
	// Output:
	// round 1 learned from [20 20 20]
	// round 2 learned from [76 20 24]
	// round 3 learned from [136 20 24]
}
