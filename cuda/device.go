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

// device implements backend.Device: the primary context, the memory and the
// compiled kernels, which its queues share.
type device struct {
	lib   *nv.Library
	id    nv.Device
	ctx   *primary
	tf32  bool
	info  backend.Info
	about DeviceInfo

	pool pool
	// slab bounds the rows that are streamed at a time. withheld is memory that pools and
	// rows leave alone as if another process had it. Tests set them.
	slab, withheld int64
	kernels        modules
	counted        graphCount
	lost           atomic.Pointer[LostError]

	// life is held for reading while a queue is made, for writing by Close.
	life   sync.RWMutex
	closed bool

	mu     sync.Mutex
	queues []*queue
	idle   []*lane         // of queues that have ended
	live   map[owned]int64 // bytes of each thing not yet freed
	held   int64           // their sum
}

var _ backend.Device = (*device)(nil)

// owned is what counts in Usage and is freed when the device is closed.
type owned interface{ Free() }

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

func (d *device) graphs() Graphs { return d.counted.get() }

// dropAll frees what is still live.
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

// Close ends the queues and then what they share. The context stays, unless it is
// lost. Where it cannot be made current nothing is done, and Close may be called again.
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

// closing is the error of a Close: what a lost device cannot give back has gone
// with it, and the loss has been reported.
func (d *device) closing(err error) error {
	var call *nv.Error
	if d.lost.Load() != nil && errors.As(err, &call) {
		return nil
	}
	return d.wrapError("Close", err)
}

// destroy gives back what the device holds when all queues have ended.
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

// leave takes out a queue that has ended, and keeps its lane for another one.
func (d *device) leave(q *queue, keep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if keep {
		q.staging.pageable = false // pinned memory may be had the next time
		d.idle = append(d.idle, q.lane)
	}
	d.queues = slices.DeleteFunc(d.queues, func(o *queue) bool { return o == q })
}
