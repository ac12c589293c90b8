package runs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

const width = 6

// shops returns a set of five shops with 200 rows each, labelled bad, fair or good. The first shop is the target, of which only the first
// 40 rows have a label. The last two shops use other words than the others, and shoes are noisier than books.
func shops() *dataset.Set {
	rng := rand.New(rand.NewPCG(1, 2))
	set := &dataset.Set{Name: "shops"}
	for p, name := range []string{"new", "books", "shoes", "wine", "tools"} {
		const rows = 200
		pool, moods := &dataset.Pool{Name: name, Rows: rows, Cols: width, Scale: 1, Target: p == 0}, make([]string, rows)
		for i := range moods {
			mood := rng.IntN(3)
			for j := range width {
				x := rng.NormFloat64() * (1 + float64(p%3)/4)
				if word := mood + p/3*3; j == word {
					x += 2
				}
				pool.F32 = append(pool.F32, float32(x))
			}
			if p > 0 || i < 40 {
				moods[i] = []string{"bad", "fair", "good"}[mood]
			}
		}
		check(set.AddClasses(pool, "mood", moods, nil))
	}
	return set
}

// A run as amtrl run makes it, on a set that the program made: the settings that fit the data, the relevant shops, and what the recommended
// model says of a row that it has not seen.
func ExampleRun() {
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
	cfg, choices := cfg.Fit(set, []string{"new"})
	for _, c := range choices {
		fmt.Printf("%s %s: %s\n", c.Setting, c.Value, c.Reason)
	}
	id := runs.NewIdentity("my program 1", set, backend.Choice{Device: device, Reason: "asked for"}, cfg)
	id.Targets = []string{"new"}
	dir, err := os.MkdirTemp("", "run")
	check(err)
	defer os.RemoveAll(dir)
	res, err := runs.Run(ctx, data, id, dir, nil)
	check(err)
	for _, s := range res.Sources[:2] {
		fmt.Printf("%s would get more than a quarter of the next budget: %v\n", s.Source, s.Share > 0.25)
	}
	active, constant := res.Method(pipeline.Active).Score, res.Method(pipeline.Constant).Score
	fmt.Printf("the %s of active is less than that of one class for all: %v\n", active.Metric, active.Value < constant.Value)

	queue, err := device.NewQueue()
	check(err)
	defer queue.Close()
	model, columns, err := runs.OpenPredictor(queue, dir)
	check(err)
	defer model.Close()
	labels, err := runs.PredictLabels(model, columns, &dataset.Pool{Rows: 1, Cols: width, Scale: 1, F32: []float32{0, 0.1, 2.2, -0.3, 0.5, 0}})
	check(err)
	fmt.Println("the new row is", columns[0].Classes[labels[0].Class[0]])
	// Output:
	// scaling global: features have one unit: their ranges go from 9.3 to 10.1
	// target_samples 40: all labelled rows of the target; scores leave one out
	// k 6: the sources have 12 outputs, of rows 6 wide
	// schedule budget 400: half of what the 800 labelled rows of the sources cost
	// floor 9: half of an equal share of the first round
	// books would get more than a quarter of the next budget: true
	// shoes would get more than a quarter of the next budget: true
	// the error of active is less than that of one class for all: true
	// the new row is good
}
