package table

import (
	"fmt"

	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/text"
)

// tensorTypes maps the element types of safetensors to the kind and the size in bytes of an array.
var tensorTypes = map[string]struct {
	kind byte
	size int
}{
	"BOOL": {'b', 1}, "U8": {'u', 1}, "I8": {'i', 1}, "U16": {'u', 2}, "I16": {'i', 2}, "U32": {'u', 4}, "I32": {'i', 4},
	"U64": {'u', 8}, "I64": {'i', 8}, "F16": {'f', 2}, "BF16": {'B', 2}, "F32": {'f', 4}, "F64": {'f', 8},
}

// openSafetensors reads the header of a safetensors file. The tensors are the columns of a table, and the first dimension of each is its
// rows.
func openSafetensors(b base) (*arrayTable, error) {
	path, size := b.path, b.size
	entries, data, err := safetensors.ReadHeader(b.file, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &arrayTable{base: b}
	at := int64(0)
	for _, e := range entries {
		name := text.OneLine(e.Name, maxQuoted)
		is, known := tensorTypes[e.DType]
		switch {
		case !known:
			return nil, fmt.Errorf("%s: tensor %q: expected numbers or booleans, found type %q", path, name, text.OneLine(e.DType, maxQuoted))
		case e.Name == "" || !text.Printable(e.Name):
			return nil, fmt.Errorf("%s: expected names of tensors without control characters, found %q", path, name)
		case len(e.Shape) == 0 || e.Shape[0] < 1 || len(t.columns) > 0 && int64(e.Shape[0]) != t.rows:
			return nil, fmt.Errorf("%s: expected a row of each tensor for each row of the table, found shape %v of %q%s", path, e.Shape, name,
				t.beside())
		}
		count, left := int64(1), (size-data-at)/int64(is.size)
		for _, d := range e.Shape {
			if d < 1 || count > left/int64(d) {
				return nil, fmt.Errorf("%s: tensor %q: expected elements within the file, found shape %v with %d bytes left", path, name, e.Shape,
					size-data-at)
			}
			count *= int64(d)
		}
		end := at + count*int64(is.size)
		if e.Offsets != [2]int{int(at), int(end)} {
			return nil, fmt.Errorf("%s: tensor %q: expected bytes %d to %d, found %d to %d", path, name, at, end, e.Offsets[0], e.Offsets[1])
		}
		t.rows = int64(e.Shape[0])
		a, c := newArray(e.Name, is.kind, is.size, e.Shape, data+at)
		t.columns, t.arrays = append(t.columns, c), append(t.arrays, a)
		at = end
	}
	if len(t.columns) == 0 || data+at != size {
		return nil, fmt.Errorf("%s: expected tensors that fill the file, found %d of %d bytes in %d", path, len(t.columns), at, size-data)
	}
	return t, nil
}

// beside names the first tensor and its number of rows, for a message about another tensor.
func (t *arrayTable) beside() string {
	if len(t.columns) == 0 {
		return ""
	}
	return fmt.Sprintf(" beside %d rows of %q", t.rows, text.OneLine(t.columns[0].Name, maxQuoted))
}
