//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// program implements backend.Program: it keeps the commands of the recorded function. The first run
// issues them one by one, which loads all kernels and prepares the libraries for these shapes.
// Later runs launch a graph captured from the stream, where the driver has graphs and no call that
// breaks captures is on. Where the graph fails, for whatever reason but the loss of the device, the
// work is issued as in the first run.
//
// Inputs are copied from pinned memory to the program's own before the launch, and outputs back
// after it. So a run need not wait for the one before: inputs that the device has not yet read are
// not overwritten.
type program struct {
	q     *queue
	plan  plan
	uses  map[*storage]bool
	block block // of inputs and outputs
	temp  *shared
	// Used in the queue's turns alone: ran reports whether the program has run, and broken is the
	// number of times that its graph could not be made or launched.
	ran           bool
	graphFailures int
	freed         atomic.Bool
}

func (p *program) add(uses []*storage, c *command) {
	for _, s := range uses {
		p.uses[s] = true
	}
	p.plan.add(c)
}

func (q *queue) Record(fn func() error) (backend.Program, error) {
	c := q.checkUnrecordable("Record")
	if fn == nil {
		c.Failf("fn", "expected a function, found nil")
	}
	if c.Err != nil {
		return nil, c.Err
	}
	p := &program{q: q, uses: make(map[*storage]bool)}
	if err := q.record(p, fn); err != nil {
		return nil, err
	}
	err := q.do(c.Op, func() (err error) {
		if p.temp, err = q.share(c.Op, p.plan.scratch); err != nil {
			return err
		}
		if p.block, err = q.take(c.Op, p.plan.ioBytes()); err != nil {
			q.unshare(p.temp)
			return err
		}
		p.plan.first = p.block.addr
		if p.temp != nil {
			p.plan.common = p.temp.block.addr
		}
		q.dev.register(p, 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// record runs fn, whose operations add their commands to p.
func (q *queue) record(p *program, fn func() error) error {
	q.recording.Store(p)
	defer q.recording.Store(nil)
	return fn()
}

func (p *program) Run() error {
	q := p.q
	c := q.checkUnrecordable("Run")
	if p.freed.Load() {
		c.Failf("program", "has been freed")
	}
	for s := range p.uses {
		if s.freed.Load() {
			c.Failf("program", "uses a buffer that has been freed")
			break
		}
	}
	if c.Err != nil {
		return c.Err
	}
	if err := p.plan.check(); err != nil {
		return err
	}
	return q.do(c.Op, func() error { return q.run(&p.plan, p.issue) })
}

// maxGraphFailures is the number of failures after which a program's graph is no longer tried: something
// else in the process broke the capture, there was no memory, or the driver refused.
const maxGraphFailures = 3

// issue puts the commands on the stream, as a graph where that works.
func (p *program) issue(q *queue) error {
	if p.ran && q.lib.Driver.HasGraphs && len(p.plan.commands) > 0 {
		g, ok := q.graphs[p]
		if !ok && p.graphFailures < maxGraphFailures {
			var err error
			if g, err = p.collect(q); err != nil {
				return err
			}
		}
		if g != 0 {
			q.graphs[p] = g
			err := q.again(func() error { return q.lib.Driver.GraphLaunch(g, q.stream) })
			if err == nil {
				q.dev.counted.launched()
				return nil
			}
			if fatal(err) {
				return err
			}
			p.fails(err)
			q.destroyGraph(p)
		}
	}
	err := p.plan.emit(q)
	p.ran = p.ran || err == nil
	return err
}

// fatal reports whether work cannot be issued without a graph either after err.
func fatal(err error) bool {
	var call *nv.Error
	return errors.As(err, &call) && ends(call)
}

// fails counts a graph that could not be made or launched.
func (p *program) fails(err error) {
	p.graphFailures++
	if !errors.Is(err, errStreamed) {
		p.q.dev.counted.failed(err)
	}
}

// collect returns a graph of the commands, or 0 where none can be made now. It returns an error
// only where the device is lost.
func (p *program) collect(q *queue) (nv.GraphExec, error) {
	if !q.dev.ctx.capture() {
		return 0, nil
	}
	g, err := p.capture(q)
	q.dev.ctx.captured()
	d := q.lib.Driver
	var exec nv.GraphExec
	if err == nil {
		err = q.again(func() (err error) {
			exec, err = d.GraphInstantiate(g, 0)
			return err
		})
	}
	if g != 0 && d.GraphDestroy(g) != nil {
		q.undestroyedGraphs = append(q.undestroyedGraphs, g)
	}
	switch {
	case err == nil:
		q.dev.counted.collected()
	case fatal(err):
		return 0, err
	default:
		p.fails(err)
		exec = 0
	}
	return exec, nil
}

// capture captures the commands from the stream. Where the capture was broken it returns that
// error, which describes the failure of the first command that failed but does not wrap it.
func (p *program) capture(q *queue) (nv.Graph, error) {
	d := q.lib.Driver
	if err := d.StreamBeginCapture(q.stream, nv.CaptureThreadLocal); err != nil {
		return 0, err
	}
	q.capturing = true
	err := p.plan.emit(q)
	q.capturing = false
	g, endErr := d.StreamEndCapture(q.stream)
	switch {
	case err == nil:
		err = endErr
	case errors.Is(endErr, nv.ErrCapture):
		err = fmt.Errorf("%w, after %v", endErr, err)
	}
	return g, err
}

// Free leaves the graph to be destroyed by the queue's next call; a graph that is running ends
// first.
func (p *program) Free() {
	if p == nil || p.freed.Swap(true) {
		return
	}
	p.q.dev.release(p)
	p.q.dev.pool.give(p.block, p.q)
	p.q.unshare(p.temp)
	p.q.deadMu.Lock()
	defer p.q.deadMu.Unlock()
	p.q.dead = append(p.q.dead, p)
}

// destroyFreed destroys the graphs of freed programs, in the queue's turn.
func (q *queue) destroyFreed() {
	q.deadMu.Lock()
	dead := q.dead
	q.dead = nil
	q.deadMu.Unlock()
	for _, p := range dead {
		q.destroyGraph(p)
	}
}

// destroyGraph destroys a program's graph, if it has one.
func (q *queue) destroyGraph(p *program) {
	if g, ok := q.graphs[p]; ok && q.lib.Driver.GraphExecDestroy(g) == nil { // else retire tries again
		delete(q.graphs, p)
	}
}
