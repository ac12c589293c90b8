package dataset

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/amtrl/amtrl/internal/datafile"
)

// sameContent reports whether a file exists, and whether it holds exactly the given content, one slice after the other.
func sameContent(path string, content ...[]byte) (exists, same bool, err error) {
	f, size, err := datafile.Open(path)
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
		for want := range slices.Chunk(c, len(buf)) {
			found := buf[:len(want)]
			if _, err := io.ReadFull(f, found); err != nil {
				return true, false, fmt.Errorf("%s: %w", path, err)
			}
			if !bytes.Equal(found, want) {
				return true, false, nil
			}
		}
	}
	return true, true, nil
}
