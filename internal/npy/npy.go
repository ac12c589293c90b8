// Package npy reads and writes arrays in NumPy's file format, within the bounds of what a file holds.
package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/datafile"
	"github.com/amtrl/amtrl/internal/finite"
)

// Array is an open NPY file whose header has been checked against the size of the file, so that memory for its elements
// may be allocated. Its methods read the next elements.
type Array struct {
	Header
	// Path is the path of the file, for messages.
	Path string
	// Size is the number of bytes per element, Cols the number of elements per row.
	Size, Cols int
	// Wide, where it is set, gets the index and the value of each element of a <f8 array that is read into float32, before it is rounded.
	Wide func(i int, x float64)

	r    io.Reader
	file *os.File // the file of r, if Open opened it
	done int      // elements read
}

// sizes maps the element types that can be read to their sizes in bytes.
var sizes = map[string]int{"|u1": 1, "<i4": 4, "<i8": 8, "<f2": 2, "<f4": 4, "<f8": 8}

// Open opens the array in a file; the caller closes it.
func Open(path string) (*Array, error) {
	f, size, err := datafile.Open(path)
	if err != nil {
		return nil, err
	}
	a, err := New(path, f, size)
	if err != nil {
		f.Close()
		return nil, err
	}
	a.file = f
	return a, nil
}

// New reads the header of an NPY file of the given size in bytes. It refuses all but a little-endian C-order array of a
// known type, with at least one element, that fills the file exactly.
func New(path string, r io.Reader, size int64) (*Array, error) {
	h, err := ReadHeader(path, r)
	if err != nil {
		return nil, err
	}
	a := &Array{Header: h, Path: path, r: r, Size: sizes[h.Descr], Cols: 1}
	if a.Size == 0 {
		return nil, fmt.Errorf("%s: expected element type |u1, <i4, <i8, <f2, <f4 or <f8 (little-endian), found %q", path, h.Descr)
	}
	if h.Fortran {
		return nil, fmt.Errorf("%s: expected C order, found Fortran order (numpy.ascontiguousarray converts it)", path)
	}
	if len(h.Shape) == 0 {
		return nil, fmt.Errorf("%s: expected an array of rows, found a scalar", path)
	}
	for i, d := range h.Shape {
		if d < 1 || i > 0 && d > math.MaxInt32 {
			return nil, fmt.Errorf("%s: expected dimensions of 1 to %d, found shape %v", path, math.MaxInt32, h.Shape)
		}
		if i > 0 {
			a.Cols *= d
		}
	}
	held := size - h.Data
	switch want := int64(a.Rows()) * int64(a.Cols); {
	case want > math.MaxInt64/int64(a.Size) || want*int64(a.Size) > held:
		return nil, datafile.Fault(path, h.Data, "%d elements of %d bytes for shape %v", "%d bytes", want, a.Size, h.Shape, held)
	case want*int64(a.Size) < held:
		return nil, datafile.Fault(path, h.Data+want*int64(a.Size), "the end of the file after shape %v", "%d more bytes",
			h.Shape, held-want*int64(a.Size))
	}
	return a, nil
}

// Close closes the file of an array that Open opened.
func (a *Array) Close() error {
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}

// Rows returns the first dimension.
func (a *Array) Rows() int { return a.Shape[0] }

// IsInteger reports whether the elements are integers and not floats.
func (a *Array) IsInteger() bool { return a.Descr[1] != 'f' }

// each reads the next n elements in pieces. f gets the raw bytes of whole elements and how many of the n elements came before them.
func (a *Array) each(n int, f func(first int, raw []byte) error) error {
	buf := make([]byte, min(64<<10, n*a.Size))
	total := n * a.Size
	for done := 0; done < total; {
		raw := buf[:min(len(buf), total-done)]
		if n, err := io.ReadFull(a.r, raw); err != nil {
			return readError(a.Path, a.Data+int64(a.done*a.Size+done+n), "more elements", err)
		}
		if err := f(done/a.Size, raw); err != nil {
			return err
		}
		done += len(raw)
	}
	a.done += n
	return nil
}

// Uint8s reads elements of a |u1 array into dst.
func (a *Array) Uint8s(dst []uint8) error {
	n, err := io.ReadFull(a.r, dst)
	if err != nil {
		return readError(a.Path, a.Data+int64(a.done+n), "more elements", err)
	}
	a.done += n
	return nil
}

// Float16s reads elements of a <f2 array into dst as bit patterns; all must be finite.
func (a *Array) Float16s(dst []uint16) error {
	return a.each(len(dst), func(first int, raw []byte) error {
		part := dst[first : first+len(raw)/2]
		for i := range part {
			part[i] = binary.LittleEndian.Uint16(raw[2*i:])
		}
		if i := finite.First16(part); i >= 0 {
			return a.notFinite(first+i, float64(float16.Frombits(part[i]).Float32()))
		}
		return nil
	})
}

// Float32s reads elements of any float type into dst; all must be finite in float32.
func (a *Array) Float32s(dst []float32) error { return a.Bounded(dst, math.MaxFloat32) }

// Bounded is Float32s for elements whose magnitude must not exceed most.
func (a *Array) Bounded(dst []float32, most float32) error {
	return a.each(len(dst), func(first int, raw []byte) error {
		part := dst[first : first+len(raw)/a.Size]
		switch a.Size {
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
				x := math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
				if part[i] = float32(x); a.Wide != nil {
					a.Wide(a.done+first+i, x)
				}
			}
		}
		i := finite.Beyond(part, most)
		switch {
		case i < 0:
			return nil
		case part[i]-part[i] == 0:
			return fmt.Errorf("%s: %s: expected a value of at most %g in magnitude, found %v", a.Path, a.place(first+i), most, part[i])
		case a.Size == 8:
			return a.notFinite(first+i, math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
		return a.notFinite(first+i, float64(part[i]))
	})
}

func (a *Array) notFinite(i int, found float64) error {
	return fmt.Errorf("%s: %s: expected a value that is finite in float32, found %v", a.Path, a.place(i), found)
}

// place returns the row and column of element i of those that are being read.
func (a *Array) place(i int) string {
	i += a.done
	return fmt.Sprintf("row %d, column %d", i/a.Cols, i%a.Cols)
}

// Int64s reads elements of any integer type into dst.
func (a *Array) Int64s(dst []int64) error {
	return a.each(len(dst), func(first int, raw []byte) error {
		part := dst[first : first+len(raw)/a.Size]
		for i := range part {
			switch a.Size {
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

// RawFloat32s reads elements of a <f4 array into dst, finite or not.
func (a *Array) RawFloat32s(dst []float32) error {
	return a.each(len(dst), func(first int, raw []byte) error {
		for i := range len(raw) / 4 {
			dst[first+i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return nil
	})
}
