//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// TestCapturesBesideOthers opens and closes queues, decomposes, allocates, pins memory, loads kernels and purges while
// other queues record and run programs. On the stand-in such a call of another thread breaks every capture.
func TestCapturesBesideOthers(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	for range 3 {
		soon(t, "captures beside others", func() {
			c.Order("memory=50000000", "cc=8.0") // with workspaces of 4 MiB
			d := must.Get(dev())(t)
			must.Do(t, backendtest.Beside(d, 5))
			if g := GraphsOf(d); g.Failed > 0 {
				t.Error(g)
			}
			must.Do(t, d.Close())
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

// TestGraphFails fails each call from the beginning of a capture to the launch of its graph, once and, for the
// functions of graphs, for ever: the work is done without a graph, the results are the same, and the failure is counted
// with its cause.
func TestGraphFails(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	run := func(t *testing.T, b *opened) []float64 { return must.Get(work(b))(t) }
	b := must.Get(open(dev))(t)
	run(t, b) // loads the kernels
	c.Order("log")
	want, before := run(t, b), GraphsOf(b.dev)
	log := c.Log()
	must.Do(t, b.Close())
	must.Equal(t, before, Graphs{Supported: true, Collected: 2, Launched: 4}, "graphs of two rounds")
	begin, end := slices.Index(log, "cuStreamBeginCapture_v2"), slices.Index(log, "cuGraphLaunch")
	must.Hold(t, begin >= 0 && end > begin+5, "the calls are %v", log)

	fails := func(t *testing.T, name string, nth int, forever bool) (b *opened, got []float64, err error) {
		b = must.Get(open(dev))(t)
		t.Cleanup(func() { b.Close() })
		run(t, b)
		if forever {
			c.FailFrom(name, nth, 0)
		} else {
			c.Fail(name, nth, 0)
		}
		got, err = work(b)
		c.Reset()
		return b, got, err
	}
	for i := begin; i <= end; i++ {
		name, nth := log[i], 1
		for _, earlier := range log[:i] {
			if earlier == name {
				nth++
			}
		}
		if name == "cuCtxSetCurrent" || name == "cuGraphDestroy" {
			continue
		}
		graphs := strings.HasPrefix(name, "cuGraph") || strings.Contains(name, "Capture")
		for _, forever := range []bool{false, true} {
			if forever && !graphs {
				break // the work itself could not be done
			}
			t.Run(fmt.Sprint(name, " ", i-begin, " forever ", forever), func(t *testing.T) {
				b, got, err := fails(t, name, nth, forever)
				must.Do(t, err)
				must.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "results")
				g := GraphsOf(b.dev)
				g.Launched, g.Collected = g.Launched-2, g.Collected-1 // without those of the first call of work
				failed, launched := 1, 1                              // one run later the program has a graph
				if forever {
					failed, launched = 2, 0
				}
				if g.Failed != failed || g.Launched != launched || !strings.Contains(g.Cause, name) {
					t.Errorf("found %+v, expected %d that failed by %s and %d launches", g, failed, name, launched)
				}
				run(t, b)
			})
		}
	}
}

// TestBrokenCaptureTellsWhy fails a call within a capture, which breaks the capture and fails its end too: the cause
// names both.
func TestBrokenCaptureTellsWhy(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	s := backend.NewScope(b)
	defer s.Close()
	x := s.Vector(backend.Float32, 10)
	must.Do(t, s.Err())
	p := must.Get(b.Record(func() error { return b.Fill(x, 1) }))(t)
	defer p.Free()
	must.Do(t, p.Run())
	c.Fail("cuLaunchKernel", 1, 900)
	c.Fail("cuStreamEndCapture", 1, 901)
	must.Do(t, p.Run())
	g := GraphsOf(b.dev)
	first, second := strings.Index(g.Cause, "cuStreamEndCapture"), strings.Index(g.Cause, "cuLaunchKernel")
	must.Hold(t, g.Failed == 1 && first >= 0 && second > first && strings.Contains(g.Cause, "900"), "found %v", g)
}
