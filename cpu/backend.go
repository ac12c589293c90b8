// Package cpu is the backend that is always there: gonum for the small
// factorisations, package vec for the passes over the data, and a fixed
// division of every operation into chunks, so that results are the same bytes
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

// device implements backend.Backend.
type device struct {
	threads int
	memory  int64 // bytes of main memory that buffers may take
	closed  atomic.Bool
	scratch scratch

	mu   sync.Mutex
	live map[owned]int64 // bytes of each buffer and sample set not yet freed
	held int64           // their sum
}

// owned is what the device frees when it is closed.
type owned interface{ drop() }

var _ backend.Backend = (*device)(nil)

// Open returns a CPU backend whose calls use at most threads threads each;
// threads <= 0 stands for GOMAXPROCS. It always succeeds.
func Open(threads int) (backend.Backend, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	d := &device{threads: threads, memory: memoryLimit(), live: make(map[owned]int64)}
	if d.memory == 0 {
		d.memory = unknownMemory
	}
	return d, nil
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

// Synchronize has nothing to wait for: every call returns finished.
func (d *device) Synchronize() error {
	if d.closed.Load() {
		return backend.ErrClosed
	}
	return nil
}

func (d *device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for o := range d.live {
		o.drop()
	}
	d.live, d.held = nil, 0
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
