//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// lane is what a queue computes with: a stream, and what belongs to it. When the
// queue is closed another one takes it over: to make and destroy it would make the
// whole device wait each time.
type lane struct {
	stream    nv.Stream
	event     nv.Event // for follow
	staging   staging
	blas      nv.BLASHandle
	workspace block
	solver    nv.SolverHandle
}

// newLane returns a lane that is idle, or makes one.
func (d *device) newLane() (*lane, error) {
	d.mu.Lock()
	if n := len(d.idle); n > 0 {
		l := d.idle[n-1]
		d.idle = d.idle[:n-1]
		d.mu.Unlock()
		return l, nil
	}
	d.mu.Unlock()
	l, driver := new(lane), d.lib.Driver
	var err error
	if l.stream, err = driver.StreamCreate(nv.StreamNonBlocking); err != nil {
		return nil, err
	}
	if l.event, err = driver.EventCreate(nv.EventDisableTiming); err != nil {
		return nil, errors.Join(err, driver.StreamDestroy(l.stream))
	}
	return l, nil
}

// destroy gives back what a lane holds, whose work is done.
func (l *lane) destroy(d *device) error {
	return d.ctx.whole(func() (errs error) {
		note := func(err error) { errs = errors.Join(errs, err) }
		if l.solver != 0 {
			note(d.lib.Solver.Destroy(l.solver))
		}
		if l.blas != 0 {
			note(d.lib.BLAS.Destroy(l.blas))
		}
		d.pool.give(l.workspace, nil)
		note(l.unpin(d.lib.Driver))
		note(d.lib.Driver.EventDestroy(l.event))
		note(d.lib.Driver.StreamDestroy(l.stream))
		return errs
	})
}

// destroyIdle destroys the lanes that no queue has.
func (d *device) destroyIdle() (errs error) {
	d.mu.Lock()
	idle := d.idle
	d.idle = nil
	d.mu.Unlock()
	for _, l := range idle {
		errs = errors.Join(errs, l.destroy(d))
	}
	return errs
}
