//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// queue implements backend.Queue: it takes one call at a time and issues the work to its lane.
type queue struct {
	dev    *device
	lib    *nv.Library // the device's
	closed atomic.Bool
	// recording is the program that receives the commands in place of the stream; nil where none is
	// being recorded.
	recording atomic.Pointer[program]
	settled   bool // guarded by pool.mu: all work is done and the stream is about to be given up
	scratch   sharing

	mu    sync.Mutex // held by the running call, which alone uses the fields below
	ended bool
	*lane
	capturing         bool // the stream is being captured into a graph
	graphs            map[*program]nv.GraphExec
	undestroyedGraphs []nv.Graph // captured graphs that could not be destroyed after use

	deadMu sync.Mutex
	dead   []*program // freed programs whose graphs are still to be destroyed
}

var _ backend.Queue = (*queue)(nil)

func startQueue(d *device) (*queue, error) {
	q := &queue{dev: d, lib: d.lib, graphs: make(map[*program]nv.GraphExec)}
	err := q.do("NewQueue", func() error {
		return q.again(func() (err error) {
			q.lane, err = d.newLane()
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	d.enter(q)
	return q, nil
}

func (q *queue) Device() backend.Device { return q.dev }

// ready returns an error where the queue is closed or its device is lost.
func (q *queue) ready() error {
	if q.closed.Load() {
		return backend.ErrClosed
	}
	if lost := q.dev.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// do runs fn, which makes the library calls of operation op, in the queue's turn. fn must not call
// do.
func (q *queue) do(op string, fn func() error) error {
	return q.dev.wrapError(op, q.turn(fn))
}

func (q *queue) turn(fn func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return backend.ErrClosed
	}
	if lost := q.dev.lost.Load(); lost != nil {
		return lost
	}
	return q.dev.current(func() error {
		q.destroyFreed()
		return q.explain(fn())
	})
}

// submit issues a command, or adds it to the program that is being recorded.
func (q *queue) submit(c *checker, cmd *command) error {
	if p := q.recording.Load(); p != nil {
		p.add(c.uses, cmd)
		return nil
	}
	var p plan
	p.add(cmd)
	if err := p.check(); err != nil {
		return err
	}
	return q.do(c.Op, func() error {
		if n := p.ioBytes() + p.scratch; n > 0 {
			b, err := q.take(c.Op, n)
			if err != nil {
				return err
			}
			defer q.dev.pool.give(b, q)
			p.first, p.common = b.addr, b.addr+nv.DevicePtr(p.ioBytes())
		}
		return q.run(&p, p.emit)
	})
}

// run copies a plan's inputs to the device, issues its work and fetches its outputs.
func (q *queue) run(p *plan, issue func(*queue) error) error {
	if err := q.send(p); err != nil {
		return err
	}
	if err := issue(q); err != nil {
		return err
	}
	return q.fetch(p)
}

func (q *queue) Synchronize() error {
	c := q.checkUnrecordable("Synchronize")
	if c.Err != nil {
		return c.Err
	}
	return q.do(c.Op, q.wait)
}

func (q *queue) Close() error {
	if q.recording.Load() != nil {
		return q.checkUnrecordable("Close").Err
	}
	return q.close()
}

// close ends the queue. What it holds on a lost device is left to the device's Close.
func (q *queue) close() error {
	q.closed.Store(true)
	if q.dev.lost.Load() != nil {
		return nil
	}
	return q.dev.closing(q.dev.current(func() error { return q.end((*queue).retire) }))
}

// end runs last as the queue's last turn, unless the queue has ended already.
func (q *queue) end(last func(*queue) error) error {
	q.closed.Store(true)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return nil
	}
	q.ended = true
	return last(q)
}

// retire waits for the queue's work and leaves the lane to another queue, or destroys the lane
// where something failed.
func (q *queue) retire() error {
	driver := q.lib.Driver
	err := q.wait()
	for p, g := range q.graphs {
		err = errors.Join(err, driver.GraphExecDestroy(g))
		delete(q.graphs, p)
	}
	for _, g := range q.undestroyedGraphs {
		err = errors.Join(err, driver.GraphDestroy(g))
	}
	q.undestroyedGraphs = nil
	q.dev.pool.settle(q)
	// From here on purge must not wait for the stream.
	q.dev.leave(q, err == nil)
	if err != nil {
		err = errors.Join(err, q.lane.destroy(q.dev))
	}
	return err
}
