// Package filelock takes files and folders for one process at a time. The
// kernel gives a lock back with the process that holds it, however it ends. On
// a network file system a lock may hold between the processes of one machine
// only.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked says that another process, or another lock of this one, holds it.
var ErrLocked = errors.New("in use by another process")

// Folder takes the folder dir until unlock or the end of the process. The lock
// is on the folder itself and leaves no file behind. The error wraps
// [ErrLocked] where another process has the folder. Where folders cannot be
// locked, there is no lock and no error.
func Folder(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	switch err := Lock(f); {
	case err == nil:
		return func() { f.Close() }, nil
	case errors.Is(err, ErrLocked):
		f.Close()
		return nil, fmt.Errorf("%s is %w", dir, err)
	case !supported:
		f.Close()
		return func() {}, nil
	default:
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
}

// File takes the file at path, which it makes, until unlock or the end of the
// process. A symbolic link is refused. The error is [ErrLocked] where another
// process has the file. It wraps [errors.ErrUnsupported] where the file system
// has no locks; unlock must be called then too.
func File(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|safeOpen, 0o644)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s: expected a regular file to lock", path))
	}
	switch err := Lock(f); {
	case err == nil:
		return func() { f.Close() }, nil
	case errors.Is(err, ErrLocked):
		f.Close()
		return nil, ErrLocked
	case errors.Is(err, errors.ErrUnsupported):
		return func() { f.Close() }, fmt.Errorf("locking %s: %w", path, errors.ErrUnsupported)
	default:
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
}
