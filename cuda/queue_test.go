//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
	"github.com/amtrl/amtrl/cuda/standin"
	"github.com/amtrl/amtrl/internal/must"
)

// onNewThread runs fn on a thread on which no context is current. The thread ends with fn.
func onNewThread(group *sync.WaitGroup, fn func()) {
	group.Go(func() {
		runtime.LockOSThread()
		fn()
	})
}

// TestTurns makes calls from many goroutines, some of them on new threads: one call runs at a time, each on one thread
// until its end, with the context current.
func TestTurns(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	var on, ran atomic.Int64
	mine := errors.New("mine")
	calls := func(n int) {
		for range n {
			err := b.do("call", func() error {
				if on.Add(1) != 1 {
					t.Error("a call is on beside another one")
				}
				id := syscall.Gettid()
				for range 3 {
					runtime.Gosched()
					if _, _, err := b.lib.Driver.MemGetInfo(); err != nil || syscall.Gettid() != id {
						t.Errorf("from thread %d to %d: %v", id, syscall.Gettid(), err)
					}
				}
				ran.Add(1)
				on.Add(-1)
				return mine
			})
			must.Is(t, err, mine, "do")
		}
	}
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() { calls(100) })
		for range 10 {
			onNewThread(&group, func() { calls(10) })
		}
	}
	group.Wait()
	must.Equal(t, ran.Load(), 6*200, "calls that ran")
}

// TestTurnsEnd makes calls while the queue is closed: each is carried out or refused.
func TestTurnsEnd(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	for range 30 {
		q := b.another(t).(*queue)
		var ran, refused atomic.Int64
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 20 {
					switch err := q.do("call", func() error { ran.Add(1); return q.wait() }); {
					case errors.Is(err, backend.ErrClosed):
						refused.Add(1)
					case err != nil:
						t.Error(err)
					}
				}
			})
		}
		must.Do(t, q.Close())
		group.Wait()
		must.Equal(t, ran.Load()+refused.Load(), 80, "calls that were made or refused")
		must.Is(t, q.do("call", func() error { return nil }), backend.ErrClosed, "a call after Close")
		must.Do(t, q.Close())
	}
}

func TestTurnPanics(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	func() {
		defer func() { must.Equal(t, recover(), any("mine"), "recovered") }()
		_ = b.do("call", func() error { panic("mine") })
	}()
	must.Do(t, works(b))
}

// twoOnAThread opens two devices, with a queue each, on the test's own thread.
func twoOnAThread(t *testing.T, c *standin.Control) (all []*opened) {
	t.Helper()
	c.Order("devices=2")
	dir := c.Dir(standin.Variant{})
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	for i := range 2 {
		all = append(all, must.Get(open(func() (backend.Device, error) { return Open(Options{LibDir: dir, Device: i}) }))(t))
	}
	return all
}

// TestTwoDevicesOnAThread uses two devices alternately on one thread.
func TestTwoDevicesOnAThread(t *testing.T) {
	c := standin.Open(t)
	all := twoOnAThread(t, c)
	for range 3 {
		for _, b := range all {
			must.Do(t, works(b))
		}
	}
	must.Do(t, all[0].queue.Close()) // after a call of the other device
	must.Do(t, errors.Join(works(all[1]), all[0].Close(), works(all[1]), all[1].Close()))
}

// TestLostDeviceOnAThread loses a device whose context is current: the other device goes on working.
func TestLostDeviceOnAThread(t *testing.T) {
	c := standin.Open(t)
	all := twoOnAThread(t, c)
	must.Do(t, uses(all[0].dev))
	c.Order("lost=0:0")
	must.Is(t, works(all[0]), backend.ErrLost, "the one")
	must.Do(t, works(all[1]))
	must.Is(t, works(all[0]), backend.ErrLost, "the one")
	must.Do(t, errors.Join(all[0].Close(), uses(all[1].dev), all[1].Close()))
}

// TestNoContext has a context that cannot be made current once: only that call fails, and a queue and a device can
// still be closed afterwards.
func TestNoContext(t *testing.T) {
	c := standin.Open(t)
	b := openQueue(t, opener(c, standin.Variant{}))
	must.Do(t, works(b))
	other := b.another(t)
	fails := func(what string, f func() error) {
		t.Helper()
		c.Fail("cuCtxSetCurrent", 1, 1)
		if err := f(); !errors.As(err, new(*CallError)) || !typed(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	fails("Synchronize", b.Synchronize)
	fails("NewQueue", func() error { return must.Err(b.dev.NewQueue()) })
	fails("Close of a queue", other.Close)
	must.Is(t, other.Synchronize(), backend.ErrClosed, "Synchronize")
	must.Do(t, errors.Join(other.Close(), works(b)))
	fails("Close of the device", b.Close)
	must.Do(t, errors.Join(works(b), b.Close(), b.Close()))
}

// TestContextThatFailed has a context that cannot be made current because it has failed: the device is lost, and the
// next Open works.
func TestContextThatFailed(t *testing.T) {
	c := standin.Open(t)
	dev := opener(c, standin.Variant{})
	for _, name := range []string{"a call", "Close of the queue", "Close of the device"} {
		b := must.Get(open(dev))(t)
		must.Do(t, works(b))
		c.FailFrom("cuCtxSetCurrent", 1, 719)
		call := map[string]func() error{"a call": b.Synchronize, "Close of the queue": b.queue.Close, "Close of the device": b.Close}[name]
		must.Is(t, call(), backend.ErrLost, "%s", name)
		must.Do(t, errors.Join(b.queue.Close(), b.Close(), b.queue.Close()))
		must.Equal(t, b.dev.Usage(), backend.Usage{}, "held after %s", name)
		c.Reset()
		must.Do(t, must.Get(open(dev))(t).Close())
	}
}

// TestErrorBeforeTheLane explains an error before the queue has a stream that could tell its cause: the error stays as
// it is.
func TestErrorBeforeTheLane(t *testing.T) {
	err := error(&nv.Error{Op: "cublasDestroy_v2", Code: 13})
	must.Is(t, new(queue).explain(err), err, "explain")
}

// BenchmarkCall measures a call that asks nothing of the device.
func BenchmarkCall(b *testing.B) {
	c := standin.Open(b)
	q := must.Get(open(opener(c, standin.Variant{})))(b)
	defer q.Close()
	nothing := func() error { return nil }
	for b.Loop() {
		if err := q.do("nothing", nothing); err != nil {
			b.Fatal(err)
		}
	}
}
