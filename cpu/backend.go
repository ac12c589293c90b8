// Package cpu is the backend that is always there: gonum for the small
// factorisations, package vec for the passes over the data, and a fixed
// division of every operation into chunks, so that results are the same bytes
// for any number of threads.
package cpu

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// device implements backend.Backend: one queue, and the memory that it shares
// with its forks. Every call returns finished, so that a queue holds nothing.
type device struct {
	*memory
	threads   int
	scratch   *scratch
	root      bool
	closed    atomic.Bool
	recording atomic.Bool // while a program runs
}

var _ backend.Backend = (*device)(nil)

// Open returns a CPU backend whose calls use at most threads threads each;
// threads <= 0 stands for GOMAXPROCS. It always succeeds.
func Open(threads int) (backend.Backend, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	m := &memory{limit: memoryLimit(), live: make(map[owned]int64)}
	if m.limit == 0 {
		m.limit = unknownMemory
	}
	m.lookup = m.resolve
	return &device{memory: m, threads: threads, scratch: new(scratch), root: true}, nil
}

// unknownMemory stands for the memory of a machine that does not tell. The Go
// runtime panics when asked for much more, instead of failing.
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
		Threads:     d.threads,
		MemoryBytes: memoryLimit(),
	}
}

// ended reports that the queue or the device has been closed.
func (d *device) ended() error {
	if d.memory.closed.Load() || d.closed.Load() {
		return backend.ErrClosed
	}
	return nil
}

// Fork returns a view of the same device.
func (d *device) Fork() (backend.Backend, error) {
	if c := d.checkNow("Fork"); c.Err != nil {
		return nil, c.Err
	}
	return &device{memory: d.memory, threads: d.threads, scratch: d.scratch}, nil
}

// Synchronize has nothing to wait for.
func (d *device) Synchronize() error {
	c := d.checkNow("Synchronize")
	return c.Err
}

func (d *device) Close() error {
	if d.recording.Load() {
		return d.recorded("Close")
	}
	if !d.closed.Swap(true) && d.root {
		d.memory.close()
	}
	return nil
}

// gonumVersion is the version linked in; a test binary does not record it.
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
