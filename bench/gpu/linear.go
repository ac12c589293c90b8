//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline"
)

const (
	benchTarget = "glass_blur_2"
	lambda      = 3e-4
)

// digitSet is the embedded digits and their corruptions, made once.
func (w *bench) digitSet() (*dataset.Set, error) {
	if w.set != nil {
		return w.set, nil
	}
	set, err := dataset.Digits(0, w.digits, w.jobs)
	if err != nil {
		return nil, err
	}
	w.set = set
	return set, set.Validate()
}

// linear times the ERM over as many samples of every source, to one objective:
// the best that so many iterations of ours reach, plus 0.1 %.
func (w *bench) linear() error {
	set, err := w.digitSet()
	if err != nil {
		return err
	}
	p, err := newProblem(set, w.samples, w.width)
	if err != nil {
		return err
	}
	best, err := w.fit(p, backend.Uint8, 0)
	if err != nil {
		return err
	}
	goal := best.objective * (1 + 1e-3)
	section := fmt.Sprintf("linear ERM, %d samples of %d sources, K = %d, to objective %.6g", len(p.y), len(p.offsets)-1, w.width, goal)
	var ours float64
	for _, dtype := range []backend.DType{backend.Uint8, backend.Float32} {
		var runs []fitted
		for range 4 {
			f, err := w.fit(p, dtype, goal)
			if err != nil {
				return err
			}
			runs = append(runs, f)
		}
		runs = runs[1:]
		slices.SortFunc(runs, func(a, b fitted) int { return int(math.Copysign(1, a.seconds-b.seconds)) })
		if ours == 0 {
			ours = runs[1].seconds
		}
		w.add(row{Section: section, Name: "amtrl, " + dtype.String() + " pools", Seconds: runs[1].seconds, Ratio: runs[1].seconds / ours, Evaluations: float64(runs[1].evaluations)})
	}
	return w.linearRival(p, section, goal, ours)
}

func (w *bench) linearRival(p *problem, section string, goal, ours float64) error {
	if err := w.leave(map[string]any{"x": p.gathered(), "y": p.y, "theta": p.theta, "offsets": p.offsets64()}); err != nil {
		return err
	}
	type fit struct{ Seconds, Objective, Evaluations float64 }
	var reply struct {
		Torch, Device string
		Copy          struct{ Seconds, Bytes float64 }
		Pass          struct {
			Seconds float64
			Way     string
		}
		Same, Obvious fit
	}
	err := w.ask(&reply, "torch_linear.py", w.dir, w.rival, fmt.Sprint(w.jobs), fmt.Sprint(w.least), fmt.Sprint(goal), fmt.Sprint(lambda), fmt.Sprint(w.width))
	if err != nil {
		w.add(row{Section: section, Name: "PyTorch", Failed: err.Error()})
		return nil
	}
	by := fmt.Sprintf("PyTorch %s on %s", reply.Torch, reply.Device)
	for _, r := range []struct {
		name string
		fit  fit
	}{{"PyTorch, same algorithm, " + reply.Pass.Way + " pass", reply.Same}, {"PyTorch, autograd on (X B) w, its L-BFGS", reply.Obvious}} {
		line := row{Section: section, Name: r.name, Seconds: r.fit.Seconds, Ratio: r.fit.Seconds / ours, Evaluations: r.fit.Evaluations, Note: by}
		if r.fit.Objective > goal {
			line.Failed = fmt.Sprintf("reached %.6g only, after %g evaluations", r.fit.Objective, r.fit.Evaluations)
		}
		w.add(line)
	}
	elements := float64(len(p.y) * inputs)
	w.add(row{Section: "what PyTorch takes beside it", Name: fmt.Sprintf("task gradient, float32, %d samples, %s", len(p.y), reply.Pass.Way), Seconds: reply.Pass.Seconds, Bytes: 4 * elements, Note: by})
	w.add(row{Section: "what PyTorch takes beside it", Name: "copy on the device", Seconds: reply.Copy.Seconds, Bytes: reply.Copy.Bytes, Note: by})
	return nil
}

// fitted is how an ERM went.
type fitted struct {
	seconds, objective float64
	evaluations        int
}

// fit runs the ERM until the objective is at most goal.
func (w *bench) fit(p *problem, dtype backend.DType, goal float64) (fitted, error) {
	tmp := backend.NewScope(w.q)
	defer tmp.Close()
	s := p.place(tmp, dtype)
	if err := tmp.Err(); err != nil {
		return fitted{}, err
	}
	theta := slices.Clone(p.theta)
	erm := pipeline.ERM{Lambda: lambda, Iterations: w.iterations, History: 10, Init: pipeline.InitRandom}
	if err := w.q.Synchronize(); err != nil {
		return fitted{}, err
	}
	start := time.Now()
	f, err := pipeline.FitLinear(context.Background(), w.q, s, w.width, erm, theta, func(_ int, v float64) bool { return v <= goal })
	return fitted{time.Since(start).Seconds(), f.Objective, f.Evaluations}, err
}

// problem are samples of the sources of one target and a starting point.
type problem struct {
	set     *dataset.Set
	sources []int
	rows    []int32
	offsets []int
	y       []float32
	theta   []float32 // B' (K by d), W' (M by K)
}

func newProblem(set *dataset.Set, samples, width int) (*problem, error) {
	target, err := set.TaskIndex(benchTarget)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	p := &problem{set: set, offsets: []int{0}}
	for i := range set.Tasks {
		if i != target {
			p.sources = append(p.sources, i)
		}
	}
	for m, i := range p.sources {
		n := samples / len(p.sources)
		if m < samples%len(p.sources) {
			n++
		}
		task := &set.Tasks[i]
		for _, k := range rng.Perm(len(task.Train))[:min(n, len(task.Train))] {
			p.rows, p.y = append(p.rows, task.Train[k]), append(p.y, task.Labels[task.Train[k]])
		}
		p.offsets = append(p.offsets, len(p.rows))
	}
	for i := range width * (inputs + len(p.sources)) {
		n := inputs
		if i >= width*inputs {
			n = width
		}
		p.theta = append(p.theta, float32(rng.NormFloat64()/math.Sqrt(float64(n))))
	}
	return p, nil
}

// place uploads the pools as dtype, and the samples.
func (p *problem) place(tmp *backend.Scope, dtype backend.DType) backend.Samples {
	set := backend.SampleSet{Offsets: p.offsets, Rows: p.rows, Y: p.y}
	for _, pool := range p.set.Pools {
		buf, scale := backend.Buffer(nil), pool.Scale
		if dtype == backend.Uint8 {
			buf = backend.Upload(tmp, dtype, pool.U8)
		} else {
			buf, scale = backend.Upload(tmp, dtype, widened(pool.U8, pool.Scale)), 1
		}
		set.Pools = append(set.Pools, backend.Pool{Data: backend.Mat(buf, pool.Rows, pool.Cols), Scale: scale})
	}
	for _, s := range p.sources {
		set.TaskPool = append(set.TaskPool, p.set.Tasks[s].Pool)
	}
	return tmp.Samples(set)
}

func widened(raw []uint8, scale float32) []float32 {
	out := make([]float32, len(raw))
	for i, v := range raw {
		out[i] = scale * float32(v)
	}
	return out
}

// gathered are the samples' features as one matrix.
func (p *problem) gathered() []float32 {
	x := make([]float32, 0, len(p.rows)*inputs)
	for m, s := range p.sources {
		pool := p.set.Pools[p.set.Tasks[s].Pool]
		for _, r := range p.rows[p.offsets[m]:p.offsets[m+1]] {
			x = append(x, widened(pool.U8[int(r)*inputs:][:inputs], pool.Scale)...)
		}
	}
	return x
}

func (p *problem) offsets64() []int64 {
	out := make([]int64, len(p.offsets))
	for i, o := range p.offsets {
		out[i] = int64(o)
	}
	return out
}
