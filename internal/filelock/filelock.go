// Package filelock locks files and folders for one process at a time. The kernel releases a lock with the process that
// holds it, however the process ends. On a network file system a lock may hold only between the processes of one machine.
package filelock

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked means that another process, or another lock of this process, holds the file or folder.
var ErrLocked = errors.New("in use by another process or another call")

// Folder locks the folder dir until unlock or the end of the process. The lock is on the folder itself and leaves no file behind. The
// error wraps [ErrLocked] if another process has locked the folder. Where folders cannot be locked, there is no lock and no error.
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

// File locks the file at path, which it makes if there is none, until unlock or the end of the process. A symbolic link
// is refused. The error is [ErrLocked] if another process has locked the file. It wraps [errors.ErrUnsupported] if the
// file system has no locks; unlock must be called then too.
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

// IsLocked reports whether a process has locked the file at path. It needs only the permission to read the file, and
// processes that ask at the same time do not mistake each other for a holder.
func IsLocked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|safeOpen, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(lockShared(f), ErrLocked)
}
