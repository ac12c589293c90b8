package atomicfile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens the regular file at path for reading and returns its size. A
// symbolic link is followed. It never waits for the other end of a pipe.
func Open(path string) (f *os.File, size int64, err error) {
	if err := fail(OpRead, path); err != nil {
		return nil, 0, err
	}
	f, info, err := openRegular(path, os.O_RDONLY, os.Stat)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// OpenFile opens the regular file at path with the flags of [os.OpenFile], for
// writing. A symbolic link, a pipe or a device in its place is an error.
func OpenFile(path string, flag int) (*os.File, error) {
	f, _, err := openRegular(path, flag|noFollow, os.Lstat)
	return f, err
}

// openRegular opens the regular file at path. It calls stat before it opens, since opening a device may have effects.
func openRegular(path string, flag int, stat func(string) (fs.FileInfo, error)) (*os.File, fs.FileInfo, error) {
	if info, err := stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, notRegular(path, info)
	}
	f, err := os.OpenFile(path, flag|nonBlocking, 0o644)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadFile reads the regular file at path. More than limit bytes are an error, whatever size the file claims to have.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, size, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var raw bytes.Buffer
	if size <= limit {
		raw.Grow(int(size) + bytes.MinRead)
		size, err = raw.ReadFrom(io.LimitReader(f, limit+1)) // it may have grown, or have no size, as in /proc
	}
	if err == nil && size > limit {
		err = fmt.Errorf("%s: expected a file of at most %d bytes, found more", path, limit)
	}
	if err != nil {
		return nil, err
	}
	return raw.Bytes(), nil
}

func notRegular(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s: expected a regular file, found %s", path, describe(info.Mode()))
}

func describe(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return mode.String()
}
