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

// LostError reports a device that no call can use any more: a kernel failed on it, or it fell off
// the bus. Every later call on any queue of the device returns the same error; only a new process
// or, at times, a reset of the device helps.
type LostError struct {
	// Op is the operation that met the failure, which need not be the one that caused it.
	Op  string
	Err error
}

func (e *LostError) Error() string { return fmt.Sprintf("%s: the device is lost: %v", e.Op, e.Err) }

func (e *LostError) Unwrap() error { return e.Err }

// Is reports whether target is [backend.ErrLost].
func (e *LostError) Is(target error) bool { return target == backend.ErrLost }

// CallError reports a failed call of a CUDA library in operation Op.
type CallError struct {
	Op  string
	Err error
}

func (e *CallError) Error() string { return e.Op + ": " + e.Err.Error() }

func (e *CallError) Unwrap() error { return e.Err }

// wrapError converts the error of a library call in operation op to an error of the backend
// contract, and records the first failure that ends the device. It returns any other error as it
// is.
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

// ending lists the codes of cuda.h, besides those of a failed kernel, after which a context is of
// no use: the driver is being unloaded (4), the device is busy or gone (46), the context is invalid
// or was destroyed (201, 709), and the unknown error (999).
var ending = []int{4, 46, 201, 709, 999}

// ends reports whether the error of a call ends the device's context.
func ends(e *nv.Error) bool {
	return errors.Is(e, nv.ErrDeviceLost) || ofDriver(e) && slices.Contains(ending, e.Code)
}

func ofDriver(e *nv.Error) bool {
	return strings.HasPrefix(e.Op, "cu") && !strings.HasPrefix(e.Op, "cublas") && !strings.HasPrefix(e.Op, "cusolver")
}

// explain asks the driver for the cause of a failure that a library reports, since cuBLAS and
// cuSOLVER report a lost device only as a failed call. It returns the driver's error where that
// ends the context, else err.
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
