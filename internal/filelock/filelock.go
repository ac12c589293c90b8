// Package filelock takes files and folders for one process at a time. The kernel gives a lock back with the process
// that holds it, however it ends. On a network file system a lock may hold between the processes of one machine only.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked says that another process, or another lock of this one, holds it.
var ErrLocked = errors.New("in use by another process")

// Folder takes the folder dir until unlock or the end of the process. The lock is on the folder itself and leaves no
// file behind. The error wraps [ErrLocked] where another process has the folder. Where folders cannot be locked, there
// is no lock and no error.
func Folder(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err = Lock(f); err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	switch {
	case errors.Is(err, ErrLocked):
		return nil, fmt.Errorf("%s is %w", dir, err)
	case !supported:
		return func() {}, nil
	}
	return nil, fmt.Errorf("locking %s: %w", dir, err)
}

// File takes the file at path, which it makes, until unlock or the end of the process. A symbolic link is refused. The
// error is [ErrLocked] where another process has the file. It wraps [errors.ErrUnsupported] where the file system has
// no locks; unlock must be called then too.
func File(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|safeOpen, 0o644)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%s: expected a regular file to lock", path))
	}
	unlock = func() { f.Close() }
	switch err = Lock(f); {
	case err == nil:
		return unlock, nil
	case errors.Is(err, errors.ErrUnsupported):
		return unlock, fmt.Errorf("locking %s: %w", path, errors.ErrUnsupported)
	case !errors.Is(err, ErrLocked):
		err = fmt.Errorf("locking %s: %w", path, err)
	}
	unlock()
	return nil, err
}

// IsLocked says whether a process has the file at path. It needs leave to read the file alone, and several that ask at the
// same time do not take each other for one that has it.
func IsLocked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|safeOpen, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lockShared(f), ErrLocked)
}
