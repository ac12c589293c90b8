//go:build linux

package main

import (
	"errors"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/bench/internal/compare"
)

// timing is the median time of something that reads Bytes once.
type timing struct {
	Name    string
	Seconds float64
	Bytes   float64
	// Read is the rate in GB/s at which the same number of bytes can be read.
	Read   float64
	Failed string
}

// median returns the median seconds of f over the given number of calls, after two to warm up.
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

// timePass times TaskGradient, which is what NumPy's two passes compute, and a whole evaluation of the objective and
// its gradient with respect to B and W, which is what autograd computes.
func timePass(p *problem, dtype backend.DType, repeats int) ([]timing, error) {
	q, err := openCPU()
	if err != nil {
		return nil, err
	}
	defer q.Device().Close()
	tmp := backend.NewScope(q)
	defer tmp.Close()
	s, bytes, err := p.place(tmp, dtype)
	if err != nil {
		return nil, err
	}
	theta, grad := backend.Upload(tmp, backend.Float32, p.theta), tmp.Alloc(backend.Float32, len(p.theta))
	pm, grads := tmp.Matrix(backend.Float32, tasks, inputs), tmp.Matrix(backend.Float32, tasks, inputs)
	loss := tmp.Vector(backend.Float64, tasks)
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	phi := func(buf backend.Buffer) backend.Matrix { return backend.Mat(buf, width, inputs) }
	w := func(buf backend.Buffer) backend.Matrix {
		return backend.Matrix{Buf: buf, Off: width * inputs, Rows: tasks, Cols: width, Stride: width}
	}
	pass := func() error { return q.TaskGradient(s, pm, backend.Vector{}, grads, backend.Vector{}, loss) }
	whole := func() error {
		return errors.Join(
			q.Gemm(false, false, 1, w(theta), phi(theta), 0, pm),
			pass(),
			q.Gemm(true, false, 2./samples, w(theta), grads, 0, phi(grad)),
			q.Gemm(false, true, 2./samples, grads, phi(theta), 0, w(grad)))
	}
	if err := whole(); err != nil {
		return nil, err
	}
	read, err := hotRead(int(bytes), repeats)
	if err != nil {
		return nil, err
	}
	var out []timing
	for _, c := range []struct {
		name string
		f    func() error
	}{{", " + dtype.String() + " pool", pass}, {", " + dtype.String() + " pool, with grad B and W", whole}} {
		seconds, err := median(repeats, c.f)
		if err != nil {
			return nil, err
		}
		out = append(out, timing{Name: "amtrl" + c.name, Seconds: seconds, Bytes: bytes, Read: read})
	}
	return out, nil
}

// hotRead returns the GB/s at which all threads together sum that number of bytes in order, over and over, from huge
// pages, since the pass gains from the caches and from huge pages too.
func hotRead(bytes, repeats int) (float64, error) {
	raw, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(raw)
	// Advice: where it is refused, the reading is from small pages.
	_ = unix.Madvise(raw, unix.MADV_HUGEPAGE)
	for i := range raw {
		raw[i] = byte(i)
	}
	data := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(raw))), bytes/8)
	sums := make([]uint64, compare.Threads())
	seconds, err := median(repeats, func() error {
		var wg sync.WaitGroup
		part := len(data) / len(sums)
		for k := range sums {
			wg.Go(func() { sums[k] += sum(data[k*part : (k+1)*part]) })
		}
		wg.Wait()
		return nil
	})
	return float64(8*len(data)) / seconds / 1e9, err
}

// sum adds up x in eight chains, one cache line per step, so that loads and not additions set the pace.
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
