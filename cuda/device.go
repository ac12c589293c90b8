//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// device is what the queues of a backend share: the primary context, the memory
// and the compiled kernels.
type device struct {
	lib   *nv.Library
	id    nv.Device
	ctx   nv.Context
	tf32  bool
	info  backend.Info
	about DeviceInfo

	pool    pool
	kernels modules
	lost    atomic.Pointer[LostError]

	// quiet is held while a stream collects a graph: meanwhile none may be waited
	// for and none may be told to wait.
	quiet sync.Mutex

	// open is held for reading while a queue is made.
	open  sync.RWMutex
	ended bool

	mu     sync.Mutex
	queues []*queue
	live   map[owned]int64 // bytes of each thing not yet freed
	held   int64           // their sum
}

// owned is what counts in Usage and goes when the device is closed.
type owned interface{ drop() }

// register enters o in the table of what is live.
func (d *device) register(o owned, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.live[o] = bytes
	d.held += bytes
}

func (d *device) release(o owned) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held -= d.live[o]
	delete(d.live, o)
}

// Usage counts buffers, samples and programs, by the bytes asked for.
func (d *device) Usage() backend.Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return backend.Usage{Buffers: len(d.live), Bytes: d.held}
}

func (d *device) Info() backend.Info { return d.info }

// dropAll frees what is still live.
func (d *device) dropAll() {
	d.mu.Lock()
	live := d.live
	d.live, d.held = make(map[owned]int64), 0
	d.mu.Unlock()
	for o := range live {
		o.drop()
	}
}

// destroy gives back what the device holds, on the root's thread, when all queues
// have ended. A context that is lost takes the memory with it.
func (d *device) destroy() error {
	var first error
	try := func(err error) {
		if first == nil && d.lost.Load() == nil {
			first = err
		}
	}
	d.dropAll()
	try(d.kernels.unload())
	try(d.pool.purge())
	driver := d.lib.Driver
	try(driver.CtxSetCurrent(0))
	try(driver.DevicePrimaryCtxRelease(d.id))
	return first
}

// forks are the queues but for one.
func (d *device) forks(root *queue) []*queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.queues), func(q *queue) bool { return q == root })
}

func (d *device) enter(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = append(d.queues, q)
}

func (d *device) leave(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = slices.DeleteFunc(d.queues, func(o *queue) bool { return o == q })
}
