//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/standin"
)

// TestInputsInFlight runs a program many times without waiting, its inputs
// changed after each run: none is read late. Nothing but the launches is issued
// for a run, and one wait in all.
func TestInputsInFlight(t *testing.T) {
	for _, n := range []int{100, slotBytes / 4 / 3, slotBytes/4 + 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			c := standin.Open(t)
			b, err := opener(c, standin.Variant{})()
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			s := backend.NewScope(b)
			defer s.Close()
			x, acc := s.Vector(backend.Float32, n), s.Vector(backend.Float32, n)
			if err := s.Err(); err != nil {
				t.Fatal(err)
			}
			host, coef := make([]float32, n), make([]float64, 1)
			p, err := b.Record(func() error {
				if err := backend.Put(b, x.Buf, 0, host); err != nil {
					return err
				}
				return b.Combine(coef, x.Mat(1, n), acc)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Free()
			const runs = 30
			want := float32(0)
			for i := range runs {
				for j := range host {
					host[j] = float32(i)
				}
				coef[0] = float64(i % 3)
				want += float32(i * (i % 3))
				if err := p.Run(); err != nil {
					t.Fatal(err)
				}
			}
			if waits := c.Calls("cuStreamSynchronize"); waits != 1 { // of Open
				t.Errorf("%d runs without outputs waited %d times", runs, waits-1)
			}
			if launches := c.Calls("cuGraphLaunch"); launches != runs-1 {
				t.Errorf("%d runs after the first launched %d graphs", runs-1, launches)
			}
			got := make([]float32, n)
			if err := backend.Get(b, got, acc.Buf, 0); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != want {
					t.Fatalf("element %d is %v, expected %v", i, v, want)
				}
			}
		})
	}
}

// TestCallsOfARun counts what a run with outputs costs: one copy in, one launch,
// one copy out, one wait.
func TestCallsOfARun(t *testing.T) {
	c := standin.Open(t)
	b, err := opener(c, standin.Variant{})()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s := backend.NewScope(b)
	defer s.Close()
	x, a := s.Vector(backend.Float32, 1000), s.Matrix(backend.Float32, 3, 1000)
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	out := make([]float64, 3)
	p, err := b.Record(func() error {
		for range 5 {
			if err := first(
				func() error { return b.Combine(make([]float64, 3), a, x) },
				func() error { return b.Dots(a, x, out) },
			); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Free()
	if err := first(p.Run, p.Run); err != nil {
		t.Fatal(err)
	}
	c.Order("log")
	const runs = 4
	for range runs {
		if err := p.Run(); err != nil {
			t.Fatal(err)
		}
	}
	count := map[string]int{}
	for _, name := range c.Log() {
		count[name]++
	}
	for _, name := range []string{"cuMemcpyHtoDAsync_v2", "cuGraphLaunch", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"} {
		if count[name] != runs {
			t.Errorf("%d runs made %d calls of %s", runs, count[name], name)
		}
		delete(count, name)
	}
	if len(count) > 0 {
		t.Errorf("%d runs also called %v", runs, count)
	}
}
