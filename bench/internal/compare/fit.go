package compare

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

// Lambda is the penalty of the linear ERM.
const Lambda = 3e-4

// Start returns a random starting point of the linear ERM: B' (k by d) and W' (tasks by k).
func Start(rng *rand.Rand, k, d, tasks int) []float32 {
	return append(Gaussians(rng, k*d, 1/math.Sqrt(float64(d))), Gaussians(rng, tasks*k, 1/math.Sqrt(float64(k)))...)
}

// Gaussians returns n random numbers of mean 0 and standard deviation sd.
func Gaussians(rng *rand.Rand, n int, sd float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(sd * rng.NormFloat64())
	}
	return v
}

// Fitted holds the result of one minimisation.
type Fitted struct {
	Seconds     float64 `json:"seconds"`
	Objective   float64 `json:"objective"`
	Evaluations int     `json:"evaluations"`
}

// ERM times the linear ERM from theta to one objective, goal: the objective that the given number of iterations reaches
// over pools of uint8, plus 0.1 %. For each type of pools it returns the median run of three, after one to warm up.
func ERM(q backend.Queue, pools []*dataset.Pool, set backend.SampleSet, theta []float32, k, iterations int,
	types ...backend.DType) (goal float64, runs []Fitted, err error) {
	fit := func(dtype backend.DType) (Fitted, error) {
		tmp := backend.NewScope(q)
		defer tmp.Close()
		set.Pools = Upload(tmp, dtype, pools)
		s := tmp.Samples(set)
		if err := errors.Join(tmp.Err(), q.Synchronize()); err != nil {
			return Fitted{}, err
		}
		erm := pipeline.ERM{Lambda: Lambda, Iterations: iterations, History: 10, Init: pipeline.InitRandom}
		start := time.Now()
		f, err := pipeline.FitLinear(context.Background(), q, s, k, erm, slices.Clone(theta), func(_ int, f float64) bool { return f <= goal })
		return Fitted{Seconds: time.Since(start).Seconds(), Objective: f.Objective, Evaluations: f.Evaluations}, err
	}
	best, err := fit(backend.Uint8)
	if err != nil {
		return 0, nil, err
	}
	goal = best.Objective * (1 + 1e-3)
	for _, dtype := range types {
		run, err := MedianOfThree(func(f Fitted) float64 { return f.Seconds }, func() (Fitted, error) { return fit(dtype) })
		if err != nil {
			return 0, nil, err
		}
		runs = append(runs, run)
	}
	return goal, runs, nil
}

// MedianOfThree runs f four times, leaves out the first run, and returns the run of the median seconds.
func MedianOfThree[R any](seconds func(R) float64, f func() (R, error)) (R, error) {
	var runs []R
	for range 4 {
		r, err := f()
		if err != nil {
			return r, err
		}
		runs = append(runs, r)
	}
	slices.SortFunc(runs[1:], func(a, b R) int { return cmp.Compare(seconds(a), seconds(b)) })
	return runs[2], nil
}

// NewTable returns a table that is rendered to standard output.
func NewTable(header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row(header))
	return t
}
