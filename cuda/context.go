//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"runtime"
	"sync"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// primary is the primary context of a device, with what keeps apart the calls that
// all its users make.
type primary struct {
	*gate
	handle nv.Context
	id     nv.Device
}

// primaries are the contexts that this process holds. Each is retained once and for
// the life of the process: to make one takes a good part of a second.
var primaries = struct {
	sync.Mutex
	of map[nv.Device]*primary
}{of: make(map[nv.Device]*primary)}

// retain returns the primary context of a device.
func retain(lib *nv.Library, id nv.Device) (*primary, error) {
	primaries.Lock()
	defer primaries.Unlock()
	_, active, stateErr := lib.Driver.DevicePrimaryCtxGetState(id)
	if p := primaries.of[id]; p != nil && (stateErr != nil || active) {
		return p, nil
	}
	// A wait that blocks instead of spinning leaves the core to others. Where
	// another part of the process has made the context, its flags stand.
	if stateErr == nil && !active {
		if err := lib.Driver.DevicePrimaryCtxSetFlags(id, nv.CtxSchedBlockingSync); err != nil && !errors.Is(err, nv.ErrAbsent) {
			return nil, err
		}
	}
	handle, err := lib.Driver.DevicePrimaryCtxRetain(id)
	if err != nil {
		return nil, err
	}
	p := &primary{newGate(), handle, id}
	primaries.of[id] = p
	return p, nil
}

// current runs fn on an OS thread on which the device's context is current, as the
// driver and the libraries need it: a goroutine may move between any two calls. So a
// capture begins and ends on one thread. Afterwards none is: the thread's next call may
// be another device's, and must not meet the errors of this one.
func (d *device) current(fn func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	driver := d.lib.Driver
	if err := driver.CtxSetCurrent(d.ctx.handle); err != nil {
		return err
	}
	defer func() { _ = driver.CtxSetCurrent(0) }()
	return fn()
}

// abandon gives a context back that is lost. The driver ends it with its last holder: where
// a library or another part of the process holds it too, the next [Open] meets it again,
// and only another process has a new one.
func (p *primary) abandon(driver *nv.Driver) error {
	primaries.Lock()
	defer primaries.Unlock()
	if primaries.of[p.id] != p {
		return nil
	}
	delete(primaries.of, p.id)
	return driver.DevicePrimaryCtxRelease(p.id)
}
