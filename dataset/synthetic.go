package dataset

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/finite"
)

// Synthetic is a problem that satisfies the paper's assumptions (section 2):
// rows x ~ N(0, I_D) and, for task t, labels y = x'B w_t + z with noise
// z ~ N(0, Sigma^2) of its own for every task and row. The last task is the
// target, the others are the sources, at least K of them.
type Synthetic struct {
	D, K int
	// B is D by K, row-major, with 1 <= K <= D. It is used as given, so a B that
	// is not orthonormal stays so.
	B []float64
	// W is K by Tasks, row-major: column t is w_t.
	W []float64
	// Sigma is the standard deviation of the noise.
	Sigma float64
	// Rows is the size of the pool that all tasks share.
	Rows int
	// Seed selects the rows and the noise. The rows of a smaller problem are the
	// first rows of a larger one.
	Seed uint64
}

// syntheticBlock is the number of rows that come from one random stream.
const syntheticBlock = 1024

// Set generates the problem: one float32 pool, "gaussian", and the tasks
// "source_0" to "source_<M-1>", numbered with leading zeros so that they sort,
// and "target". All rows are Train rows and none is a Test row: the error of a
// predictor is Model.ExcessRisk. B and W are copied.
func (s Synthetic) Set() (*Set, error) {
	tasks := 0
	if s.K > 0 {
		tasks = len(s.W) / s.K
	}
	if err := checkSynthetic(s.D, s.K, tasks-1, s.Sigma, s.Rows); err != nil {
		return nil, err
	}
	model := &LinearModel{
		D: s.D, K: s.K, Tasks: tasks, Sigma: s.Sigma,
		B: slices.Clone(s.B), W: slices.Clone(s.W),
	}
	if err := model.validate(s.D, tasks); err != nil {
		return nil, fmt.Errorf("synthetic problem: %w", err)
	}

	pool := &Pool{Name: "gaussian", Rows: s.Rows, Cols: s.D, F32: make([]float32, s.Rows*s.D), Scale: 1}
	train := upTo[int32](s.Rows)
	set := &Set{
		Name:  fmt.Sprintf("synthetic linear problem (d=%d, K=%d, M=%d, sigma=%g)", s.D, s.K, tasks-1, s.Sigma),
		Pools: []*Pool{pool}, Tasks: make([]Task, tasks), Model: model,
	}
	digits := len(fmt.Sprint(tasks - 2))
	predictors := make([][]float64, tasks)
	for t := range set.Tasks {
		name := "target"
		if t < tasks-1 {
			name = fmt.Sprintf("source_%0*d", digits, t)
		}
		set.Tasks[t] = Task{Name: name, Labels: make([]float32, s.Rows), Train: train}
		predictors[t] = model.predictor(t)
	}

	blocks := (s.Rows + syntheticBlock - 1) / syntheticBlock
	inParallel(blocks, 0, func(b int) {
		lo := b * syntheticBlock
		hi := min(lo+syntheticBlock, s.Rows)
		s.fill(set, predictors, b, lo, hi)
	})
	for _, t := range set.Tasks {
		if i := finite.First32(t.Labels); i >= 0 {
			return nil, fmt.Errorf("synthetic problem: task %q, row %d: expected a label that fits a float32, found %v", t.Name, i, t.Labels[i])
		}
	}
	return set, nil
}

// fill draws block b, the rows from lo to hi, and their labels in every task.
func (s Synthetic) fill(set *Set, predictors [][]float64, b, lo, hi int) {
	rows := set.Pools[0].F32[lo*s.D : hi*s.D]
	x := make([]float64, len(rows))
	rng := stream(s.Seed, syntheticRows, b, 0)
	for i := range rows {
		rows[i] = float32(rng.NormFloat64())
		x[i] = float64(rows[i])
	}
	for t, p := range predictors {
		rng := stream(s.Seed, syntheticNoise, b, t)
		labels := set.Tasks[t].Labels[lo:hi]
		for i := range labels {
			labels[i] = float32(floats.Dot(x[i*s.D:(i+1)*s.D], p) + s.Sigma*rng.NormFloat64())
		}
	}
}

// maxSyntheticElements bounds the memory that a mistyped size can ask for, at
// 64 GiB of float32.
const maxSyntheticElements = 1 << 34

// checkSynthetic checks the sizes and the noise of a problem.
func checkSynthetic(d, k, sources int, sigma float64, rows int) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("synthetic problem: "+format, args...)
	}
	switch {
	case d < 1 || d > math.MaxInt32:
		return fault("expected an input width d of 1 to %d, found %d", math.MaxInt32, d)
	case k < 1 || k > d:
		return fault("expected a representation width K of 1 to d = %d, found %d", d, k)
	case sources < k || sources >= math.MaxInt32:
		return fault("expected at least K = %d and fewer than %d sources, found %d", k, math.MaxInt32, sources)
	case !(sigma >= 0) || math.IsInf(sigma, 0):
		return fault("expected a noise sigma that is finite and not negative, found %v", sigma)
	case rows < 1 || rows > math.MaxInt32:
		return fault("expected 1 to %d rows, found %d", math.MaxInt32, rows)
	}
	for _, n := range []int{d * k, k * (sources + 1), rows * d, rows * (sources + 1)} {
		if n > maxSyntheticElements {
			return fault("d = %d, K = %d, %d sources and %d rows need an array of %d elements, expected at most %d", d, k, sources,
				rows, n, maxSyntheticElements)
		}
	}
	return nil
}
