package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// A file may promise at most maxInflation times the bytes that it takes on disk,
// or freeInflation where that is more: compressed, with holes, or both. Images
// and labels compress by a factor of 2 to 20, so that what exceeds this was made
// to fill the memory, or has holes that somebody meant to fill. A file without
// holes and compression may have any size.
const (
	maxInflation  = 100
	freeInflation = 16 << 20
)

// mayBecome is how many bytes may come of a file that takes n.
func mayBecome(n int64) int64 {
	return max(freeInflation, min(n, math.MaxInt64/maxInflation)*maxInflation)
}

// openRegular opens a file that has a size to hold its header against and that
// is not made of holes.
func openRegular(path string) (*os.File, int64, error) {
	f, size, err := atomicfile.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		if stored, ok := atomicfile.Stored(info); ok && size > mayBecome(stored) {
			err = fmt.Errorf("%s: expected data, found a file of %d bytes with only %d on disk and holes for the rest "+
				"(cp --sparse=never fills them)", path, size, stored)
		}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, size, nil
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
