//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/backend/backendtest"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// uses makes a queue of the device create every handle of a library and pinned memory.
func uses(d backend.Device) error {
	return errors.Join(backendtest.RecordedSums(d, 1), backendtest.Factorised(d, 1))
}

// TestLanes opens and closes queues one after the other: all use the stream, the handles and the pinned memory of the
// first.
func TestLanes(t *testing.T) {
	c := standin.Open(t)
	d := must.Get(opener(c, standin.Variant{})())(t)
	must.Do(t, uses(d))
	made := []string{"cuStreamCreate", "cublasCreate_v2", "cusolverDnCreate", "cuMemHostAlloc", "cuModuleLoadDataEx"}
	before := map[string]int{}
	for _, name := range made {
		before[name] = c.Calls(name)
	}
	for range 10 {
		must.Do(t, uses(d))
	}
	for _, name := range made {
		must.Equal(t, c.Calls(name)-before[name], 0, "calls of %s for ten more queues", name)
	}
	for _, name := range []string{"cublasDestroy_v2", "cusolverDnDestroy", "cuMemFreeHost", "cuStreamDestroy_v2"} {
		must.Equal(t, c.Calls(name), 0, "calls of %s before the device is closed", name)
	}
	must.Do(t, d.Close())
}

// TestLanesGiveWay lets a device that is short of memory reclaim what closed queues left.
func TestLanesGiveWay(t *testing.T) {
	c := standin.Open(t)
	c.Order("memory=40000000") // a workspace of 32 MiB and little else
	d := must.Get(opener(c, standin.Variant{})())(t)
	defer d.Close()
	must.Do(t, backendtest.RecordedSums(d, 1))
	q := must.Get(d.NewQueue())(t)
	other := must.Get(d.NewQueue())(t) // the first queue has the lane with the workspace
	must.Do(t, q.Close())
	buf := must.Get(other.Alloc(backend.Uint8, 30_000_000))(t)
	buf.Free()
	must.Do(t, backendtest.RecordedSums(d, 1))
}

// TestLaneThatFails ends a queue with an error: its lane is destroyed, not reused.
func TestLaneThatFails(t *testing.T) {
	c := standin.Open(t)
	sleep(t)
	d := must.Get(opener(c, standin.Variant{})())(t)
	must.Do(t, uses(d))
	q := must.Get(d.NewQueue())(t)
	before := c.Calls("cuStreamDestroy_v2")
	c.Fail("cuStreamSynchronize", 1, 1)
	if err := q.Close(); !typed(err) {
		t.Errorf("Close returned %v", err)
	}
	must.Equal(t, c.Calls("cuStreamDestroy_v2")-before, 1, "streams destroyed")
	must.Do(t, uses(d))
	must.Do(t, d.Close())
}

// TestProcess opens a device several times: the driver is told the number of connections before the context is
// retained, the context is retained once, and kernels are compiled once, though no folder caches them.
func TestProcess(t *testing.T) {
	t.Setenv("AMTRL_CUBIN_CACHE", "off")
	t.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "")
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	compiled := 0
	for i := range 3 {
		d := must.Get(dev())(t)
		must.Do(t, uses(d))
		must.Do(t, d.Close())
		if n := c.Calls("nvrtcCompileProgram"); i == 0 {
			compiled = n
		} else if n != compiled {
			t.Errorf("open %d compiles %d sources again", i+1, n-compiled)
		}
	}
	if n := c.Calls("cuDevicePrimaryCtxRetain"); n > 1 {
		t.Errorf("the context is retained %d times", n)
	}
	must.Equal(t, c.Calls("cuDevicePrimaryCtxRelease_v2"), 0, "releases of the context")
	must.Equal(t, c.Connections(), 32, "connections")
	t.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "4")
	must.Do(t, must.Get(dev())(t).Close())
	must.Equal(t, c.Connections(), 4, "connections that were asked for")
}

// giveBack releases all contexts that the process holds.
func giveBack(t *testing.T, c *standin.Control) {
	t.Helper()
	lib, _, err := nv.Open(nv.Options{Dir: c.Dir(standin.Variant{})})
	must.Do(t, err)
	primaries.Lock()
	defer primaries.Unlock()
	for id := range primaries.of {
		must.Do(t, lib.Driver.DevicePrimaryCtxRelease(id))
		delete(primaries.of, id)
	}
}

// TestContexts fails the calls that make the context, and releases the context as another part of the process might.
func TestContexts(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	for _, name := range []string{"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxSetFlags_v2"} {
		giveBack(t, c)
		c.Fail(name, 1, 1)
		if _, err := dev(); !errors.Is(err, backend.ErrUnavailable) || !typed(err) {
			t.Errorf("%s: %v", name, err)
		}
		must.Do(t, must.Get(dev())(t).Close())
	}
	lib, _, err := nv.Open(nv.Options{Dir: c.Dir(standin.Variant{})})
	must.Do(t, err)
	must.Do(t, lib.Driver.DevicePrimaryCtxRelease(0)) // as a reset of the device does
	d := must.Get(dev())(t)
	must.Do(t, uses(d))
	must.Do(t, d.Close())
}

// TestCaptureThatNeedsMore captures a program that has never run, so that the capture needs a new handle and a new
// kernel: it goes on without a graph, and the next run has one.
func TestCaptureThatNeedsMore(t *testing.T) {
	c := standin.Open(t)
	q := openQueue(t, opener(c, standin.Variant{}))
	s := backend.NewScope(q)
	defer s.Close()
	a, b, out := s.Matrix(backend.Float64, 2, 2), s.Matrix(backend.Float64, 2, 2), make([]float64, 2)
	must.Do(t, s.Err())
	must.Do(t, q.Fill(backend.Vec(a.Buf), 1))
	p, err := q.Record(func() error {
		return first(
			func() error { return q.Gemm(false, false, 1, a, a, 0, b) },
			func() error { return q.Dots(b, a.Row(0).Mat(1, a.Cols), out) },
		)
	})
	must.Do(t, err)
	defer p.Free()
	p.(*program).ran = true
	for i := range 3 {
		clear(out)
		must.Do(t, p.Run())
		must.Hold(t, out[0] == 4 && out[1] == 4, "run %d: %v", i, out)
	}
	must.Equal(t, c.Calls("cuGraphLaunch"), 2, "graphs launched")
}

// TestBrokenCaptures refuses captures and breaks them: the work is done without a graph, and the next run tries again.
func TestBrokenCaptures(t *testing.T) {
	for _, name := range []string{"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuLaunchKernel", "cublasDgemm_v2"} {
		for _, code := range []int{900, 901, 906} {
			t.Run(fmt.Sprint(name, " ", code), func(t *testing.T) {
				c := standin.Open(t)
				d := must.Get(opener(c, standin.Variant{})())(t)
				defer d.Close()
				must.Do(t, backendtest.RecordedSums(d, 1))
				launches, calls := c.Calls("cuGraphLaunch"), c.Calls(name)
				must.Do(t, backendtest.RecordedSums(d, 1))
				each := c.Calls(name) - calls
				if got := c.Calls("cuGraphLaunch") - launches; got != 2 {
					t.Fatalf("three runs launch %d graphs", got)
				}
				switch name {
				case "cuLaunchKernel", "cublasDgemm_v2": // in the middle of the capture, as when another call breaks it
					status := map[string]int{"cuLaunchKernel": code, "cublasDgemm_v2": 13}[name]
					c.Fail(name, each*3/4, status)
					c.Fail("cuStreamEndCapture", 1, code)
				default:
					c.Fail(name, 1, code)
				}
				launches = c.Calls("cuGraphLaunch")
				must.Do(t, backendtest.RecordedSums(d, 1))
				must.Equal(t, c.Calls("cuGraphLaunch")-launches, 1, "graphs launched in three runs, the second of which is broken")
				launches = c.Calls("cuGraphLaunch")
				c.FailFrom("cuStreamEndCapture", 1, code)
				must.Do(t, backendtest.RecordedSums(d, 1))
				must.Equal(t, c.Calls("cuGraphLaunch")-launches, 0, "graphs launched where none can be made")
			})
		}
	}
}
