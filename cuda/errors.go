//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// LostError is a device that no call can use any more: a kernel failed on it, or
// it fell off the bus. Every later call on any queue of the device returns the
// same one; only a new process, at times a reset of the device, helps.
type LostError struct {
	// Op is the operation that met it, which need not be the one that caused it.
	Op  string
	Err error
}

func (e *LostError) Error() string { return fmt.Sprintf("%s: the device is lost: %v", e.Op, e.Err) }

func (e *LostError) Unwrap() error { return e.Err }

// Is makes it match [backend.ErrLost].
func (e *LostError) Is(target error) bool { return target == backend.ErrLost }

// CallError is a call of a CUDA library that failed in an operation.
type CallError struct {
	Op  string
	Err error
}

func (e *CallError) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *CallError) Unwrap() error { return e.Err }

// wrapError says in the contract's terms what went wrong in an operation, and keeps
// what ends the device.
func (d *device) wrapError(op string, err error) error {
	var call *nv.Error
	switch {
	case err == nil || !errors.As(err, &call):
		return err
	case ends(call):
		d.lost.CompareAndSwap(nil, &LostError{op, err})
		return d.lost.Load()
	case errors.As(err, new(*backend.OutOfMemoryError)):
		return err
	case errors.Is(err, nv.ErrOutOfMemory):
		return &CallError{op, fmt.Errorf("%w: %w", backend.ErrOutOfMemory, err)}
	}
	return &CallError{op, err}
}

// Codes of cuda.h after which a context is of no use, beside those of a failed
// kernel: the driver is being unloaded, the device is busy or gone, the context
// was destroyed, and the one for all that has no code.
var ending = []int{4, 46, 201, 709, 999}

// ends says whether a call's error ends the device.
func ends(e *nv.Error) bool {
	return errors.Is(e, nv.ErrDeviceLost) || ofDriver(e) && slices.Contains(ending, e.Code)
}

func ofDriver(e *nv.Error) bool {
	return strings.HasPrefix(e.Op, "cu") && !strings.HasPrefix(e.Op, "cublas") && !strings.HasPrefix(e.Op, "cusolver")
}

// explain lets the driver say what is behind a failure that a library reports: to
// cuBLAS and cuSOLVER a device that is lost is a call that failed.
func (q *queue) explain(err error) error {
	var call *nv.Error
	if err == nil || !errors.As(err, &call) || ofDriver(call) || q.lane == nil {
		return err
	}
	var cause *nv.Error
	if errors.As(q.lib.Driver.StreamSynchronize(q.stream), &cause) && ends(cause) {
		return fmt.Errorf("%w; %s failed", cause, call.Op)
	}
	return err
}
