package pipeline_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// open places eight tasks of a linear model on the CPU. The first seven are the
// sources of the last, and only one of them is relevant to it.
func open() *pipeline.Resident {
	blas64.Use(cpu.BLAS{}) // the products of the command, which are several times as fast as gonum's own
	set, err := dataset.SparseNu(10, 3, 7, 0.1, 2000, 1)
	check(err)
	device, err := cpu.Open(1)
	check(err)
	data, err := pipeline.NewResident(device, set)
	check(err)
	return data
}

func settings() pipeline.Config {
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	check(err)
	cfg.TargetSamples = 30
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 3, Floor: 10, Budget: 700}
	cfg.Relevance = pipeline.Relevance{Kind: pipeline.L1} // its penalty is filled in
	return cfg
}

// One target: the samples go to the source that is relevant, and the result is
// better than with the same number of samples from each source.
func Example() {
	data := open()
	defer data.Device.Close()
	defer data.Close()
	problem, err := pipeline.NewProblem(data.Set, settings(), 7)
	check(err)
	learner, err := pipeline.NewLearner(data, problem)
	check(err)
	defer learner.Close()

	st, err := learner.Solve(context.Background(), pipeline.State{}, nil, nil)
	check(err)
	for _, e := range st.Epochs {
		fmt.Printf("%-7s %d: %3d samples, %3d of source 7\n", e.Method, e.Epoch, e.Samples, e.Counts[6])
	}
	active, uniform := st.Epochs[2].Score, st.Epochs[3].Score
	fmt.Printf("%s is lower: %v\n", active.Metric, active.Value < uniform.Value)
	// Output:
	// active  1: 311 samples,  44 of source 7
	// active  2: 466 samples, 199 of source 7
	// active  3: 700 samples, 433 of source 7
	// uniform 1: 700 samples, 100 of source 7
	// target  1:   0 samples,   0 of source 7
	// constant 1:   0 samples,   0 of source 7
	// excess_risk is lower: true
}

// The two halves of a round, with labels from elsewhere in between: what
// Propose asks for is labelled, here by a function, and Learn learns from it.
func ExampleProblem_Propose() {
	data := open()
	defer data.Device.Close()
	defer data.Close()
	problem, err := pipeline.NewProblem(data.Set, settings(), 7)
	check(err)
	learner, err := pipeline.NewLearner(data, problem)
	check(err)
	defer learner.Close()

	// annotate labels rows of a source, which has one output here.
	annotate := func(source pipeline.Source, rows []int32) pipeline.Labelled {
		l := pipeline.Labelled{Rows: rows}
		for _, row := range rows {
			l.Y = append(l.Y, data.Set.Tasks[source.Tasks[0]].Labels[row]) // ask someone
		}
		return l
	}
	var st pipeline.State
	for range 3 {
		ask, err := problem.Propose(st)
		check(err)
		round := pipeline.Round{Method: ask.Method, Epoch: ask.Epoch, Target: annotate(problem.Target, ask.Target)}
		drawn := 0
		for m, rows := range ask.Sources {
			round.Sources = append(round.Sources, annotate(problem.Sources[m], rows))
			drawn += len(rows) - ask.Before[m]
		}
		st, err = learner.Learn(context.Background(), st, round)
		check(err)
		fmt.Printf("%d new labels\n", drawn)
	}
	// Output:
	// 311 new labels
	// 155 new labels
	// 234 new labels
}

// A program may replace the built-in allocation: Learn takes any rows, here all new rows of a round from the source that is
// the most relevant so far, and a relevance written into the record of a round decides what Propose draws in the next.
func ExampleLearner_Learn() {
	data := open()
	defer data.Device.Close()
	defer data.Close()
	cfg := settings()
	cfg.Methods = []string{pipeline.Active}
	problem, err := pipeline.NewProblem(data.Set, cfg, 7)
	check(err)

	try := func(name string, propose func(st pipeline.State) pipeline.Proposal) {
		learner, err := pipeline.NewLearner(data, problem)
		check(err)
		defer learner.Close()
		var st pipeline.State
		for range problem.Rounds() {
			st, err = learner.Learn(context.Background(), st, problem.LookUp(propose(st)))
			check(err)
		}
		last := st.Epochs[len(st.Epochs)-1]
		fmt.Printf("%-8s %d samples, %d of source 7\n", name, last.Samples, last.Counts[6])
	}
	try("built in", func(st pipeline.State) pipeline.Proposal {
		ask, err := problem.Propose(st)
		check(err)
		return ask
	})
	try("careful", func(st pipeline.State) pipeline.Proposal {
		if n := len(st.Epochs); n > 0 {
			nu := slices.Clone(st.Epochs[n-1].Nu)
			for m := range nu {
				nu[m] = math.Abs(nu[m]) + 1
			}
			st.Epochs = slices.Clone(st.Epochs) // the learner's own stay as they are
			st.Epochs[n-1].Nu = nu
		}
		ask, err := problem.Propose(st)
		check(err)
		return ask
	})
	order, target, test := problem.Order()
	counts := []int{40, 40, 40, 40, 40, 40, 40}
	try("greedy", func(st pipeline.State) pipeline.Proposal {
		if n := len(st.Epochs); n > 0 {
			best, nu := 0, st.Epochs[n-1].Nu
			for m := range nu {
				if math.Abs(nu[m]) > math.Abs(nu[best]) {
					best = m
				}
			}
			counts[best] += 210
		}
		ask := pipeline.Proposal{Method: pipeline.Active, Epoch: len(st.Epochs) + 1, Target: target[:cfg.TargetSamples], Test: test}
		for m, n := range counts {
			ask.Sources = append(ask.Sources, order[m][:n])
		}
		return ask
	})
	// Output:
	// built in 700 samples, 433 of source 7
	// careful  700 samples, 236 of source 7
	// greedy   700 samples, 460 of source 7
}
