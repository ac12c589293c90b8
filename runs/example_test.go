package runs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A sweep over seeds in a folder. It is cancelled after the first seed, and goes on where it was when it is called again.
func ExampleSweep() {
	blas64.Use(cpu.BLAS{}) // the products of the command, which are several times as fast as gonum's own
	set, err := dataset.SparseNu(10, 3, 7, 0.1, 2000, 1)
	check(err)
	device, err := cpu.Open(1)
	check(err)
	defer device.Close()
	data, err := pipeline.NewResident(device, set)
	check(err)
	defer data.Close()

	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	check(err)
	cfg.TargetSamples = 30
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 3, Floor: 10, Budget: 700}
	id := runs.NewIdentity("v1", set, backend.Choice{Device: device, Reason: "asked for"}, cfg)
	id.Targets, id.Seeds = []string{id.Config.DefaultTarget(set)}, []uint64{0, 1, 2}

	dir, err := os.MkdirTemp("", "sweep")
	check(err)
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = runs.Sweep(ctx, data, id, dir, 1, func(s runs.SweepStep) { cancel() })
	fmt.Println("cancelled:", errors.Is(err, context.Canceled))

	read := 0
	sum, err := runs.Sweep(context.Background(), data, id, dir, 2, func(s runs.SweepStep) {
		if s.Resumed {
			read++
		}
	})
	check(err)
	for _, m := range sum.Methods {
		fmt.Printf("%-7s %d runs of %.0f samples\n", m.Method, m.Runs, m.Samples)
	}
	fmt.Printf("active is better: %v; %d of the runs was there\n", sum.Comparisons[0].Difference > 0, read)
	// Output:
	// cancelled: true
	// active  3 runs of 700 samples
	// uniform 3 runs of 700 samples
	// target  3 runs of 0 samples
	// constant 3 runs of 0 samples
	// recommended 3 runs of 700 samples
	// active is better: true; 1 of the runs was there
}
