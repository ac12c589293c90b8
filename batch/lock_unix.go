//go:build unix

package batch

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// LockFile locks a file, which it makes, until unlock or the end of the
// process. The error is ErrLocked where another process has it, and
// [errors.ErrUnsupported] where the file system has no locks; unlock is then of
// use all the same.
func LockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		return func() { f.Close() }, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, ErrLocked
	case errors.Is(err, unix.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return func() { f.Close() }, fmt.Errorf("locking %s: %w", path, errors.ErrUnsupported)
	default:
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
}
