//go:build linux

package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/x448/float16"
)

// The size of the paper's linear experiment in its last epoch.
const (
	samples = 33_000
	inputs  = 784
	tasks   = 159
	pools   = 16
	poolLen = 4_000
	width   = 50
	lambda  = 3e-4
)

// problem is a multi-task least-squares problem on sparse images of uint8,
// with labels from a low-rank linear model, and a starting point.
type problem struct {
	pixels  []uint8 // pools*poolLen by inputs
	rows    []int32 // a sample: row within the pool of its task
	offsets []int   // tasks+1
	y       []float32
	theta   []float32 // B' (width by inputs), W' (tasks by width)
}

func newProblem() *problem {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &problem{pixels: make([]uint8, pools*poolLen*inputs), offsets: make([]int, tasks+1)}
	for r := range pools * poolLen {
		// A blurred stroke: neighbouring pixels go together, most are dark.
		row, x, y := p.pixels[r*inputs:(r+1)*inputs], 14.0, 14.0
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
	truth := gaussians(rng, width*inputs, 1)
	for t := range tasks {
		w := gaussians(rng, width, 0.05/math.Sqrt(width))
		direction := make([]float64, inputs)
		for k := range w {
			for j := range direction {
				direction[j] += float64(w[k]) * float64(truth[k*inputs+j])
			}
		}
		n := samples / tasks
		if t < samples%tasks {
			n++
		}
		for _, r := range rng.Perm(poolLen)[:n] {
			sum := 0.1 * rng.NormFloat64()
			for j, v := range p.pixels[(t%pools*poolLen+r)*inputs:][:inputs] {
				sum += float64(v) / 255 * direction[j]
			}
			p.rows, p.y = append(p.rows, int32(r)), append(p.y, float32(sum))
		}
		p.offsets[t+1] = len(p.rows)
	}
	p.theta = append(gaussians(rng, width*inputs, 1/math.Sqrt(inputs)), gaussians(rng, tasks*width, 1/math.Sqrt(width))...)
	return p
}

func gaussians(rng *rand.Rand, n int, sd float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(sd * rng.NormFloat64())
	}
	return v
}

// write leaves the samples, gathered into one float32 matrix, for the scripts.
func (p *problem) write(dir string) error {
	x := make([]float32, 0, samples*inputs)
	for t := range tasks {
		for _, r := range p.rows[p.offsets[t]:p.offsets[t+1]] {
			for _, v := range p.pixels[(t%pools*poolLen+int(r))*inputs:][:inputs] {
				x = append(x, float32(v)/255)
			}
		}
	}
	offsets := make([]int64, len(p.offsets))
	for i, o := range p.offsets {
		offsets[i] = int64(o)
	}
	for _, f := range []struct {
		name string
		data any
	}{{"x", x}, {"y", p.y}, {"theta", p.theta}, {"offsets", offsets}} {
		raw, err := binary.Append(nil, binary.LittleEndian, f.data)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.name+".bin"), raw, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// place uploads the pools in one of the storage types and the samples.
func (p *problem) place(q backend.Queue, t backend.DType) (s backend.Samples, bytes float64, err error) {
	set := backend.SampleSet{Offsets: p.offsets, Rows: p.rows, Y: p.y}
	for k := range pools {
		raw := p.pixels[k*poolLen*inputs:][:poolLen*inputs]
		var buf backend.Buffer
		scale := float32(1)
		switch t {
		case backend.Uint8:
			buf, err = backend.NewBuffer(q, t, raw)
			scale = 1. / 255
		case backend.Float16:
			half := make([]uint16, len(raw))
			for i, v := range raw {
				half[i] = float16.Fromfloat32(float32(v) / 255).Bits()
			}
			buf, err = backend.NewBuffer(q, t, half)
		default:
			full := make([]float32, len(raw))
			for i, v := range raw {
				full[i] = float32(v) / 255
			}
			buf, err = backend.NewBuffer(q, t, full)
		}
		if err != nil {
			return nil, 0, err
		}
		set.Pools = append(set.Pools, backend.Pool{Data: backend.Mat(buf, poolLen, inputs), Scale: scale})
	}
	for t := range tasks {
		set.TaskPool = append(set.TaskPool, t%pools)
	}
	s, err = q.NewSamples(set)
	return s, float64(samples * inputs * t.Size()), err
}

func threads() int { return runtime.GOMAXPROCS(0) }

// openCPU starts a queue of the CPU, of which the caller closes the device.
func openCPU() (backend.Queue, error) {
	dev, err := cpu.Open(threads())
	if err != nil {
		return nil, err
	}
	return dev.NewQueue()
}
