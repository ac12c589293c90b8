package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/x448/float16"
)

// npyArray is an open NPY file whose header has been checked against its size:
// elements may be allocated for.
type npyArray struct {
	npyHeader
	path string
	r    io.Reader
	file io.Closer // of r, where openNPY opened it
	size int       // bytes of an element
	cols int       // elements of a row
}

// npySizes are the element types that are read, with their sizes in bytes.
var npySizes = map[string]int{"|u1": 1, "<i4": 4, "<i8": 8, "<f2": 2, "<f4": 4, "<f8": 8}

// newNPYArray reads the header of the NPY file of the given size in bytes and
// refuses what is not a little-endian C-order array of a known type, of at
// least one element, that fills the file exactly.
func newNPYArray(path string, r io.Reader, size int64) (*npyArray, error) {
	h, err := readNPYHeader(path, r)
	if err != nil {
		return nil, err
	}
	a := &npyArray{npyHeader: h, path: path, r: r, size: npySizes[h.descr], cols: 1}
	if a.size == 0 {
		return nil, fmt.Errorf("%s: expected element type |u1, <i4, <i8, <f2, <f4 or <f8 (little-endian), found %q", path, h.descr)
	}
	if h.fortran {
		return nil, fmt.Errorf("%s: expected C order, found Fortran order (numpy.ascontiguousarray converts it)", path)
	}
	if len(h.shape) == 0 {
		return nil, fmt.Errorf("%s: expected an array of rows, found a scalar", path)
	}
	for i, d := range h.shape {
		if d < 1 || d > math.MaxInt32 {
			return nil, fmt.Errorf("%s: expected dimensions of 1 to %d, found shape %v", path, math.MaxInt32, h.shape)
		}
		if i > 0 {
			a.cols *= d
		}
	}
	held := size - h.data
	switch want := int64(a.rows()) * int64(a.cols); {
	case want > math.MaxInt64/int64(a.size) || want*int64(a.size) > held:
		return nil, fault(path, h.data, "%d elements of %d bytes for shape %v", "%d bytes", want, a.size, h.shape, held)
	case want*int64(a.size) < held:
		return nil, fault(path, h.data+want*int64(a.size), "the end of the file after shape %v", "%d more bytes",
			h.shape, held-want*int64(a.size))
	}
	return a, nil
}

func (a *npyArray) rows() int { return a.shape[0] }

func (a *npyArray) isInteger() bool { return a.descr[1] != 'f' }

// each reads all elements in pieces: f gets the raw bytes of whole elements and
// the index of the first.
func (a *npyArray) each(f func(first int, raw []byte) error) error {
	buf := make([]byte, 64<<10)
	total := a.rows() * a.cols * a.size
	for done := 0; done < total; {
		raw := buf[:min(len(buf), total-done)]
		if n, err := io.ReadFull(a.r, raw); err != nil {
			return npyReadError(a.path, a.data+int64(done+n), "more elements", err)
		}
		if err := f(done/a.size, raw); err != nil {
			return err
		}
		done += len(raw)
	}
	return nil
}

// uint8s reads a |u1 array into dst.
func (a *npyArray) uint8s(dst []uint8) error {
	n, err := io.ReadFull(a.r, dst)
	if err != nil {
		return npyReadError(a.path, a.data+int64(n), "more elements", err)
	}
	return nil
}

// float16s reads a <f2 array into dst as bit patterns; all must be finite.
func (a *npyArray) float16s(dst []uint16) error {
	return a.each(func(first int, raw []byte) error {
		part := dst[first : first+len(raw)/2]
		for i := range part {
			part[i] = binary.LittleEndian.Uint16(raw[2*i:])
		}
		if i := nonFinite16(part); i >= 0 {
			return a.notFinite(first+i, float64(float16.Frombits(part[i]).Float32()))
		}
		return nil
	})
}

// float32s reads an array of any float type into dst; all elements must be
// finite in float32.
func (a *npyArray) float32s(dst []float32) error { return a.bounded(dst, math.MaxFloat32) }

// bounded is float32s for elements of at most that magnitude.
func (a *npyArray) bounded(dst []float32, most float32) error {
	return a.each(func(first int, raw []byte) error {
		part := dst[first : first+len(raw)/a.size]
		switch a.size {
		case 2:
			for i := range part {
				part[i] = float16.Frombits(binary.LittleEndian.Uint16(raw[2*i:])).Float32()
			}
		case 4:
			for i := range part {
				part[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
			}
		case 8:
			for i := range part {
				part[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
			}
		}
		i := firstBeyond(part, most)
		switch {
		case i < 0:
			return nil
		case part[i]-part[i] == 0:
			return fmt.Errorf("%s: row %d, column %d: expected %s, found %v", a.path, (first+i)/a.cols, (first+i)%a.cols, boundedFeature, part[i])
		case a.size == 8:
			return a.notFinite(first+i, math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
		return a.notFinite(first+i, float64(part[i]))
	})
}

func (a *npyArray) notFinite(i int, found float64) error {
	return fmt.Errorf("%s: row %d, column %d: expected a value that is finite in float32, found %v", a.path, i/a.cols, i%a.cols, found)
}

// int64s reads an array of any integer type into dst.
func (a *npyArray) int64s(dst []int64) error {
	return a.each(func(first int, raw []byte) error {
		part := dst[first : first+len(raw)/a.size]
		for i := range part {
			switch a.size {
			case 1:
				part[i] = int64(raw[i])
			case 4:
				part[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
			case 8:
				part[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
			}
		}
		return nil
	})
}
