package backendtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
)

// onQueue calls f with a new queue of d and a scope on it, and closes both.
func onQueue(d backend.Device, f func(q backend.Queue, s *backend.Scope) error) error {
	q, err := d.NewQueue()
	if err != nil {
		return err
	}
	s := backend.NewScope(q)
	err = f(q, s)
	s.Close()
	return errors.Join(err, q.Close())
}

// RecordedSums records the given number of programs, of many products each, on a queue of its own and runs each of them
// three times: one run issues its calls, one collects a graph, and one launches the graph again. It returns an error if
// a sum is wrong.
func RecordedSums(d backend.Device, programs int) error {
	return onQueue(d, func(q backend.Queue, s *backend.Scope) error {
		const n = 8
		a, y, z := s.Matrix(backend.Float64, n, n), s.Vector(backend.Float64, n), s.Vector(backend.Float64, n)
		err := s.Err()
		if err == nil {
			err = q.Fill(backend.Vec(a.Buf), 1)
		}
		for i := 0; i < programs && err == nil; i++ {
			err = recordedSum(q, a, y, z)
		}
		return err
	})
}

// recordedSum records a program that replaces y by (A y + 1) / (n + 1) many times, with A a matrix of ones, and checks
// the result of three runs.
func recordedSum(q backend.Queue, a backend.Matrix, y, z backend.Vector) error {
	const products = 40
	n, want, out := float64(y.Len), 0., make([]float64, 1)
	p, err := q.Record(func() error {
		err := q.Fill(y, 0)
		for i := 0; i < products && err == nil; i++ {
			from, to := y, z
			if i%2 == 1 {
				from, to = to, from
			}
			err = cmp.Or(q.Gemm(false, false, 1/(n+1), a, from.Mat(y.Len, 1), 0, to.Mat(y.Len, 1)), q.Axpy(1/(n+1), a.Row(0), to))
		}
		return cmp.Or(err, q.Dots(y.Mat(1, y.Len), y.Mat(1, y.Len), out))
	})
	if err != nil {
		return err
	}
	defer p.Free()
	for range products {
		want = (want*n + 1) / (n + 1)
	}
	for range 3 {
		out[0] = 0
		if err := p.Run(); err != nil {
			return err
		}
		if sum := math.Sqrt(out[0] / n); math.Abs(sum-want) > 1e-9 {
			return fmt.Errorf("a program computes %v, expected %v", sum, want)
		}
	}
	return nil
}

// Factorised repeats the following on a queue of its own: it inverts two matrices, of which one needs a decomposition
// and one does not, and it allocates and frees a buffer for which no cached block has room.
func Factorised(d backend.Device, times int) error {
	return onQueue(d, func(q backend.Queue, s *backend.Scope) error {
		a, inv := s.Matrix(backend.Float64, 2, 3), s.Matrix(backend.Float64, 3, 2)
		if err := s.Err(); err != nil {
			return err
		}
		for i := range times {
			for _, second := range []float64{1, 1e-9} {
				if err := backend.Put(q, a.Buf, 0, []float64{1, 0, 0, 0, second, 0}); err != nil {
					return err
				}
				if _, err := q.Pinv(a, 0, inv); err != nil {
					return err
				}
			}
			buf, err := q.Alloc(backend.Uint8, 1<<20+i*300_000)
			if err != nil {
				return err
			}
			err = backend.Put(q, buf, 0, make([]byte, 1<<20))
			if buf.Free(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Beside runs RecordedSums and Factorised at the same time on one device, each on queues that it opens and closes: the
// decompositions and allocations must not disturb the programs, nor the programs them.
func Beside(d backend.Device, rounds int) error {
	var group errgroup.Group
	for i := range 8 {
		group.Go(func() (err error) {
			for range rounds {
				if i < 5 {
					err = errors.Join(err, RecordedSums(d, 3))
				} else {
					err = errors.Join(err, Factorised(d, 5))
				}
			}
			return err
		})
	}
	return group.Wait()
}
