//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// TestInputsInFlight changes a program's inputs after each of many runs, without waiting for them: every run uses its
// own inputs. After the first, a run launches one graph, and no run waits.
func TestInputsInFlight(t *testing.T) {
	for _, n := range []int{100, slotBytes / 4 / 3, slotBytes/4 + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := standin.Open(t)
			b := openQueue(t, opener(c, standin.Variant{}))
			s := backend.NewScope(b)
			defer s.Close()
			x, acc := s.Vector(backend.Float32, n), s.Vector(backend.Float32, n)
			must.Do(t, s.Err())
			host, coef := make([]float32, n), make([]float64, 1)
			p, err := b.Record(func() error {
				if err := backend.Put(b, x.Buf, 0, host); err != nil {
					return err
				}
				return b.Combine(coef, x.Mat(1, n), 1, acc)
			})
			must.Do(t, err)
			defer p.Free()
			const runs = 30
			before := waits(c)
			want := float32(0)
			for i := range runs {
				for j := range host {
					host[j] = float32(i)
				}
				coef[0] = float64(i % 3)
				want += float32(i * (i % 3))
				must.Do(t, p.Run())
			}
			must.Equal(t, waits(c)-before, 0, "waits of %d runs without outputs", runs)
			must.Equal(t, c.Calls("cuGraphLaunch"), runs-1, "graphs launched by %d runs after the first", runs-1)
			got := make([]float32, n)
			must.Do(t, backend.Get(b, got, acc.Buf, 0))
			for i, v := range got {
				if v != want {
					t.Fatalf("element %d is %v, expected %v", i, v, want)
				}
			}
		})
	}
}

// TestScratchOfPrograms runs programs that share scratch memory, a later one of which needs more, and frees them one
// after the other: the graphs of the remaining ones go on with the memory for which they were made.
func TestScratchOfPrograms(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	s := backend.NewScope(b)
	defer s.Close()
	const small, large = 2000, 300_000
	type one struct {
		backend.Program
		n    int
		x    backend.Vector
		dots []float64
	}
	record := func(n int) *one { // needs scratch memory for partial sums
		p := &one{n: n, x: s.Vector(backend.Float64, n), dots: make([]float64, 1)}
		must.Do(t, s.Err())
		p.Program = must.Get(b.Record(func() error {
			return first(
				func() error { return b.Fill(p.x, 2) },
				func() error { return b.Dots(p.x.Mat(1, n), p.x.Mat(1, n), p.dots) },
			)
		}))(t)
		return p
	}
	scratch := func(p *one) nv.DevicePtr { return p.Program.(*program).plan.common }
	all := []*one{record(small), record(small), record(large), record(small), record(large)}
	check := func() {
		t.Helper()
		for i, p := range all {
			p.dots[0] = 0
			must.Do(t, p.Run())
			must.Equal(t, p.dots[0], 4*float64(p.n), "the sum of program %d of %d", i, len(all))
		}
	}
	for range 3 {
		check()
	}
	must.Equal(t, c.Calls("cuGraphLaunch"), 2*len(all), "graphs launched")
	must.Hold(t, scratch(all[0]) != 0 && scratch(all[0]) == scratch(all[1]) && scratch(all[2]) == scratch(all[4]) &&
		scratch(all[0]) != scratch(all[2]), "scratch memory does not stay or is not shared")
	must.Do(t, b.do("purge", b.purge))
	for len(all) > 0 {
		all[0].Free()
		all[0].x.Buf.Free()
		all = all[1:]
		must.Do(t, b.do("purge", b.purge)) // so that memory freed too early is missed
		check()
	}
	must.Equal(t, c.Live()[standin.DeviceBytes], 0, "bytes held at the end")
	must.Equal(t, len(b.scratch.all), 0, "scratch memories at the end")
}

func waits(c *standin.Control) int { return c.Calls("cuStreamSynchronize") + c.Calls("cuStreamQuery") }

// TestCallsOfARun checks what a run with outputs costs: one turn, one copy to the device, one launch of the graph, one
// kernel that hands out the outputs, and one wait.
func TestCallsOfARun(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	s := backend.NewScope(b)
	defer s.Close()
	x, a := s.Vector(backend.Float32, 1000), s.Matrix(backend.Float32, 3, 1000)
	must.Do(t, s.Err())
	out := make([]float64, 3)
	p, err := b.Record(func() error {
		for range 5 {
			if err := first(
				func() error { return b.Combine(make([]float64, 3), a, 1, x) },
				func() error { return b.Dots(a, x.Mat(1, x.Len), out) },
			); err != nil {
				return err
			}
		}
		return nil
	})
	must.Do(t, err)
	defer p.Free()
	must.Do(t, first(p.Run, p.Run))
	c.Order("log")
	const runs = 4
	for range runs {
		must.Do(t, p.Run())
	}
	count := map[string]int{}
	for _, name := range c.Log() {
		count[name]++
	}
	if n := count["cuStreamSynchronize"]; n > runs {
		t.Errorf("%d runs waited %d times", runs, n)
	}
	delete(count, "cuStreamSynchronize")
	delete(count, "cuStreamQuery")
	must.Equal(t, count["cuCtxSetCurrent"], 2*runs, "calls of cuCtxSetCurrent in %d runs", runs)
	delete(count, "cuCtxSetCurrent")
	for _, name := range []string{"cuMemcpyHtoDAsync_v2", "cuGraphLaunch", "cuLaunchKernel"} {
		must.Equal(t, count[name], runs, "calls of %s in %d runs", name, runs)
		delete(count, name)
	}
	must.Hold(t, len(count) == 0, "%d runs also called %v", runs, count)
}

// TestLargeOutputs reads more outputs than the pinned memory holds at a time.
func TestLargeOutputs(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	const n = 2*slotBytes + 999
	s := backend.NewScope(b)
	defer s.Close()
	x := s.Vector(backend.Float32, n)
	must.Do(t, s.Err())
	host, sum := make([]float32, n), make([]float64, 1)
	p, err := b.Record(func() error {
		return first(
			func() error { return b.Fill(x, 0.5) },
			func() error { return b.Dots(x.Mat(1, n), x.Mat(1, n), sum) },
			func() error { return backend.Get(b, host, x.Buf, 0) },
		)
	})
	must.Do(t, err)
	defer p.Free()
	for range 3 {
		clear(host)
		must.Do(t, p.Run())
		for i, v := range host {
			if v != 0.5 {
				t.Fatalf("element %d is %v", i, v)
			}
		}
		if sum[0] != n*0.25 {
			t.Fatalf("the sum of squares is %v", sum[0])
		}
	}
}

// TestAllocationsOfARun checks that a run of a program makes a few small allocations of Go memory at most.
func TestAllocationsOfARun(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	s := backend.NewScope(b)
	defer s.Close()
	x, a := s.Vector(backend.Float32, 100), s.Matrix(backend.Float32, 3, 100)
	out := make([]float64, 3)
	must.Do(t, s.Err())
	p, err := b.Record(func() error {
		for range 20 {
			if err := first(
				func() error { return b.Combine(out, a, 1, x) },
				func() error { return b.Dots(a, x.Mat(1, x.Len), out) },
			); err != nil {
				return err
			}
		}
		return nil
	})
	must.Do(t, err)
	defer p.Free()
	const most = 12
	run := func() { err = errors.Join(err, p.Run()) }
	run()
	run()
	if n := testing.AllocsPerRun(50, run); n > most || err != nil {
		t.Errorf("a run makes %v allocations, expected %d at most (%v)", n, most, err)
	}
}
