//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/must"
)

// TestThread runs jobs from many goroutines: all on one OS thread, one at a time.
func TestThread(t *testing.T) {
	th := startThread()
	var id, on, ran atomic.Int64
	first := func() error { id.Store(int64(syscall.Gettid())); return nil }
	must.Do(t, th.do(first))
	mine := errors.New("mine")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				err := th.do(func() error {
					if on.Add(1) != 1 || int64(syscall.Gettid()) != id.Load() {
						t.Error("a job runs beside another one or on another thread")
					}
					ran.Add(1)
					on.Add(-1)
					return mine
				})
				must.Is(t, err, mine, "do")
			}
		})
	}
	wg.Wait()
	must.Equal(t, ran.Load(), 8*200, "jobs that ran")
	last := false
	if err := th.stop(func() error { last = true; return mine }); !errors.Is(err, mine) || !last {
		t.Errorf("stop returned %v, its job ran: %v", err, last)
	}
	must.Do(t, th.stop(func() error { return mine }))
	must.Is(t, th.do(first), backend.ErrClosed, "do after stop")
}

// TestThreadStops races stop with do: every call returns, and a job is run or
// refused.
func TestThreadStops(t *testing.T) {
	for range 50 {
		th := startThread()
		var ran, refused atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					switch err := th.do(func() error { ran.Add(1); return nil }); {
					case errors.Is(err, backend.ErrClosed):
						refused.Add(1)
					case err != nil:
						t.Error(err)
					}
				}
			})
		}
		if err := th.stop(func() error { return nil }); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if ran.Load()+refused.Load() != 80 {
			t.Fatalf("%d jobs ran and %d were refused, of 80", ran.Load(), refused.Load())
		}
	}
}

func TestThreadPanic(t *testing.T) {
	th := startThread()
	func() {
		defer func() {
			if v, ok := recover().(string); !ok || !strings.HasPrefix(v, "mine, on") || !strings.Contains(v, "TestThreadPanic") {
				t.Errorf("recovered %v", v)
			}
		}()
		_ = th.do(func() error { panic("mine") })
	}()
	must.Do(t, th.do(func() error { return nil }))
	if err := th.stop(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
