//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"runtime"
	"sync"

	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// primary is the primary context of a device, with the gate that keeps apart the captures and the
// context-wide calls of all its users.
type primary struct {
	*gate
	handle nv.Context
	id     nv.Device
}

// primaries holds the contexts that this process has retained. Each is retained once, for the life
// of the process: creating one takes a good part of a second.
var primaries = struct {
	sync.Mutex
	of map[nv.Device]*primary
}{of: make(map[nv.Device]*primary)}

// retain returns the primary context of device id. It retains the context where primaries does not
// hold it, or where it is no longer active.
func retain(lib *nv.Library, id nv.Device) (*primary, error) {
	primaries.Lock()
	defer primaries.Unlock()
	_, active, stateErr := lib.Driver.DevicePrimaryCtxGetState(id)
	if p := primaries.of[id]; p != nil && (stateErr != nil || active) {
		return p, nil
	}
	// With this flag a wait blocks in place of spinning, which leaves the core to others. Where
	// another part of the process has created the context, its flags stand.
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

// current runs fn with the device's context current on the calling OS thread, as the driver and the
// libraries require. It locks the goroutine to the thread, as it could otherwise move to another
// between any two calls; so a capture begins and ends on one thread. Afterwards no context is
// current: the thread's next call may concern another device, and must not meet the errors of this
// one.
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

// abandon releases a lost context. The driver destroys it when its last holder releases it: where a
// library or another part of the process still holds it, the next [Open] gets the same context, and
// only another process gets a new one.
func (p *primary) abandon(driver *nv.Driver) error {
	primaries.Lock()
	defer primaries.Unlock()
	if primaries.of[p.id] != p {
		return nil
	}
	delete(primaries.of, p.id)
	return driver.DevicePrimaryCtxRelease(p.id)
}
