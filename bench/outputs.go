//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
)

// outputs is the number of labels of each sample in compareOutputs.
const outputs = 10

// compareOutputs times one pass over samples of several outputs, and as many passes over the same samples with one
// label each.
func compareOutputs(p *problem, repeats int) error {
	t := compare.NewTable(fmt.Sprintf("%d outputs", outputs), "one pass, ms", fmt.Sprintf("%d single passes, ms", outputs), "times as fast")
	for _, cols := range []int{inputs, 384} {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float16, backend.Uint8} {
			together, apart, err := timeOutputs(p, dtype, cols, repeats)
			if err != nil {
				return err
			}
			t.AppendRow(table.Row{fmt.Sprintf("%d inputs, %v pool", cols, dtype), fmt.Sprintf("%.2f", 1e3*together),
				fmt.Sprintf("%.2f", 1e3*apart), fmt.Sprintf("%.1f", apart/together)})
		}
	}
	t.Render()
	fmt.Println()
	return nil
}

// timeOutputs returns the seconds of the one pass and of the single passes, over the first cols inputs, with a source
// for each pool.
func timeOutputs(p *problem, dtype backend.DType, cols, repeats int) (together, apart float64, err error) {
	q, err := openCPU()
	if err != nil {
		return 0, 0, err
	}
	defer q.Device().Close()
	tmp := backend.NewScope(q)
	defer tmp.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	one := backend.SampleSet{Pools: compare.Upload(tmp, dtype, p.pools), Offsets: []int{0}}
	for m := range one.Pools {
		one.Pools[m].Data.Cols = cols
		one.SourcePool = append(one.SourcePool, m)
		one.Offsets = append(one.Offsets, samples*(m+1)/pools)
	}
	for range samples {
		one.Rows = append(one.Rows, int32(rng.IntN(poolLen)))
	}
	all := one
	one.Y, all.Y = make([]float32, samples), make([]float32, samples*outputs)
	for i := range all.Y {
		all.Y[i] = float32(rng.IntN(2))
	}
	for range pools {
		all.Outputs = append(all.Outputs, outputs)
	}
	pass := func(set backend.SampleSet, tasks int) func() error {
		s, loss := tmp.Samples(set), tmp.Vector(backend.Float64, tasks)
		pm, grads := backend.Upload(tmp, backend.Float32, compare.Gaussians(rng, tasks*cols, .01)), tmp.Matrix(backend.Float32, tasks, cols)
		return func() error {
			return q.TaskGradient(s, backend.Mat(pm, tasks, cols), backend.Vector{}, grads, backend.Vector{}, loss)
		}
	}
	many, single := pass(all, pools*outputs), pass(one, pools)
	if err := tmp.Err(); err != nil {
		return 0, 0, err
	}
	if together, err = median(repeats, many); err != nil {
		return 0, 0, err
	}
	apart, err = median(repeats, func() error {
		for range outputs {
			if err := single(); err != nil {
				return err
			}
		}
		return nil
	})
	return together, apart, err
}
