package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/amtrl/amtrl/internal/datafile"
)

// inflated is a decompressed stream that fails if it becomes longer than [datafile.MayBecome] allows. Its errors do not name the file.
type inflated struct {
	limited io.Reader
	all     io.ReadCloser
	format  string // gzip or zstd
	size    int64  // of the file
}

// inflated returns a stream of a format that is decompressed from the file.
func (t *base) inflated(format string, all io.ReadCloser) inflated {
	return inflated{io.LimitReader(all, datafile.MayBecome(t.size)), all, format, t.size}
}

// errTruncated is the error of a stream that ends early.
func errTruncated(format string) error {
	return fmt.Errorf("expected a complete %s stream, found a truncated one", format)
}

func (r inflated) Read(p []byte) (int, error) {
	n, err := r.limited.Read(p)
	switch {
	case err == nil || n > 0 && err == io.EOF:
		return n, err
	case err == io.ErrUnexpectedEOF:
		return n, errTruncated(r.format)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch): // the first header was read before
		return n, fmt.Errorf("expected the end of the file behind the %s stream, found other bytes", r.format)
	case err != io.EOF:
		return n, fmt.Errorf("expected a %s stream, found a damaged one: %w", r.format, err)
	}
	var one [1]byte
	if more, _ := r.all.Read(one[:]); more > 0 {
		return 0, fmt.Errorf("expected at most %d bytes of a compressed file of %d, found more", datafile.MayBecome(r.size), r.size)
	}
	return 0, io.EOF
}

func (r inflated) Close() error { return r.all.Close() }
