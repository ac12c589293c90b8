//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/amtrl/amtrl/backend"
)

// graded is the number of powers of ten, about, that the singular values of an ill-conditioned matrix span: far more
// than the normal equations tolerate.
const graded = 6

// pinv times the pseudo-inverse of random float64 matrices, well conditioned and not.
func (w *bench) pinv() error {
	type matrix struct{ m, n, decades int }
	var all []matrix
	for _, shape := range w.inverted {
		all = append(all, matrix{shape[0], shape[1], 0}, matrix{shape[0], shape[1], graded})
	}
	for _, a := range all {
		section := fmt.Sprintf("pseudo-inverse, float64, %d x %d", a.m, a.n)
		if a.decades > 0 {
			section += fmt.Sprintf(", ill-conditioned, about 1e%d", a.decades)
		}
		ours, err := w.pinvOf(a.m, a.n, a.decades)
		if err != nil {
			return err
		}
		least := inverseWork(a.m, a.n)
		w.add(row{Section: section, Name: "amtrl", Seconds: ours, Work: least, Ratio: 1})
		var reply struct {
			Library string
			Seconds float64
		}
		args := []string{w.rival, fmt.Sprint(w.least), fmt.Sprint(a.m), fmt.Sprint(a.n), fmt.Sprint(a.decades)}
		if err := w.folder.Run(w.python, &reply, "cupy_pinv.py", args...); err != nil {
			w.add(row{Section: section, Name: "CuPy", Failed: err.Error()})
			continue
		}
		w.add(row{Section: section, Name: reply.Library, Seconds: reply.Seconds, Work: least, Ratio: reply.Seconds / ours})
	}
	return nil
}

// inverseWork returns the work of a pseudo-inverse by the Cholesky factor of the smaller Gram matrix, the least that
// any method takes: the Gram matrix (half of it), its factor, two triangular solves.
func inverseWork(m, n int) work {
	p, rows := float64(min(m, n)), float64(max(m, n))
	return work{Bytes: 16 * p * rows, Float64: p*p*rows + p*p*p/3 + 2*p*p*rows}
}

func (w *bench) pinvOf(m, n, decades int) (float64, error) {
	tmp := backend.NewScope(w.q)
	defer tmp.Close()
	src, dst := backend.Upload(tmp, backend.Float64, inverted(m, n, decades)), tmp.Matrix(backend.Float64, n, m)
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

// inverted returns an m by n matrix: G, of Gaussians, or, where the singular values are to span decades, D G + u v' /
// sqrt(m n), where the diagonal D scales the rows of G from 1 down, and u and v are of Gaussians, so that the rows do
// not show the scale.
func inverted(m, n, decades int) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(m)))
	a := make([]float64, m*n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	if decades == 0 {
		return a
	}
	v := make([]float64, n)
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	for i := range m {
		scale, u := math.Pow(10, -float64(decades*i)/float64(m-1)), rng.NormFloat64()/math.Sqrt(float64(m*n))
		for j := range n {
			a[i*n+j] = scale*a[i*n+j] + u*v[j]
		}
	}
	return a
}
