//go:build unix

package filelock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	supported = true
	safeOpen  = unix.O_NOFOLLOW | unix.O_NONBLOCK
)

// Lock takes an open file until it is closed, without waiting. The error is [ErrLocked] where another process has it,
// and wraps [errors.ErrUnsupported] where the file system has no locks.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// lockShared is Lock beside others that share it.
func lockShared(f *os.File) error { return flock(f, unix.LOCK_SH) }

func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, unix.ENOLCK):
			return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
		default:
			return err
		}
	}
}
