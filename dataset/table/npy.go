package table

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/datafile"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/text"
)

// The names of the only column of an NPY file.
const (
	// VectorColumn is the name where the array has a vector per row.
	VectorColumn = "vector"
	// valueColumn is the name where the array has one value per row.
	valueColumn = "value"
)

// openNPY reads the header of an NPY file and returns its array as a table of one column.
func openNPY(b base) (*arrayTable, error) {
	path, size := b.path, b.size
	h, err := npy.ReadHeader(path, io.NewSectionReader(b.file, 0, size))
	if err != nil {
		return nil, err
	}
	kind, bytes, ok := npyElement(h.Descr)
	if !ok {
		return nil, fmt.Errorf("%s: expected numbers of at most 8 bytes, booleans or text (little-endian), found element type %q", path,
			text.OneLine(h.Descr, maxQuoted))
	}
	if len(h.Shape) == 0 || slices.Contains(h.Shape, 0) {
		return nil, fmt.Errorf("%s: expected rows, found shape %v", path, h.Shape)
	}
	count, held := int64(1), (size-h.Data)/int64(bytes)
	for _, d := range h.Shape {
		if count *= int64(d); count > held {
			break
		}
	}
	if count*int64(bytes) != size-h.Data {
		return nil, datafile.Fault(path, h.Data, "elements of %d bytes for shape %v", "%d bytes", bytes, h.Shape, size-h.Data)
	}
	name := valueColumn
	if len(h.Shape) > 1 {
		name = VectorColumn
	}
	a, c := newArray(name, kind, bytes, h.Shape, h.Data)
	if a.byColumn = h.Fortran && a.cols > 1; a.byColumn && len(h.Shape) > 2 {
		return nil, fmt.Errorf("%s: expected C order for shape %v, found Fortran order (numpy.ascontiguousarray converts it)", path, h.Shape)
	}
	b.rows, b.columns = int64(h.Shape[0]), []Column{c}
	return &arrayTable{base: b, arrays: []array{a}}, nil
}

// npyElement parses an element type such as "<f4" or "<U12". size is in bytes; ok is false where the type cannot be read.
func npyElement(descr string) (kind byte, size int, ok bool) {
	if len(descr) < 3 || descr[0] != '<' && descr[0] != '|' {
		return 0, 0, false
	}
	kind = descr[1]
	size, err := strconv.Atoi(descr[2:])
	if err != nil || size < 1 || size > maxText {
		return 0, 0, false
	}
	switch kind {
	case 'u', 'i':
		ok = size == 1 || size == 2 || size == 4 || size == 8
	case 'b':
		ok = size == 1
	case 'f':
		ok = size == 2 || size == 4 || size == 8
	case 'S':
		ok = true
	case 'U':
		size, ok = 4*size, true
	}
	return kind, size, ok
}
