package backend

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by every call on a closed device or queue.
var ErrClosed = errors.New("device or queue is closed")

// ErrRecording is wrapped by the error of a call that cannot be part of a [Program].
var ErrRecording = errors.New("cannot be recorded")

// ErrLost is matched by the error of a device that can no longer be used, for instance because it fell off its bus. All
// later calls on the device return such an error; other devices go on.
var ErrLost = errors.New("the device is lost")

// ErrOutOfMemory is matched by every [*OutOfMemoryError].
var ErrOutOfMemory = errors.New("out of device memory")

// ArgumentError reports a bug of the caller: a wrong shape, dtype or range, or a buffer that the call must not be
// given.
type ArgumentError struct {
	Op, Arg, Reason string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: argument %s %s", e.Op, e.Arg, e.Reason)
}

// NotPositiveDefiniteError reports which block of a batched Cholesky factorisation failed, and at which leading minor.
type NotPositiveDefiniteError struct {
	Op           string
	Block, Order int
}

func (e *NotPositiveDefiniteError) Error() string {
	return fmt.Sprintf("%s: block %d is not positive definite at order %d", e.Op, e.Block, e.Order)
}

// NonFiniteError reports a NaN or an infinity in a matrix to be factorised.
type NonFiniteError struct {
	Op       string
	Row, Col int
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("%s: element (%d, %d) is not finite", e.Op, e.Row, e.Col)
}

// ConvergenceError reports an iterative factorisation that did not converge.
type ConvergenceError struct {
	Op string
}

func (e *ConvergenceError) Error() string { return e.Op + ": did not converge" }

// OutOfMemoryError reports an allocation that failed, with numbers of bytes: how many were asked for, how many were
// free, and how many this process held.
type OutOfMemoryError struct {
	Op                    string
	Asked, Free, HeldByUs int64
}

func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("%s: out of device memory: asked for %d bytes, %d free, %d held by this process", e.Op, e.Asked, e.Free, e.HeldByUs)
}

// Is makes errors.Is(err, ErrOutOfMemory) hold.
func (e *OutOfMemoryError) Is(target error) bool { return target == ErrOutOfMemory }
