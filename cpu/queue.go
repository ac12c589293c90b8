package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
)

// queue implements backend.Queue. The work of every call is done when the call returns, so that there is nothing to
// wait for.
type queue struct {
	dev     *device
	closed  atomic.Bool
	running atomic.Bool // whether a program runs
}

var _ backend.Queue = (*queue)(nil)

func (q *queue) Device() backend.Device { return q.dev }

// ready returns [backend.ErrClosed] if the queue or its device has been closed.
func (q *queue) ready() error {
	if q.dev.closed.Load() || q.closed.Load() {
		return backend.ErrClosed
	}
	return nil
}

func (q *queue) Synchronize() error {
	c := q.checkNow("Synchronize")
	return c.Err
}

func (q *queue) Close() error {
	if err := q.refuseRecorded("Close"); err != nil {
		return err
	}
	q.closed.Store(true)
	return nil
}

// program implements backend.Program by calling the recorded function.
type program struct {
	q     *queue
	fn    func() error
	freed atomic.Bool
}

func (q *queue) Record(fn func() error) (backend.Program, error) {
	c := q.checkNow("Record")
	if fn == nil {
		c.Failf("fn", "expected a function, found nil")
	}
	if c.Err != nil {
		return nil, c.Err
	}
	p := &program{q: q, fn: fn}
	if err := q.dev.register(c.Op, p, 0); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *program) Run() error {
	c := p.q.checkNow("Run")
	if p.freed.Load() {
		c.Failf("program", "has been freed")
	}
	if c.Err != nil {
		return c.Err
	}
	p.q.running.Store(true)
	defer p.q.running.Store(false)
	return p.fn()
}

func (p *program) Free() {
	if p != nil && !p.freed.Swap(true) {
		p.q.dev.release(p)
	}
}

// refuseRecorded returns an error if the operation is called within a program.
func (q *queue) refuseRecorded(op string) error {
	if q.running.Load() {
		return fmt.Errorf("%s %w", op, backend.ErrRecording)
	}
	return nil
}
