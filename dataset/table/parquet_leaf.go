package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/x448/float16"
)

// leafReader reads one leaf of a row group, page after page. In a page, levels say for each entry whether it has a value (its definition
// level is full) and whether it begins a row (its repetition level is 0). values holds the values of the entries that have one, one after
// the other, or those of a dictionary that indices refer to.
type leafReader struct {
	column   Column
	full     byte
	unsigned bool
	clock    func(int64) string // writes integers that are times
	*pageReader

	entry int // index of the next entry
	value int // index of the value of the next entry that has one

	words   []string // the texts of dictionary number wordsOf
	wordsOf int
}

// next reads the next page. It returns io.EOF after the last.
func (r *leafReader) next() error {
	r.entry, r.value = 0, 0
	return r.pageReader.next()
}

// skip passes over n rows of a leaf that is not a list.
func (r *leafReader) skip(n int) error {
	for n > 0 {
		if r.entry == r.entries {
			r.pass = n
			err := r.next()
			if n = r.pass; err != nil {
				return err
			}
			r.pass = 0
		}
		last := r.entry + min(n, r.entries-r.entry)
		n -= last - r.entry
		for ; r.entry < last; r.entry++ {
			if len(r.defs) == 0 || r.defs[r.entry] == r.full {
				r.value++
			}
		}
	}
	return nil
}

// index returns the position of value i of the page in values.
func (r *leafReader) index(i int) int {
	if r.indices != nil {
		return int(r.indices[i])
	}
	return i
}

// scalars appends the values of the next n rows to v.
func (r *leafReader) scalars(n int, v *Values) error {
	for row := range n {
		if r.entry == r.entries {
			if err := r.next(); err != nil {
				return err
			}
		}
		there := len(r.defs) == 0 || r.defs[r.entry] == r.full
		if !there {
			v.Missing = append(v.Missing, make([]bool, row-len(v.Missing))...)
			v.Missing = append(v.Missing, true)
		}
		r.scalar(there, v)
		if n := len(v.Ints); n > 0 && r.unsigned && v.Ints[n-1] < 0 {
			return &rowError{row, fmt.Errorf("expected an integer of at most %d, found %d", math.MaxInt64, uint64(v.Ints[n-1]))}
		}
		r.entry++
	}
	if len(v.Missing) > 0 {
		v.Missing = append(v.Missing, make([]bool, n-len(v.Missing))...)
	}
	return nil
}

// scalar appends the next value, or a zero value where there is none.
func (r *leafReader) scalar(there bool, v *Values) {
	i := 0
	if there {
		i = r.index(r.value)
		r.value++
	}
	switch {
	case r.column.Kind == Integer && r.clock != nil:
		s := ""
		if there {
			s = r.clock(r.integer(i))
		}
		v.Text = append(v.Text, s)
	case r.column.Kind == Text:
		s := ""
		if there {
			s = r.text(i)
		}
		v.Text = append(v.Text, s)
	case r.column.Kind == Bool:
		v.Bools = append(v.Bools, there && r.bools[i] == 1)
	case r.column.Kind == Integer:
		var x int64
		if there {
			x = r.integer(i)
		}
		v.Ints = append(v.Ints, x)
	default:
		var x float64
		if there {
			x = r.number(i)
		}
		v.Numbers = append(v.Numbers, x)
	}
}

// text returns text i of values. The texts of a dictionary are converted to strings only once.
func (r *leafReader) text(i int) string {
	data, offsets := r.values.ByteArray()
	if r.indices == nil {
		return string(data[offsets[i]:offsets[i+1]])
	}
	if r.wordsOf != r.dictNumber {
		r.wordsOf, r.words = r.dictNumber, make([]string, r.dictSize)
		for j := range r.words {
			r.words[j] = string(data[offsets[j]:offsets[j+1]])
		}
	}
	return r.words[i]
}

func (r *leafReader) integer(i int) int64 {
	if r.values.Kind() == encoding.Int64 {
		return r.values.Int64()[i]
	}
	if r.unsigned {
		return int64(uint32(r.values.Int32()[i]))
	}
	return int64(r.values.Int32()[i])
}

// whole returns an integer as a feature.
func (r *leafReader) whole(i int) float64 {
	x := r.integer(i)
	if r.unsigned {
		return float64(uint64(x))
	}
	return float64(x)
}

func (r *leafReader) number(i int) float64 {
	switch r.values.Kind() {
	case encoding.Double:
		return r.values.Double()[i]
	case encoding.FixedLenByteArray:
		return float64(float16.Frombits(r.half(i)).Float32())
	}
	return float64(r.values.Float()[i])
}

func (r *leafReader) half(i int) uint16 {
	data, _ := r.values.FixedLenByteArray()
	return binary.LittleEndian.Uint16(data[2*i:])
}

// numbers writes one number for each of the next n rows into column j of dst. A missing number is NaN where gaps are allowed, and otherwise
// an error.
func (r *leafReader) numbers(n int, e Element, gaps bool, dst *Vectors, j int) error {
	for row := range n {
		if r.entry == r.entries {
			if err := r.next(); err != nil {
				return err
			}
		}
		at := row*dst.Width + j
		if len(r.defs) > 0 && r.defs[r.entry] != r.full {
			if !gaps {
				return &rowError{row, &MissingError{"none"}}
			}
			dst.Set(at, nan)
			r.entry++
			continue
		}
		i := r.index(r.value)
		switch {
		case e == Uint8:
			dst.U8[at] = uint8(r.integer(i))
		case e == Float16:
			dst.F16[at] = r.half(i)
		case r.column.Kind == Bool:
			dst.Set(at, float64(r.bools[i]))
		case r.column.Kind == Integer:
			dst.Set(at, r.whole(i))
		default:
			x := r.number(i)
			if dst.Set(at, x); math.Abs(float64(dst.F32[at])) > MaxFeature {
				return &rowError{row, tooLarge(x, strconv.FormatFloat(x, 'g', -1, 64))}
			}
		}
		r.entry++
		r.value++
	}
	return nil
}

// vectors appends the lists of the next n rows to dst. The first list sets the width of dst where that is 0. Rows that the batch b passes
// over have no list in dst, which is its features; b may be nil.
func (r *leafReader) vectors(n int, dst *Vectors, b *Batch) error {
	passed := false // whether the row is passed over
	closeRow := func(row, have int) error {
		if passed {
			passed = false
			return nil
		}
		return closeRow(row, have, dst)
	}
	for row, have, open := 0, 0, false; ; {
		if r.entry == r.entries {
			err := r.next()
			if err != nil && !(err == io.EOF && open && row == n-1) {
				return err
			}
			if err != nil {
				return closeRow(row, have)
			}
		}
		if open && (len(r.reps) == 0 || r.reps[r.entry] == 0) { // the row has ended
			if err := closeRow(row, have); err != nil {
				return err
			}
			row, have, open = row+1, 0, false
			if row == n {
				return nil
			}
		}
		k := 1
		if len(r.reps) > 0 {
			if k += bytes.IndexByte(r.reps[r.entry+1:], 0); k == 0 {
				k = r.entries - r.entry
			}
		}
		if err := r.defined(k, have); passed || err != nil {
			if !passed && (b == nil || !b.passes(err, dst.Len()-have)) {
				return &rowError{row, err}
			}
			if r.value += k; len(r.defs) > 0 {
				r.value -= k - bytes.Count(r.defs[r.entry:][:k], []byte{r.full})
			}
			have, open, passed = have+k, true, true
			r.entry += k
			continue
		}
		if limit := dst.Width; have+k > limit && (limit > 0 || have+k > maxWidth) {
			if limit == 0 {
				limit = maxWidth
			}
			return &rowError{row, fmt.Errorf("expected %d elements, found more", limit)}
		}
		r.appendTo(dst, k)
		have, open = have+k, true
		r.entry, r.value = r.entry+k, r.value+k
	}
}

// closeRow returns an error where a finished row does not have the width of dst. A width of 0 is set to the length of the row.
func closeRow(row, have int, dst *Vectors) error {
	if dst.Width == 0 {
		dst.Width = have
	}
	if have != dst.Width {
		return &rowError{row, fmt.Errorf("expected %d elements, found %d", dst.Width, have)}
	}
	return nil
}

// defined returns an error where an entry among the next k has no value. have is the number of elements that the row has already.
func (r *leafReader) defined(k, have int) error {
	if len(r.defs) == 0 {
		return nil
	}
	levels := r.defs[r.entry:][:k]
	if bytes.Count(levels, []byte{r.full}) == k {
		return nil
	}
	if k == 1 && have == 0 {
		return &VectorError{"expected a vector, found none"}
	}
	first := slices.IndexFunc(levels, func(d byte) bool { return d != r.full })
	return &VectorError{fmt.Sprintf("expected a number for element %d, found none", have+first)}
}

// appendTo appends the next k values to dst.
func (r *leafReader) appendTo(dst *Vectors, k int) {
	switch {
	case r.kind == parquet.Boolean:
		dst.U8 = append(dst.U8, r.bools[r.value:][:k]...)
	case r.column.Element == Uint8:
		for i := range k {
			dst.U8 = append(dst.U8, uint8(r.integer(r.index(r.value+i))))
		}
	case r.column.Element == Float16:
		data, _ := r.values.FixedLenByteArray()
		at := len(dst.F16)
		dst.F16 = slices.Grow(dst.F16, k)[:at+k]
		part := dst.F16[at:]
		if r.indices == nil {
			data = data[2*r.value:][:2*k]
			for i := range part {
				part[i] = binary.LittleEndian.Uint16(data[2*i:])
			}
			break
		}
		for i, place := range r.indices[r.value:][:k] {
			part[i] = binary.LittleEndian.Uint16(data[2*place:])
		}
	case r.values.Kind() == encoding.Float && r.indices == nil:
		dst.F32 = append(dst.F32, r.values.Float()[r.value:][:k]...)
	case r.values.Kind() == encoding.Float:
		values := r.values.Float()
		for _, i := range r.indices[r.value:][:k] {
			dst.F32 = append(dst.F32, values[i])
		}
	case r.column.Kind == Integer || r.values.Kind() == encoding.Int32 || r.values.Kind() == encoding.Int64:
		for i := range k {
			dst.push(r.whole(r.index(r.value + i)))
		}
	default:
		for i := range k {
			dst.push(r.number(r.index(r.value + i)))
		}
	}
}
