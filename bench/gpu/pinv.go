//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// pinv times the pseudo-inverse of random float64 matrices.
func (w *bench) pinv() error {
	args := []string{w.rival, fmt.Sprint(w.least)}
	var seconds []float64
	for _, shape := range w.inverted {
		s, err := w.pinvOf(shape[0], shape[1])
		if err != nil {
			return err
		}
		seconds = append(seconds, s)
		args = append(args, fmt.Sprint(shape[0]), fmt.Sprint(shape[1]))
	}
	var reply struct {
		Library string
		Seconds []float64
	}
	failed := w.folder.Run(w.python, &reply, "cupy_pinv.py", args...)
	if failed == nil && len(reply.Seconds) != len(seconds) {
		failed = fmt.Errorf("%d timings of %d matrices", len(reply.Seconds), len(seconds))
	}
	for i, shape := range w.inverted {
		section := fmt.Sprintf("pseudo-inverse, float64, %d x %d", shape[0], shape[1])
		least := inverseWork(shape[0], shape[1])
		w.add(row{Section: section, Name: "amtrl", Seconds: seconds[i], Work: least, Ratio: 1})
		if failed != nil {
			w.add(row{Section: section, Name: "CuPy", Failed: failed.Error()})
			continue
		}
		w.add(row{Section: section, Name: reply.Library, Seconds: reply.Seconds[i], Work: least, Ratio: reply.Seconds[i] / seconds[i]})
	}
	return nil
}

// inverseWork is that of a pseudo-inverse by the Cholesky factor of the smaller Gram matrix, the least that any way
// takes: the Gram matrix (half of it), its factor, two triangular solves.
func inverseWork(m, n int) work {
	p, rows := float64(min(m, n)), float64(max(m, n))
	return work{Bytes: 16 * p * rows, Float64: p*p*rows + p*p*p/3 + 2*p*p*rows}
}

func (w *bench) pinvOf(m, n int) (float64, error) {
	a, rng := make([]float64, m*n), rand.New(rand.NewPCG(1, uint64(m)))
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	tmp := backend.NewScope(w.q)
	defer tmp.Close()
	src, dst := backend.Upload(tmp, backend.Float64, a), tmp.Matrix(backend.Float64, n, m)
	if err := tmp.Err(); err != nil {
		return 0, err
	}
	return timed(w.q, w.least, func() error {
		rank, err := w.q.Pinv(backend.Mat(src, m, n), -1, dst)
		if err == nil && rank != min(m, n) {
			err = fmt.Errorf("rank %d of a random %d x %d matrix", rank, m, n)
		}
		return err
	})
}
