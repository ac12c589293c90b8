package backendtest

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/amtrl/amtrl/backend"
)

// RecordedSums records programs of many products on a queue of its own and runs each of them three times: one run
// issues its calls, one collects a graph, one launches that again. It returns an error where a sum is wrong.
func RecordedSums(d backend.Device, programs int) error {
	q, err := d.NewQueue()
	if err != nil {
		return err
	}
	s := backend.NewScope(q)
	const n, products = 8, 40
	a, y, z := s.Matrix(backend.Float64, n, n), s.Vector(backend.Float64, n), s.Vector(backend.Float64, n)
	err = try(s.Err, func() error { return q.Fill(backend.Vec(a.Buf), 1) })
	for range programs {
		if err != nil {
			break
		}
		out := make([]float64, 1)
		err = func() error {
			p, err := q.Record(func() error {
				if err := q.Fill(y, 0); err != nil {
					return err
				}
				for i := range products { // y = (A x + 1) / (n + 1), x the y before
					from, to := y.Mat(n, 1), z.Mat(n, 1)
					if i%2 == 1 {
						from, to = to, from
					}
					if err := q.Gemm(false, false, 1./(n+1), a, from, 0, to); err != nil {
						return err
					}
					if err := q.Axpy(1./(n+1), a.Row(0), backend.Vector{Buf: to.Buf, Len: n}); err != nil {
						return err
					}
				}
				return q.Dots(y.Mat(1, n), y.Mat(1, n), out)
			})
			if err != nil {
				return err
			}
			defer p.Free()
			want := 0.
			for range products {
				want = (want*n + 1) / (n + 1)
			}
			for range 3 {
				out[0] = 0
				if err := p.Run(); err != nil {
					return err
				}
				if got := math.Sqrt(out[0] / n); math.Abs(got-want) > 1e-9 {
					return fmt.Errorf("a program computes %v, expected %v", got, want)
				}
			}
			return nil
		}()
	}
	s.Close()
	return errors.Join(err, q.Close())
}

// Factorised inverts matrices on a queue of its own, one that needs a decomposition and one that does not, and
// allocates and frees what no block that is cached has room for.
func Factorised(d backend.Device, times int) error {
	q, err := d.NewQueue()
	if err != nil {
		return err
	}
	s := backend.NewScope(q)
	defer s.Close()
	a, inv := s.Matrix(backend.Float64, 2, 3), s.Matrix(backend.Float64, 3, 2)
	err = s.Err()
	for i := range times {
		for _, second := range []float64{1, 1e-9} {
			err = try(
				func() error { return err },
				func() error { return backend.Put(q, a.Buf, 0, []float64{1, 0, 0, 0, second, 0}) },
				func() error { _, err := q.Pinv(a, 0, inv); return err },
			)
		}
		if err != nil {
			break
		}
		var buf backend.Buffer
		if buf, err = q.Alloc(backend.Uint8, 1<<20+i*300_000); err == nil {
			err = backend.Put(q, buf, 0, make([]byte, 1<<20))
			buf.Free()
		}
	}
	return errors.Join(err, q.Close())
}

// Beside opens and closes queues, decomposes and allocates on a device beside queues that record and run programs.
// What the ones do must not reach the others.
func Beside(d backend.Device, rounds int) error {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			for range rounds {
				if i < 5 {
					errs[i] = errors.Join(errs[i], RecordedSums(d, 3))
				} else {
					errs[i] = errors.Join(errs[i], Factorised(d, 5))
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func try(steps ...func() error) error {
	for _, f := range steps {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
