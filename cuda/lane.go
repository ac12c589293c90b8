//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// lane holds what a queue computes with: a stream and what belongs to it. A closed queue leaves its
// lane to another queue: creating and destroying lanes would make the whole device wait each time.
type lane struct {
	stream    nv.Stream
	event     nv.Event // for follow
	staging   staging
	blas      nv.BLASHandle
	workspace block
	solver    nv.SolverHandle
}

// newLane returns an idle lane, or a new one where none is idle.
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

// destroy frees what a lane holds. Its work must be done.
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

// destroyIdle destroys the lanes that no queue uses.
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
