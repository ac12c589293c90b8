package runs_test

import (
	"context"
	"fmt"
	"math"
	"os"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Rounds of a program's own, with labels from elsewhere and an allocation of its own (here 200 rows a round in proportion to |nu|), end in
// a model that amtrl predict accepts like that of a run.
func ExampleWriteModel() {
	blas64.Use(cpu.BLAS{}) // the products of the command, which are several times as fast as gonum's own
	ctx, set := context.Background(), shops()
	check(set.Validate())
	device, err := cpu.Open(0)
	check(err)
	defer device.Close()
	data, err := pipeline.NewResident(device, set)
	check(err)
	defer data.Close()
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	check(err)
	cfg, _ = cfg.Fit(set, []string{"new"})
	cfg.Methods, cfg.Schedule.Epochs = []string{pipeline.Active}, 3
	cfg = cfg.Complete(set)
	target, err := cfg.FindTarget(set, "new")
	check(err)
	problem, err := pipeline.NewProblem(set, cfg, target)
	check(err)
	learner, err := pipeline.NewLearner(data, problem)
	check(err)
	defer learner.Close()

	// annotate adds rows with their labels, one for each output of a row: 1 for the class of the row, 0 for the others.
	annotate := func(l *pipeline.Labelled, source pipeline.Source, rows []int32) {
		for _, row := range rows {
			l.Rows = append(l.Rows, row)
			for _, t := range source.Tasks {
				l.Y = append(l.Y, set.Tasks[t].Labels[row]) // ask someone
			}
		}
	}
	order, samples, _ := problem.Order()
	round := pipeline.Round{Method: pipeline.Active, Sources: make([]pipeline.Labelled, len(problem.Sources))}
	annotate(&round.Target, problem.Target, samples)
	var st pipeline.State
	nu := []float64{1, 1, 1, 1}
	for range problem.Rounds() {
		sum := 0.0
		for _, v := range nu {
			sum += math.Abs(v)
		}
		round.Epoch++
		for m, source := range problem.Sources {
			have := len(round.Sources[m].Rows)
			end := min(have+int(200*math.Abs(nu[m])/sum), len(order[m]))
			annotate(&round.Sources[m], source, order[m][have:end])
		}
		st, err = learner.Learn(ctx, st, round)
		check(err)
		nu = st.Epochs[len(st.Epochs)-1].Nu
	}

	dir, err := os.MkdirTemp("", "model")
	check(err)
	defer os.RemoveAll(dir)
	check(runs.WriteModel(dir, "my program 1", learner, st))

	// From here on it may be another process.
	queue, err := device.NewQueue()
	check(err)
	defer queue.Close()
	model, columns, err := runs.OpenPredictor(queue, dir)
	check(err)
	defer model.Close()
	rows := &dataset.Pool{Rows: 2, Cols: width, Scale: 1, F32: []float32{2.1, 0.1, 0.2, -0.3, 0.5, 0, 0, 0.1, 2.2, -0.3, 0.5, 0}}
	labels, err := runs.PredictLabels(model, columns, rows)
	check(err)
	for i, k := range labels[0].Class {
		fmt.Printf("row %d is %s; more than 0.8 sure: %v\n", i, columns[0].Classes[k], labels[0].Scores[k][i] > 0.8)
	}
	// Output:
	// row 0 is bad; more than 0.8 sure: true
	// row 1 is good; more than 0.8 sure: true
}
