//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
)

// passes times the task gradient. The samples of a task are rows of its pool in
// random order, each row of a pool in one sample.
func (w *bench) passes() error {
	for _, n := range w.sizes.passes {
		for _, dtype := range []backend.DType{backend.Uint8, backend.Float16, backend.Float32} {
			if err := w.pass(n, dtype); err != nil {
				return fmt.Errorf("%d x %d %s: %w", n, inputs, dtype, err)
			}
		}
	}
	return nil
}

func (w *bench) pass(n int, dtype backend.DType) error {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	tmp := backend.NewScope(w.q)
	defer tmp.Close()
	set := backend.SampleSet{Offsets: []int{0}}
	perPool, perTask := n/pools, n/tasks
	upload, scale := poolOf(rng, dtype, perPool)
	for range pools {
		set.Pools = append(set.Pools, backend.Pool{Data: backend.Mat(upload(tmp), perPool, inputs), Scale: scale})
	}
	p, q := tmp.Matrix(backend.Float32, tasks, inputs), tmp.Matrix(backend.Float32, tasks, inputs)
	loss := tmp.Vector(backend.Float64, tasks)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := backend.Put(w.q, p.Buf, 0, compare.Gaussians(rng, tasks*inputs, 1./28)); err != nil {
		return err
	}
	for k := range pools {
		order := rng.Perm(perPool)
		for t := range tasks / pools {
			for _, r := range order[t*perTask : (t+1)*perTask] {
				set.Rows = append(set.Rows, int32(r))
				set.Y = append(set.Y, float32(rng.IntN(2)))
			}
			set.SourcePool = append(set.SourcePool, k)
			set.Offsets = append(set.Offsets, len(set.Rows))
		}
	}
	s, err := w.q.NewSamples(set)
	if err != nil {
		return err
	}
	defer s.Free()
	one := func() error { return w.q.TaskGradient(s, p, backend.Vector{}, q, backend.Vector{}, loss) }
	section := fmt.Sprintf("task gradient, %d samples x %d, %d tasks", s.Len(), inputs, tasks)
	bytes := float64(s.Len() * inputs * dtype.Size())
	note := ""
	if bytes < 256<<20 {
		note = fmt.Sprintf("%.3g MB in all: caches help", bytes/1e6)
	}
	issued, err := timed(w.q, w.least, one)
	if err != nil {
		return err
	}
	replayed, err := timedProgram(w.q, w.least, w.recorded, one)
	line := row{Section: section, Name: dtype.String() + " pools, one call each", Seconds: issued, Work: passWork(s.Len(), dtype), Note: note}
	w.add(line)
	line.Name, line.Seconds = fmt.Sprintf("%s pools, %d in a program", dtype, w.recorded), replayed
	w.add(line)
	return err
}

// passWork returns the work of the task gradient over n samples: one read of every stored element, and for each element
// a multiplication and an addition for the dot product and another two for the sum.
func passWork(n int, dtype backend.DType) work {
	elements := float64(n * inputs)
	return work{Bytes: elements * float64(dtype.Size()), Float32: 4 * elements}
}

// poolOf makes random rows once, and returns a function that uploads a copy of them, and their scale.
func poolOf(rng *rand.Rand, dtype backend.DType, rows int) (upload func(*backend.Scope) backend.Buffer, scale float32) {
	raw := make([]uint8, rows*inputs)
	for i := range raw {
		raw[i] = uint8(rng.Uint32())
	}
	return compare.Stored(dtype, raw, 1./255)
}
