// Package datafile opens files that somebody else wrote, within bounds.
package datafile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/amtrl/amtrl/internal/atomicfile"
)

// A file may claim to hold at most MaxInflation times the bytes that it takes on disk, or freeInflation if that is more, whether
// it is compressed, has holes, or both. Images and labels compress by a factor of 2 to 20, so a file that exceeds this was made
// to fill the memory, or has holes that somebody meant to fill. A file without holes and compression may have any size.
const (
	MaxInflation  = 100
	freeInflation = 16 << 20
)

// MayBecome returns how many bytes a file that takes n bytes may expand to.
func MayBecome(n int64) int64 {
	return max(freeInflation, min(n, math.MaxInt64/MaxInflation)*MaxInflation)
}

// Open opens the regular file at path and returns its size, which a header can be checked against. A file that consists
// mostly of holes is an error.
func Open(path string) (*os.File, int64, error) {
	f, size, err := atomicfile.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		if stored, ok := atomicfile.Stored(info); ok && size > MayBecome(stored) {
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

// Fault returns an error at a byte of a file. expected and found are formats, in this order, for args.
func Fault(path string, offset int64, expected, found string, args ...any) error {
	return fmt.Errorf("%s: byte %d: expected "+expected+", found "+found, append([]any{path, offset}, args...)...)
}

// EndsEarly reports whether a read met the end of the file.
func EndsEarly(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
