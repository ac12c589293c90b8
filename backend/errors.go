package backend

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by every call on a closed device or queue.
var ErrClosed = errors.New("device or queue is closed")

// ErrRecording is wrapped by an operation that cannot be part of a [Program].
var ErrRecording = errors.New("cannot be recorded")

// ErrLost is matched by the error of a device that no call can use any more, as when it fell off its bus. All
// later calls on the device return such an error; other devices go on.
var ErrLost = errors.New("the device is lost")

// ErrOutOfMemory is matched by every [*OutOfMemoryError].
var ErrOutOfMemory = errors.New("out of device memory")

// ArgumentError is a bug of the caller: a shape, a dtype, a range or the
// ownership of a buffer.
type ArgumentError struct {
	Op, Arg, Reason string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: argument %s %s", e.Op, e.Arg, e.Reason)
}

// NotPositiveDefiniteError says which block of a batched Cholesky
// factorisation failed, and at which leading minor.
type NotPositiveDefiniteError struct {
	Op           string
	Block, Order int
}

func (e *NotPositiveDefiniteError) Error() string {
	return fmt.Sprintf("%s: block %d is not positive definite at order %d", e.Op, e.Block, e.Order)
}

// NonFiniteError is a NaN or an infinity in a matrix to be factorised.
type NonFiniteError struct {
	Op       string
	Row, Col int
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("%s: element (%d, %d) is not finite", e.Op, e.Row, e.Col)
}

// ConvergenceError is an iterative factorisation that did not converge.
type ConvergenceError struct {
	Op string
}

func (e *ConvergenceError) Error() string { return e.Op + ": did not converge" }

// OutOfMemoryError says how much was asked for and how much there was.
type OutOfMemoryError struct {
	Op                    string
	Asked, Free, HeldByUs int64
}

func (e *OutOfMemoryError) Error() string {
	return fmt.Sprintf("%s: out of device memory: asked for %d bytes, %d free, %d held by this process", e.Op, e.Asked, e.Free, e.HeldByUs)
}

// Is makes errors.Is(err, ErrOutOfMemory) hold.
func (e *OutOfMemoryError) Is(target error) bool { return target == ErrOutOfMemory }
