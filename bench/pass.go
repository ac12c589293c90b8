package main

import (
	"slices"
	"sync"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
)

// timing is the median time of something that reads Bytes once.
type timing struct {
	Name    string
	Seconds float64
	Bytes   float64
	Failed  string
}

// median times f.
func median(repeats int, f func() error) (float64, error) {
	times := make([]float64, repeats)
	for i := -2; i < repeats; i++ { // two to warm up
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if i >= 0 {
			times[i] = time.Since(start).Seconds()
		}
	}
	slices.Sort(times)
	return times[repeats/2], nil
}

// timePasses times TaskGradient alone, which is what the rivals' pass does.
func timePasses(p *problem, repeats int) ([]timing, error) {
	var out []timing
	for _, dtype := range []backend.DType{backend.Float32, backend.Float16, backend.Uint8} {
		t, err := timePass(p, dtype, repeats)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func timePass(p *problem, dtype backend.DType, repeats int) (timing, error) {
	b, err := cpu.Open(threads())
	if err != nil {
		return timing{}, err
	}
	defer b.Close()
	s, bytes, err := p.place(b, dtype)
	if err != nil {
		return timing{}, err
	}
	tmp := backend.NewScope(b)
	theta := backend.Upload(tmp, backend.Float32, p.theta)
	pm, q := tmp.Matrix(backend.Float32, tasks, inputs), tmp.Matrix(backend.Float32, tasks, inputs)
	loss := tmp.Vector(backend.Float64, tasks)
	if err := tmp.Err(); err != nil {
		return timing{}, err
	}
	phi := backend.Mat(theta, width, inputs)
	w := backend.Matrix{Buf: theta, Off: width * inputs, Rows: tasks, Cols: width, Stride: width}
	if err := b.Gemm(false, false, 1, w, phi, 0, pm); err != nil {
		return timing{}, err
	}
	seconds, err := median(repeats, func() error { return b.TaskGradient(s, pm, q, loss) })
	return timing{Name: "amtrl, " + dtype.String() + " pool", Seconds: seconds, Bytes: bytes}, err
}

// readBandwidth sums 1 GiB with every thread and returns the median GB/s.
func readBandwidth(repeats int) float64 {
	data := make([]uint64, 1<<27)
	for i := range data {
		data[i] = uint64(i)
	}
	sums := make([]uint64, threads())
	seconds, _ := median(repeats, func() error {
		var wg sync.WaitGroup
		part := len(data) / len(sums)
		for k := range sums {
			wg.Go(func() { sums[k] += sum(data[k*part : (k+1)*part]) })
		}
		wg.Wait()
		return nil
	})
	return float64(8*len(data)) / seconds / 1e9
}

// sum adds in eight chains, one cache line a step, so that loads and not
// additions set the pace.
func sum(x []uint64) uint64 {
	var a, b, c, d, e, f, g, h uint64
	for len(x) >= 8 {
		v := (*[8]uint64)(x)
		a, b, c, d = a+v[0], b+v[1], c+v[2], d+v[3]
		e, f, g, h = e+v[4], f+v[5], g+v[6], h+v[7]
		x = x[8:]
	}
	return a + b + c + d + e + f + g + h
}
