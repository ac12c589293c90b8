//go:build linux

package main

import (
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
)

// The size of the paper's linear experiment in its last epoch.
const (
	samples = 33_000
	inputs  = 784
	tasks   = 159
	pools   = 16
	poolLen = 4_000
	width   = 50
)

// problem is a multi-task least-squares problem on sparse images of uint8,
// with labels from a low-rank linear model, and a starting point.
type problem struct {
	pools   []*dataset.Pool
	samples backend.SampleSet // without the pools
	theta   []float32         // B' (width by inputs), W' (tasks by width)
}

func newProblem() *problem {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &problem{samples: backend.SampleSet{Offsets: []int{0}}}
	for range pools {
		p.pools = append(p.pools, &dataset.Pool{Rows: poolLen, Cols: inputs, U8: make([]uint8, poolLen*inputs), Scale: 1. / 255})
	}
	for r := range pools * poolLen {
		// A blurred stroke: neighbouring pixels are correlated, and most are dark.
		row, x, y := p.pools[r/poolLen].U8[r%poolLen*inputs:][:inputs], 14.0, 14.0
		for range 40 {
			x, y = x+rng.NormFloat64(), y+rng.NormFloat64()
			for dx := -1; dx <= 1; dx++ {
				for dy := -1; dy <= 1; dy++ {
					if i, j := int(x)+dx, int(y)+dy; i >= 0 && i < 28 && j >= 0 && j < 28 {
						row[28*i+j] = max(row[28*i+j], uint8(255/(1+dx*dx+dy*dy)))
					}
				}
			}
		}
	}
	truth := compare.Gaussians(rng, width*inputs, 1)
	for t := range tasks {
		w := compare.Gaussians(rng, width, 0.05/math.Sqrt(width))
		direction := make([]float64, inputs)
		for k := range w {
			for j := range direction {
				direction[j] += float64(w[k]) * float64(truth[k*inputs+j])
			}
		}
		n := (samples + tasks - 1 - t) / tasks
		for _, r := range rng.Perm(poolLen)[:n] {
			sum := 0.1 * rng.NormFloat64()
			for j, v := range p.pools[t%pools].U8[r*inputs:][:inputs] {
				sum += float64(v) / 255 * direction[j]
			}
			p.samples.Rows, p.samples.Y = append(p.samples.Rows, int32(r)), append(p.samples.Y, float32(sum))
		}
		p.samples.Offsets = append(p.samples.Offsets, len(p.samples.Rows))
		p.samples.SourcePool = append(p.samples.SourcePool, t%pools)
	}
	p.theta = compare.Start(rng, width, inputs, tasks)
	return p
}

// place uploads the pools as elements of t, and the samples. bytes is the size of the samples' stored rows.
func (p *problem) place(tmp *backend.Scope, t backend.DType) (s backend.Samples, bytes float64, err error) {
	set := p.samples
	set.Pools = compare.Upload(tmp, t, p.pools)
	s = tmp.Samples(set)
	return s, float64(samples * inputs * t.Size()), tmp.Err()
}

func openCPU() (backend.Queue, error) {
	dev, err := cpu.Open(compare.Threads())
	if err != nil {
		return nil, err
	}
	return dev.NewQueue()
}
