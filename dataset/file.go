package dataset

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// openRegular opens a file that has a size to hold its header against; a pipe
// or a device has none, and may never end.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: expected a regular file, found %s", path, info.Mode())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// fault is an error at a byte of a file.
func fault(path string, offset int64, expected, found string, args ...any) error {
	return fmt.Errorf("%s: byte %d: expected "+expected+", found "+found, append([]any{path, offset}, args...)...)
}

// sameContent tells whether a file holds exactly these bytes. There may be no
// such file.
func sameContent(path string, content ...[]byte) (exists, same bool, err error) {
	f, size, err := openRegular(path)
	if os.IsNotExist(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	defer f.Close()
	for _, c := range content {
		size -= int64(len(c))
	}
	if size != 0 {
		return true, false, nil
	}
	buf := make([]byte, 64<<10)
	for _, c := range content {
		for len(c) > 0 {
			part := buf[:min(len(buf), len(c))]
			if _, err := io.ReadFull(f, part); err != nil {
				return true, false, fmt.Errorf("%s: %w", path, err)
			}
			if !bytes.Equal(part, c[:len(part)]) {
				return true, false, nil
			}
			c = c[len(part):]
		}
	}
	return true, true, nil
}
