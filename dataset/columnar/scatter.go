package columnar

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/internal/npy"
)

// scatter writes an NPY file whose rows arrive in any order of the sources and are stored sorted by source. Rows wait in a buffer for each
// source.
type scatter struct {
	file *os.File
	data int64    // byte of the file at which the rows begin
	size int      // bytes per row
	next []int64  // by source: the row of the file that its buffer begins with
	end  []int64  // by source: the row of the file behind its last
	buf  [][]byte // by source
	most int      // bytes per buffer
	// draft says that the file is written over after close, so that it need not reach the disk.
	draft bool
}

// The buffers of one file take at most bufferBytes together, and each at most maxBuffer bytes.
const (
	bufferBytes = 64 << 20
	maxBuffer   = 1 << 20
)

// newScatter creates the file of an array that has rows[i] rows of source i.
func newScatter(dir, name, descr string, size int, rows []int64, shape ...int) (*scatter, error) {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	total := int64(0)
	s := &scatter{file: f, size: size, buf: make([][]byte, len(rows))}
	for _, n := range rows {
		s.next = append(s.next, total)
		total += n
		s.end = append(s.end, total)
	}
	header := npy.FormatHeader(descr, append([]int{int(total)}, shape...)...)
	s.data = int64(len(header))
	s.most = min(maxBuffer, bufferBytes/len(rows)) / size * size
	if _, err := f.Write(header); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// add appends whole rows of a source.
func (s *scatter) add(source int, raw []byte) error {
	if len(s.buf[source])+len(raw) > s.most {
		if err := s.flush(source); err != nil {
			return err
		}
		if len(raw) > s.most {
			return s.write(source, raw)
		}
	}
	s.buf[source] = append(s.buf[source], raw...)
	return nil
}

func (s *scatter) flush(source int) error {
	err := s.write(source, s.buf[source])
	s.buf[source] = s.buf[source][:0]
	return err
}

func (s *scatter) write(source int, raw []byte) error {
	n := int64(len(raw) / s.size)
	if s.next[source]+n > s.end[source] {
		return errChanged
	}
	_, err := s.file.WriteAt(raw, s.data+s.next[source]*int64(s.size))
	s.next[source] += n
	return err
}

var errChanged = fmt.Errorf("the files have changed while they were read: import them again")

// close writes the rows in the buffers and closes the file. It is an error where rows are missing.
func (s *scatter) close() error {
	defer s.file.Close()
	for i := range s.buf {
		if err := s.flush(i); err != nil {
			return err
		}
		if s.next[i] != s.end[i] {
			return errChanged
		}
	}
	if s.draft {
		return nil
	}
	return s.file.Sync()
}
