// Package cpu is the backend that is always available. It has gonum for the small factorisations and package vec for
// the passes over the data, and divides every operation into chunks in a fixed way, so that results are the same bytes
// for any number of threads.
package cpu

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// device implements backend.Device with the main memory, which its queues share.
type device struct {
	threads int
	scratch scratch
	limit   int64                                   // bytes of main memory that buffers may take
	lookup  func(backend.Buffer) (*storage, string) // the method resolve, bound once

	closed atomic.Bool

	mu   sync.Mutex
	live map[owned]int64 // bytes of everything that is not yet freed
	held int64           // the sum of these bytes
}

// owned is a buffer, a sample set or a program: it counts in Usage and is freed when the device is closed.
type owned interface{ Free() }

var _ backend.Device = (*device)(nil)

// Open returns a CPU device whose calls use at most threads threads each, and so does what package pipeline computes
// beside it, except for products of [BLAS], which has a number of its own. threads <= 0 stands for GOMAXPROCS. Open always
// succeeds.
func Open(threads int) (backend.Device, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	d := &device{threads: threads, limit: memoryLimit(), live: make(map[owned]int64)}
	if d.limit == 0 {
		d.limit = unknownMemory
	}
	d.lookup = d.resolve
	return d, nil
}

// unknownMemory is the limit on a machine whose memory is unknown. The Go runtime panics when asked for much more,
// instead of failing.
const unknownMemory = 1 << 46

func (d *device) Info() backend.Info {
	name := cpuid.CPU.BrandName
	if name == "" {
		name = runtime.GOARCH
	}
	return backend.Info{
		Backend:     "cpu",
		Device:      name,
		Detail:      "gonum " + gonumVersion() + ", " + vec.Level(),
		Precision:   "float32, float64 for reductions and solves",
		Threads:     d.threads,
		MemoryBytes: memoryLimit(),
	}
}

func (d *device) NewQueue() (backend.Queue, error) {
	q := &queue{dev: d}
	if err := q.ready(); err != nil {
		return nil, err
	}
	return q, nil
}

func (d *device) Usage() backend.Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return backend.Usage{Buffers: len(d.live), Bytes: d.held}
}

// register adds o to the table of live memory, or returns an error: a request for more memory than the machine has must
// fail here and not end the process.
func (d *device) register(op string, o owned, bytes int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		return backend.ErrClosed
	}
	if free := d.limit - d.held; bytes > free {
		return &backend.OutOfMemoryError{Op: op, Asked: bytes, Free: max(0, free), HeldByUs: d.held}
	}
	d.live[o] = bytes
	d.held += bytes
	return nil
}

func (d *device) release(o owned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= d.live[o]
	delete(d.live, o)
}

// Close frees all memory; later calls return [backend.ErrClosed].
func (d *device) Close() error {
	d.mu.Lock()
	d.closed.Store(true)
	live := d.live
	d.live, d.held = nil, 0
	d.mu.Unlock()
	for o := range live {
		o.Free()
	}
	return nil
}

// gonumVersion returns the version of gonum that is linked in; a test binary does not record it.
func gonumVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "gonum.org/v1/gonum" {
				return m.Version
			}
		}
	}
	return "of unknown version"
}
