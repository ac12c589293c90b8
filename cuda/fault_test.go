//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// typed reports whether an error holds the failed call of a library.
func typed(err error) bool { return errors.As(err, new(*nv.Error)) }

// TestEveryCallFails fails the first, second, middle and last call of each function that the scenario makes, once. The
// operation that made the call must return an error, and later calls must work or return the same error.
func TestEveryCallFails(t *testing.T) {
	c := standin.Open(t)
	sleep(t)
	dev := opener(c, standin.Variant{})
	end := func(b *opened) {
		must.Do(t, b.Close())
	}
	run := func() { // run once to fill the caches of code
		b, err := scenario(dev)
		if err == nil {
			err = works(b)
		}
		must.Do(t, err)
		end(b)
	}
	run()
	c.Reset()
	run()
	calls := c.Functions()
	for _, name := range []string{"cuGraphLaunch", "cuStreamWaitEvent", "cublasDtrsm_v2", "cusolverDnDpotrf", "cusolverDnDgesvd"} {
		if calls[name] == 0 {
			t.Errorf("the scenario leaves out %s, which is some of what it is for: %v", name, calls)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		n := calls[name]
		for _, nth := range slices.Compact([]int{1, min(2, n), (n + 1) / 2, n}) {
			what := fmt.Sprintf("call %d of %d of %s", nth, n, name)
			soon(t, what, func() {
				c.Reset()
				c.Fail(name, nth, 0)
				b, err := scenario(dev)
				without := false // whether a graph was given up because the call failed in its capture
				if b != nil {
					without = GraphsOf(b.dev).Failed > 0
					again := works(b)
					if err == nil && again != nil {
						err, again = again, works(b)
					}
					if again != nil {
						if lost := new(LostError); !errors.As(again, &lost) || !errors.Is(err, lost) {
							t.Errorf("%s: the scenario returned %v, and a call after it %v", what, err, again)
						}
					}
					if closeErr := b.Close(); err == nil {
						err = closeErr
					}
					if err := b.Close(); err != nil {
						t.Errorf("%s: the second Close returned %v", what, err)
					}
				}
				if !typed(err) && !optional[name] && !without {
					t.Errorf("%s: expected an error of the library, found %T: %v", what, err, err)
				}
			})
			c.Check()
			if t.Failed() {
				t.Fatal(what)
			}
		}
	}
}

// sleep makes waits sleep instead of polling, so that the number of calls is the same each time.
func sleep(t *testing.T) { spin(t, 0) }

// spin sets how long waits poll, until the test ends.
func spin(t *testing.T, long time.Duration) {
	usual := spinFor
	spinFor = long
	t.Cleanup(func() { spinFor = usual })
}

// TestQueries checks how often a wait for long work queries the driver.
func TestQueries(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	buf := must.Get(b.Alloc(backend.Float32, 4))(t)
	defer buf.Free()
	spin(t, 20*time.Millisecond)
	flag := new(uint32)
	wait := func(flag *uint32) (done bool) {
		must.Do(t, b.do("wait", func() (err error) {
			done, err = b.spin(flag)
			return err
		}))
		return done
	}
	for _, x := range []struct {
		flag  *uint32
		every time.Duration
	}{{flag, askFlagged}, {nil, askUnflagged}} {
		for range 4000 { // a query of the stand-in does one of these
			must.Do(t, b.Fill(backend.Vec(buf), 1))
		}
		before, start := c.Calls("cuStreamQuery"), time.Now()
		done := wait(x.flag)
		took, asked := time.Since(start), c.Calls("cuStreamQuery")-before
		must.Hold(t, !done && asked > 0 && asked <= int(took/x.every)+1, "asked %d times in %v, every %v; done: %v", asked, took, x.every, done)
		must.Do(t, b.Synchronize())
	}
	*flag = 1
	before := c.Calls("cuStreamQuery")
	must.Hold(t, wait(flag), "a flag that is set ends no wait")
	must.Equal(t, c.Calls("cuStreamQuery"), before, "queries where the flag is set")
}

// TestQueryFails lets a wait poll and the query fail.
func TestQueryFails(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	spin(t, time.Minute)
	c.Fail("cuStreamQuery", 1, 0)
	if err := works(b); !typed(err) {
		t.Errorf("found %v", err)
	}
	if err := works(b); err != nil {
		t.Error(err)
	}
}

// optional lists functions that the backend can do without, and after whose failure it goes on.
var optional = map[string]bool{
	"cuGetErrorName": true, "cuGetErrorString": true, "cublasGetStatusName": true, "cublasGetStatusString": true, "nvrtcGetErrorString": true,
	"cuCtxSetCurrent":            true, // sets no context after each call
	"cuDevicePrimaryCtxGetState": true, // tells whether flags can be set
	"cuEventRecord":              true, // without it a block of another queue is not reused
	"cuStreamWaitEvent":          true,
	"cuGraphExecDestroy":         true, // tried again when the queue ends
	"cuGraphDestroy":             true,
}

// TestOutOfMemory fails each allocation once, which the backend makes good, and for ever.
func TestOutOfMemory(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	const outOfMemory = 2
	for nth := 1; ; nth++ {
		c.Reset()
		c.Fail("cuMemAlloc_v2", nth, outOfMemory)
		b, err := scenario(dev)
		if err != nil {
			t.Fatalf("allocation %d fails once: %v", nth, err)
		}
		made := c.Calls("cuMemAlloc_v2")
		must.Do(t, b.Close())
		if made < nth {
			break
		}
		c.Reset()
		c.FailFrom("cuMemAlloc_v2", nth, outOfMemory)
		b, err = scenario(dev)
		if !errors.Is(err, backend.ErrOutOfMemory) {
			t.Fatalf("allocations from %d on fail: %v", nth, err)
		}
		if b != nil {
			must.Do(t, b.Close())
		}
		c.Check()
	}
}

// TestLibraryOutOfMemory has a library that cannot allocate its work space, once, which the backend makes good, and for
// ever.
func TestLibraryOutOfMemory(t *testing.T) {
	c := standin.Open(t)
	for _, x := range []struct {
		name string
		code int
		want error
	}{ // codes of ALLOC_FAILED and NOT_INITIALIZED
		{"cublasCreate_v2", 3, nv.ErrOutOfMemory}, {"cublasCreate_v2", 1, nv.ErrNoHandle},
		{"cusolverDnCreate", 2, nv.ErrOutOfMemory}, {"cusolverDnCreate", 1, nv.ErrNoHandle},
		{"cusolverDnDgesvd", 2, nv.ErrOutOfMemory}, {"cuModuleLoadDataEx", 2, nv.ErrOutOfMemory},
		{"cuStreamCreate", 2, nv.ErrOutOfMemory}, {"cuLaunchKernel", 2, nv.ErrOutOfMemory}, {"cuGraphLaunch", 2, nil}, // done without one
	} {
		c.Reset()
		c.Fail(x.name, 1, x.code)
		b, err := scenario(opener(c, standin.Variant{}))
		if err != nil {
			t.Errorf("%s fails once with %d: %v", x.name, x.code, err)
		}
		must.Do(t, errors.Join(works(b), b.Close()))
		b = openQueue(t, opener(c, standin.Variant{}))
		c.FailFrom(x.name, 1, x.code)
		_, err = work(b)
		q, queueErr := b.dev.NewQueue()
		if err = errors.Join(err, queueErr); !errors.Is(err, x.want) || typed(err) != (x.want != nil) ||
			errors.Is(err, nv.ErrOutOfMemory) != errors.Is(err, backend.ErrOutOfMemory) {
			t.Errorf("%s fails for ever with %d: %v", x.name, x.code, err)
		}
		if queueErr == nil {
			must.Do(t, q.Close())
		}
		c.Reset()
		must.Do(t, errors.Join(works(b), b.Close()))
		c.Check()
	}
}

// TestMemoryLimit fills a small device: cached blocks are returned to the driver before an allocation is refused, and
// the error holds the sizes.
func TestMemoryLimit(t *testing.T) {
	c := standin.Open(t)
	c.Order("memory=67108864")
	b := openQueue(t, opener(c, standin.Variant{}))
	for _, mib := range []int{10, 20, 30, 40, 50} { // each of another size and freed before the next
		buf, err := b.Alloc(backend.Uint8, mib<<20)
		if err != nil {
			t.Fatalf("%d MiB: %v", mib, err)
		}
		buf.Free()
	}
	buf := must.Get(b.Alloc(backend.Uint8, 40<<20))(t)
	_, err := b.Alloc(backend.Float32, 10<<20)
	var oom *backend.OutOfMemoryError
	if !errors.As(err, &oom) || oom.Asked != 40<<20 || oom.Free <= 0 || oom.Free > 24<<20 || oom.HeldByUs < 40<<20 || oom.HeldByUs > 64<<20 {
		t.Errorf("40 MiB of 64 beside 40: %+v", err)
	}
	buf.Free()
	if buf, err = b.Alloc(backend.Float32, 10<<20); err != nil {
		t.Errorf("40 MiB of 64 after freeing 40: %v", err)
	} else {
		buf.Free()
	}
}

// TestPageable takes pinned memory away: the backend goes on with pageable memory.
func TestPageable(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	for nth := 1; nth <= 3; nth++ {
		c.Reset()
		c.FailFrom("cuMemHostAlloc", nth, 2)
		b, err := scenario(dev)
		if err == nil {
			err = works(b)
		}
		if err != nil {
			t.Errorf("pinned allocations from %d on fail: %v", nth, err)
		}
		if b != nil {
			b.Close()
		}
	}
}

// TestDeviceLost fails work on the device, or loses the device. The first call that notices it and all later calls
// return the same error.
func TestDeviceLost(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	b := must.Get(scenario(dev))(t)
	work := c.Work()
	b.Close()
	check := func(what string, b *opened, err error) {
		t.Helper()
		var lost *LostError
		if b == nil { // failed in Open
			if !typed(err) {
				t.Errorf("%s: %v", what, err)
			}
			return
		}
		if !errors.As(err, &lost) || !errors.Is(err, backend.ErrLost) || !typed(err) {
			t.Errorf("%s: expected a *LostError, found %T: %v", what, err, err)
		}
		for range 2 {
			must.Equal(t, works(b), error(lost), "%s: %v, and after that", what, err)
			if again := b.SolveSPD(0, 0, 0, nil, nil); again != error(lost) { // even for bad arguments
				t.Errorf("%s: %v, and SolveSPD after that %v", what, err, again)
			}
			if _, again := b.dev.NewQueue(); again != error(lost) {
				t.Errorf("%s: %v, and NewQueue after that %v", what, err, again)
			}
		}
		if u := b.dev.Usage(); u.Buffers != 0 {
			t.Errorf("%s: %+v is held", what, u)
		}
		if err := b.Close(); err != nil {
			t.Errorf("%s: Close: %v", what, err)
		}
	}
	for _, code := range []int{700, 719} {
		for nth := 1; nth <= work; nth += max(1, work/23) {
			what := fmt.Sprintf("piece of work %d of %d fails with %d", nth, work, code)
			soon(t, what, func() {
				c.Reset()
				c.FailWork(nth, code)
				b, err := scenario(dev)
				check(what, b, err)
			})
			c.Check()
		}
	}
	c.Reset()
	b = must.Get(open(dev))(t)
	must.Do(t, works(b))
	c.Lose()
	check("the device goes away", b, works(b))
}

// TestLaunchFails refuses a launch: only that call returns an error.
func TestLaunchFails(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	buf := must.Get(b.Alloc(backend.Float32, 4))(t)
	defer buf.Free()
	c.Fail("cuLaunchKernel", 1, 701) // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
	err := b.Fill(backend.Vec(buf), 1)
	var call *nv.Error
	if !errors.As(err, &call) || call.Code != 701 || errors.As(err, new(*LostError)) {
		t.Errorf("found %v", err)
	}
	if err := works(b); err != nil {
		t.Error(err)
	}
}
