//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// recordedSums records programs of many products on a queue of its own and runs each of them three times: one run
// issues its calls, one collects a graph, one launches that again. It returns an error where a sum is wrong.
func recordedSums(d backend.Device, programs int) error {
	q, err := d.NewQueue()
	if err != nil {
		return err
	}
	s := backend.NewScope(q)
	const n, products = 8, 40
	a, y, z := s.Matrix(backend.Float64, n, n), s.Vector(backend.Float64, n), s.Vector(backend.Float64, n)
	err = first(s.Err, func() error { return q.Fill(backend.Vec(a.Buf), 1) })
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
				return q.Dots(y.Mat(1, n), y, out)
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

// factorised inverts matrices on a queue of its own, one that needs a decomposition and one that does not, and
// allocates and frees what no block that is cached has room for.
func factorised(d backend.Device, times int) error {
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
			err = first(
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

// TestCapturesBesideOthers opens and closes queues, decomposes, allocates, pins, loads kernels and purges beside
// queues that record and run programs. The stand-in lets no capture live through such a call of another thread.
func TestCapturesBesideOthers(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	for range 3 {
		soon(t, "captures beside others", func() {
			c.Order("memory=50000000", "cc=8.0") // with workspaces of 4 MiB
			d := must.Get(dev())(t)
			var wg sync.WaitGroup
			errs := make([]error, 8)
			for i := range errs {
				wg.Go(func() {
					for range 5 {
						if i < 5 {
							errs[i] = errors.Join(errs[i], recordedSums(d, 3))
						} else {
							errs[i] = errors.Join(errs[i], factorised(d, 5))
						}
					}
				})
			}
			wg.Wait()
			must.Do(t, errors.Join(append(errs, d.Close())...))
		})
		c.Check()
		if t.Failed() {
			return
		}
	}
	if n := c.Calls("cuGraphLaunch"); n == 0 {
		t.Error("no graph was launched")
	}
}
