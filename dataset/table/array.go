package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/datafile"
	"github.com/amtrl/amtrl/internal/text"
)

// arrayTable is a table whose columns are arrays, as in NPY and safetensors files. The first dimension of each array is the rows of the
// table: a column has one value per row, or a vector per row where its array has more dimensions. Rows can be read in any order.
type arrayTable struct {
	base
	arrays []array // one for each of columns
	raw    []byte
}

// array says where the elements of a column lie in the file, and in which form.
type array struct {
	at   int64 // byte of the file at which the first element begins
	kind byte  // 'u', 'i', 'b', 'f', 'B' for bfloat16, 'U' for text as UTF-32, 'S' for text as bytes
	size int   // bytes per element
	cols int   // elements per row
	// byColumn says that elements are stored column by column (Fortran order).
	byColumn bool
}

// maxText bounds the length of a text in an array, in bytes for 'S' and in characters for 'U'.
const maxText = 1 << 16

// newArray returns an array and its column. The first dimension of shape is the rows of the table; the others together are the elements of
// a row.
func newArray(name string, kind byte, size int, shape []int, at int64) (array, Column) {
	a := array{at: at, kind: kind, size: size, cols: 1}
	c := Column{Name: name}
	for _, d := range shape[1:] {
		a.cols *= d
	}
	switch {
	case kind == 'U' || kind == 'S':
		c.Kind = Text
	case kind == 'b':
		c.Kind = Bool
	case kind == 'f' || kind == 'B':
		c.Kind = Number
	default:
		c.Kind = Integer
	}
	switch {
	case size == 1 && (kind == 'u' || kind == 'b'):
		c.Element = Uint8
	case kind == 'f' && size == 2:
		c.Element = Float16
	}
	if len(shape) > 1 {
		if c.Width = a.cols; c.Kind == Text || a.cols > maxWidth {
			c.Kind = Other
		} else {
			c.Kind = Vector
			c.Shape = slices.Clone(shape[1:])
		}
	}
	return a, c
}

func (t *arrayTable) Scan(q Query, f func(*Batch) error) error {
	b, scalars, features, err := t.resolve(q, false)
	if err != nil {
		return err
	}
	var of []Column
	each := int64(0) // bytes per row
	for _, c := range append(scalars, features...) {
		each += int64(t.arrays[c].size) * int64(t.arrays[c].cols)
	}
	b.Features.Width = 0
	for _, c := range features {
		of, b.Features.Width = append(of, t.columns[c]), b.Features.Width+t.arrays[c].cols
	}
	if err := checkWidth(t.path, q, b.Features.Width, len(features)); err != nil {
		return err
	}
	const most = 16 << 20
	rows := min(int64(batchRows(b.Features.Width, len(features) > 0)), max(1, most/max(1, each)))
	for ; ; b.First += int64(b.Rows) {
		if q.Next != nil {
			b.First, rows = q.Next(b.First), 1
		}
		if b.First >= t.rows {
			return nil
		}
		b.reset()
		b.Rows = int(min(rows, t.rows-b.First))
		for i, c := range scalars {
			if err := t.scalars(c, b, &b.Scalars[i]); err != nil {
				return err
			}
		}
		if len(features) > 0 {
			b.Features.grow(FeatureElement(of, q.Gaps || len(q.lists) > 0), b.Rows*b.Features.Width)
		}
		at := 0
		for _, c := range features {
			if err := t.vectors(c, b.First, b.Rows, &b.Features, 0, at); err != nil {
				return err
			}
			at += t.arrays[c].cols
		}
		if err := b.check(&q); err != nil {
			return err
		}
		b.Read += int64(b.Rows) * each
		if err := f(b); err != nil {
			return err
		}
	}
}

// checkWidth returns an error where features from this number of columns do not have the width that q asks for.
func checkWidth(path string, q Query, width, columns int) error {
	switch {
	case q.Width == 0 || columns == 0 || width == q.Width:
		return nil
	case columns == 1:
		return fmt.Errorf("%s: column %s: expected %d elements, found %d", path, q.Features[0], q.Width, width)
	}
	return fmt.Errorf("%s: expected %d columns of features, found %d", path, q.Width, width)
}

// read returns the bytes of n rows of column c, row by row. They are valid until the next call.
func (t *arrayTable) read(c int, first int64, n int) ([]byte, error) {
	a := &t.arrays[c]
	t.raw = resize(t.raw, n*a.cols*a.size)
	raw := t.raw
	if !a.byColumn {
		_, err := t.file.ReadAt(raw, a.at+first*int64(a.cols)*int64(a.size))
		return raw, t.readError(err)
	}
	part := make([]byte, n*a.size)
	for j := range a.cols {
		if _, err := t.file.ReadAt(part, a.at+(int64(j)*t.rows+first)*int64(a.size)); err != nil {
			return nil, t.readError(err)
		}
		for i := range n {
			copy(raw[(i*a.cols+j)*a.size:], part[i*a.size:(i+1)*a.size])
		}
	}
	return raw, nil
}

func (t *arrayTable) readError(err error) error {
	switch {
	case err == nil:
		return nil
	case datafile.EndsEarly(err):
		err = errors.New("the file has become shorter while it was read")
	}
	return fmt.Errorf("%s: %w", t.path, err)
}

// scalars appends the values of column c in the rows of the batch to v.
func (t *arrayTable) scalars(c int, b *Batch, v *Values) error {
	raw, err := t.read(c, b.First, b.Rows)
	if err != nil {
		return err
	}
	a := &t.arrays[c]
	for i := range b.Rows {
		e := raw[i*a.size : (i+1)*a.size]
		switch t.columns[c].Kind {
		case Text:
			s, ok := a.text(e)
			if !ok {
				return b.Fault(i, t.columns[c].Name, "text in Unicode, found %q", text.OneLine(string(e), maxQuoted))
			}
			v.Text = append(v.Text, s)
		case Bool:
			v.Bools = append(v.Bools, e[0] != 0)
		case Integer:
			x := a.integer(e)
			if a.kind == 'u' && x < 0 {
				return b.Fault(i, t.columns[c].Name, "an integer of at most %d, found %d", math.MaxInt64, uint64(x))
			}
			v.Ints = append(v.Ints, x)
		default:
			v.Numbers = append(v.Numbers, a.number(e))
		}
	}
	return nil
}

// text returns the text of an element without the zeros that pad it, and false where it is not valid Unicode.
func (a *array) text(e []byte) (string, bool) {
	if a.kind == 'S' {
		s := strings.TrimRight(string(e), "\x00")
		return s, utf8.ValidString(s)
	}
	var s []byte
	for len(e) >= 4 && binary.LittleEndian.Uint32(e[len(e)-4:]) == 0 {
		e = e[:len(e)-4]
	}
	for ; len(e) >= 4; e = e[4:] {
		r := binary.LittleEndian.Uint32(e)
		if r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
			return "", false
		}
		s = utf8.AppendRune(s, rune(r))
	}
	return string(s), true
}

// integer returns an element that is an integer or a boolean. A uint64 beyond int64 comes out negative.
func (a *array) integer(e []byte) int64 {
	signed := a.kind == 'i'
	switch {
	case a.size == 1 && signed:
		return int64(int8(e[0]))
	case a.size == 1:
		return int64(e[0])
	case a.size == 2 && signed:
		return int64(int16(binary.LittleEndian.Uint16(e)))
	case a.size == 2:
		return int64(binary.LittleEndian.Uint16(e))
	case a.size == 4 && signed:
		return int64(int32(binary.LittleEndian.Uint32(e)))
	case a.size == 4:
		return int64(binary.LittleEndian.Uint32(e))
	}
	return int64(binary.LittleEndian.Uint64(e))
}

// number returns an element of any numeric kind as a float64.
func (a *array) number(e []byte) float64 {
	switch {
	case a.kind == 'B':
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(e)) << 16))
	case a.kind == 'u' && a.size == 8:
		return float64(binary.LittleEndian.Uint64(e))
	case a.kind != 'f':
		return float64(a.integer(e))
	case a.size == 2:
		return float64(float16.Frombits(binary.LittleEndian.Uint16(e)).Float32())
	case a.size == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(e)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(e))
}

// vectors writes n rows of column c, from row first on, to the rows of dst from row to on. In each row of dst they begin at element at.
func (t *arrayTable) vectors(c int, first int64, n int, dst *Vectors, to, at int) error {
	raw, err := t.read(c, first, n)
	if err != nil {
		return err
	}
	a := &t.arrays[c]
	for i := range n {
		row := raw[i*a.cols*a.size : (i+1)*a.cols*a.size]
		lo := (to+i)*dst.Width + at
		switch {
		case len(dst.U8) > 0:
			copy(dst.U8[lo:], row)
		case len(dst.F16) > 0:
			for j := range a.cols {
				dst.F16[lo+j] = binary.LittleEndian.Uint16(row[2*j:])
			}
		case a.kind == 'f' && a.size == 4:
			for j := range a.cols {
				dst.F32[lo+j] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*j:]))
			}
		default:
			for j := range a.cols {
				dst.Set(lo+j, a.number(row[j*a.size:]))
			}
		}
	}
	return nil
}
