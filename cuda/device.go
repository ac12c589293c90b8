//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// device implements backend.Device. Its queues share the primary context, the memory pool and the
// compiled kernels.
type device struct {
	lib   *nv.Library
	id    nv.Device
	ctx   *primary
	tf32  bool
	info  backend.Info
	about DeviceInfo

	pool pool
	// slab is the largest size in bytes of a slab of streamed rows. withheld is a number of bytes
	// that pools and rows leave free, as if another process held them. Tests set both.
	slab, withheld int64
	kernels        modules
	counted        graphCount
	lost           atomic.Pointer[LostError]

	// life is held for reading while a queue is created, and for writing by Close.
	life   sync.RWMutex
	closed bool

	mu     sync.Mutex
	queues []*queue
	idle   []*lane         // left by queues that have ended
	live   map[owned]int64 // bytes of each object not yet freed
	held   int64           // their sum
}

var _ backend.Device = (*device)(nil)

// owned is an object that Usage counts and that is freed when the device is closed.
type owned interface{ Free() }

// register adds o to the table of live objects.
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

// Usage returns the number of live buffers, samples and programs, and the bytes asked for them.
func (d *device) Usage() backend.Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return backend.Usage{Buffers: len(d.live), Bytes: d.held}
}

func (d *device) Info() backend.Info { return d.info }

func (d *device) graphs() Graphs { return d.counted.get() }

// dropAll frees all live objects.
func (d *device) dropAll() {
	d.mu.Lock()
	live := d.live
	d.live, d.held = make(map[owned]int64), 0
	d.mu.Unlock()
	for o := range live {
		o.Free()
	}
}

func (d *device) NewQueue() (backend.Queue, error) {
	d.life.RLock()
	defer d.life.RUnlock()
	if d.closed {
		return nil, backend.ErrClosed
	}
	if lost := d.lost.Load(); lost != nil {
		return nil, lost
	}
	q, err := startQueue(d)
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Close ends the queues and then frees what they share. The context stays retained, unless it is
// lost. Where the context cannot be made current, Close frees nothing and may be called again.
func (d *device) Close() error {
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return nil
	}
	err := d.current(func() error {
		d.closed = true
		return errors.Join(d.endQueues((*queue).retire), d.closing(d.destroy()))
	})
	if !d.closed {
		err = d.closing(err)
	}
	if d.lost.Load() != nil {
		d.closed = true
		_ = d.endQueues(func(*queue) error { return nil })
		d.dropAll()
		_ = d.ctx.abandon(d.lib.Driver)
	}
	return err
}

func (d *device) endQueues(last func(*queue) error) (errs error) {
	d.mu.Lock()
	queues := slices.Clone(d.queues)
	d.mu.Unlock()
	for _, q := range queues {
		errs = errors.Join(errs, d.closing(q.end(last)))
	}
	return errs
}

// closing returns the error of a Close. After the loss of the device it drops errors of library
// calls: what they could not free has gone with the device, and the loss has been reported.
func (d *device) closing(err error) error {
	var call *nv.Error
	if d.lost.Load() != nil && errors.As(err, &call) {
		return nil
	}
	return d.wrapError("Close", err)
}

// destroy frees what the device holds, once all queues have ended.
func (d *device) destroy() error {
	var first error
	note := func(err error) {
		if first == nil && d.lost.Load() == nil {
			first = err
		}
	}
	d.dropAll()
	note(d.destroyIdle())
	note(d.ctx.whole(d.kernels.unload))
	note(d.ctx.whole(func() error { return d.pool.purge(func() error { return nil }) })) // no queue is left
	return first
}

func (d *device) enter(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = append(d.queues, q)
}

// leave removes a queue that has ended, and if keep is set keeps its lane for another queue.
func (d *device) leave(q *queue, keep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if keep {
		q.staging.pageable = false // pinned memory may be available next time
		d.idle = append(d.idle, q.lane)
	}
	d.queues = slices.DeleteFunc(d.queues, func(o *queue) bool { return o == q })
}
