//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cuda/internal/nv"
)

// LostError is a device that no call can use any more: a kernel failed on it, or
// it fell off the bus. Every later call on any queue of the backend returns the
// same one; only a new process, at times a reset of the device, helps.
type LostError struct {
	// Op is the operation that met it, which need not be the one that caused it.
	Op  string
	Err error
}

func (e *LostError) Error() string { return fmt.Sprintf("%s: the device is lost: %v", e.Op, e.Err) }

func (e *LostError) Unwrap() error { return e.Err }

// CallError is a call of a CUDA library that failed in an operation.
type CallError struct {
	Op  string
	Err error
}

func (e *CallError) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *CallError) Unwrap() error { return e.Err }

// judge says in the backend's terms what went wrong in an operation, and keeps
// what ends the device.
func (d *device) judge(op string, err error) error {
	if err == nil || errors.Is(err, backend.ErrClosed) {
		return err
	}
	if errors.Is(err, nv.ErrDeviceLost) {
		d.lost.CompareAndSwap(nil, &LostError{op, err})
		return d.lost.Load()
	}
	var call *nv.Error
	if !errors.As(err, &call) || errors.As(err, new(*backend.OutOfMemoryError)) {
		return err
	}
	if errors.Is(err, nv.ErrOutOfMemory) {
		return &CallError{op, fmt.Errorf("%w: %w", backend.ErrOutOfMemory, err)}
	}
	return &CallError{op, err}
}
