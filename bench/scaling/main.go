// Command scaling compares the units that features can be measured in (--scaling) on generated tables and
// embeddings: it prints how unlike the features are, what auto takes, and the error of each method of preset
// default.
//
//	go run ./bench/scaling [-seeds N]
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

const (
	sources = 12
	rows    = 900 // of a source or the target
	held    = 500 // rows held out, for the error on the target
	latent  = 3   // dimension of the space of all heads
)

// kind is a kind of data. For each of its problems feature returns a function that draws a row: x are its features, and
// part the terms, all of about one size, of which the label's score is a linear function.
type kind struct {
	name    string
	feature func(rng *rand.Rand) func() (x, part []float64)
}

var kinds = []kind{
	{"20 columns times 10^U(-3, 3)", func(rng *rand.Rand) func() (x, part []float64) { return columns(rng, 20, 3) }},
	{"20 columns times 10^U(-1, 1)", func(rng *rand.Rand) func() (x, part []float64) { return columns(rng, 20, 1) }},
	{"20 columns of one unit", func(rng *rand.Rand) func() (x, part []float64) { return columns(rng, 20, 0) }},
	{"age, income, visits, 25 categories", people},
	{"embeddings of 384", func(rng *rand.Rand) func() (x, part []float64) { return embeddings(rng, 0) }},
	{"embeddings of 384 and a length", func(rng *rand.Rand) func() (x, part []float64) { return embeddings(rng, 1) }},
	{"300 words, counted", words},
}

// columns draws n normal features, each in a unit of its own.
func columns(rng *rand.Rand, n int, powers float64) func() (x, part []float64) {
	unit, mean := make([]float64, n), make([]float64, n)
	for j := range unit {
		unit[j] = math.Pow(10, powers*(2*rng.Float64()-1))
		mean[j] = 6*rng.Float64() - 3
	}
	return func() (x, part []float64) {
		for j, u := range unit {
			z := rng.NormFloat64()
			x, part = append(x, u*(z+mean[j])), append(part, z)
		}
		return x, part
	}
}

// people draws numbers in units of their own, and one of 5 and one of 20 categories.
func people(rng *rand.Rand) func() (x, part []float64) {
	return func() (x, part []float64) {
		age, income, visits := rng.NormFloat64(), rng.NormFloat64(), 0.0
		for rng.Float64() < 0.7 {
			visits++
		}
		x = make([]float64, 28)
		x[0], x[1], x[2] = 45+13*age, math.Exp(10.5+0.6*income), visits
		x[3+rng.IntN(5)], x[8+rng.IntN(20)] = 1, 1
		part = append([]float64{age, income, (visits - 2.3) / 2.8}, x[3:]...)
		return x, part
	}
}

// embeddings draws vectors of length 1, with a spectrum that falls as 1/i, and adds more lengths of texts to them.
// Labels depend on the first directions, as they do with the embeddings of texts.
func embeddings(rng *rand.Rand, more int) func() (x, part []float64) {
	const d, parts = 384, 40
	basis := compare.Gaussians(rng, d*d, 1/math.Sqrt(d))
	return func() (x, part []float64) {
		x = make([]float64, d)
		for i := range d {
			v := rng.NormFloat64()
			if i < parts {
				part = append(part, v)
			}
			for j, b := range basis[i*d : (i+1)*d] {
				x[j] += v * math.Pow(float64(i+1), -0.5) * float64(b)
			}
		}
		size := 0.0
		for _, v := range x {
			size += v * v
		}
		for j := range x {
			x[j] /= math.Sqrt(size)
		}
		for range more {
			z := rng.NormFloat64()
			x, part = append(x, math.Exp(6+0.8*z)), append(part, z)
		}
		return x, part
	}
}

// words draws counts of words, most of which are rare.
func words(rng *rand.Rand) func() (x, part []float64) {
	return func() (x, part []float64) {
		x = make([]float64, 300)
		for j := range x {
			for rng.Float64() < 0.6/math.Sqrt(float64(1+j)) {
				x[j]++
			}
		}
		return x, x
	}
}

// newSet makes a target, the last pool, and sources, a third of which have nearly the target's head.
func newSet(k kind, seed uint64) *dataset.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	next := k.feature(rng)
	x, part := next()
	shared := compare.Gaussians(rng, latent*len(part), 1)
	set := &dataset.Set{Name: k.name, Binary: true}
	var heads [sources + 1][]float32
	for t := range heads {
		heads[t] = compare.Gaussians(rng, latent, 1)
		if t%3 == 1 {
			heads[t] = compare.Gaussians(rng, latent, 0.2)
			heads[t][0]++
		}
	}
	copy(heads[sources], []float32{1, 0, 0})
	for t, head := range heads {
		p := &dataset.Pool{Name: fmt.Sprint("domain ", t), Rows: rows, Cols: len(x), Scale: 1}
		task := dataset.Task{Name: p.Name, Pool: t}
		scores := make([]float64, rows)
		mean, square := 0.0, 0.0
		for i := range scores {
			x, part := next()
			for _, v := range x {
				p.F32 = append(p.F32, float32(v))
			}
			for c, w := range head {
				for j, v := range part {
					scores[i] += float64(w) * float64(shared[c*len(part)+j]) * v
				}
			}
			mean += scores[i] / rows
			square += scores[i] * scores[i] / rows
		}
		for i, v := range scores {
			y := float32(0)
			if (v-mean)/math.Sqrt(square-mean*mean)+0.3*rng.NormFloat64() > 0 {
				y = 1
			}
			task.Labels = append(task.Labels, y)
			if i < held {
				task.Test = append(task.Test, int32(i))
			} else {
				task.Train = append(task.Train, int32(i))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, p), append(set.Tasks, task)
	}
	return set
}

// unlike returns how unlike the features of a set are, by their ranges and by their standard deviations: the root mean
// square divided by the lower quartile. Constant features are left out.
func unlike(set *dataset.Set) (ranges, deviations float64) {
	var spans, spreads []float64
	for j := range set.Pools[0].Cols {
		var v []float64
		for _, p := range set.Pools {
			for i := j; i < len(p.F32); i += p.Cols {
				v = append(v, float64(p.F32[i]))
			}
		}
		if r := slices.Max(v) - slices.Min(v); r > 0 {
			spans, spreads = append(spans, r), append(spreads, stat.PopStdDev(v, nil))
		}
	}
	ratio := func(v []float64) float64 {
		slices.Sort(v)
		return floats.Norm(v, 2) / math.Sqrt(float64(len(v))) / v[len(v)/4]
	}
	return ratio(spans), ratio(spreads)
}

// span formats the least and the largest of v.
func span(v []float64) string {
	return fmt.Sprintf("%.2g to %.2g", slices.Min(v), slices.Max(v))
}

func main() {
	seeds := flag.Int("seeds", 5, "problems of each kind")
	flag.Parse()
	if err := run(*seeds); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func run(seeds int) error {
	device, err := cpu.Open(compare.Threads())
	if err != nil {
		return err
	}
	defer device.Close()
	out := compare.NewTable("features", "ranges", "deviations", "auto", "scaling", "active", "uniform", "target")
	for _, k := range kinds {
		took := map[string]int{}
		errs := map[string]map[string]float64{}
		var ranges, deviations []float64
		for seed := range seeds {
			set := newSet(k, uint64(seed))
			r, d := unlike(set)
			ranges, deviations = append(ranges, r), append(deviations, d)
			for _, scaling := range pipeline.Scalings() {
				if scaling == pipeline.ScalingAuto {
					cfg := pipeline.Config{Intercept: true, Scaling: scaling, Representation: pipeline.ClassLinear}
					took[cfg.Complete(set).Scaling]++
					continue
				}
				if errs[scaling] == nil {
					errs[scaling] = map[string]float64{}
				}
				if err := learn(device, set, scaling, errs[scaling]); err != nil {
					return err
				}
			}
		}
		for i, scaling := range []string{pipeline.ScalingGlobal, pipeline.ScalingFeature, pipeline.ScalingNone} {
			row := table.Row{"", "", "", "", scaling}
			if i == 0 {
				row = table.Row{k.name, span(ranges), span(deviations), fmt.Sprintf("%d of %d feature", took[pipeline.ScalingFeature], seeds), scaling}
			}
			for _, method := range []string{pipeline.Active, pipeline.Uniform, pipeline.Target} {
				row = append(row, fmt.Sprintf("%.1f %%", 100*errs[scaling][method]/float64(seeds)))
			}
			out.AppendRow(row)
		}
		fmt.Fprintln(os.Stderr, k.name)
	}
	out.Render()
	return nil
}

// learn adds the error of each method on the target of a set to errs.
func learn(device backend.Device, set *dataset.Set, scaling string, errs map[string]float64) error {
	cfg, err := pipeline.NewConfig(pipeline.PresetDefault)
	if err != nil {
		return err
	}
	cfg.Scaling, cfg.K, cfg.TargetSamples = scaling, 10, 60
	cfg.Methods = []string{pipeline.Active, pipeline.Uniform, pipeline.Target}
	cfg.Head.Loss = pipeline.LossSquared
	cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 3, Floor: 10, Budget: 1500}
	data, err := pipeline.NewResident(device, set)
	if err != nil {
		return err
	}
	defer data.Close()
	p, err := pipeline.NewProblem(set, cfg, len(set.Tasks)-1)
	if err != nil {
		return err
	}
	l, err := pipeline.NewLearner(data, p)
	if err != nil {
		return err
	}
	defer l.Close()
	st, err := l.Solve(context.Background(), pipeline.State{}, nil, nil)
	if err != nil {
		return err
	}
	last := map[string]float64{}
	for _, e := range st.Epochs {
		last[e.Method] = e.Score.Value
	}
	for m, v := range last {
		errs[m] += v
	}
	return nil
}
