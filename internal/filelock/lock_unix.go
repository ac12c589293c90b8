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

// Lock locks an open file until it is closed, without waiting. The error is [ErrLocked] if another process has locked
// it, and wraps [errors.ErrUnsupported] if the file system has no locks.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// lockShared is Lock for a lock that several processes can share.
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
