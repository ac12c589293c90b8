package table

import (
	"cmp"
	"encoding/binary"
	"errors"
)

// checkCompact walks over a struct in Thrift's compact protocol, in which Parquet files describe themselves, and returns the length of the
// struct in bytes. Before anything is allocated for the struct, it refuses lengths that the bytes cannot hold, and lists of more than most
// values together.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
func checkCompact(raw []byte, most int) (int, error) {
	w := compactWalk{raw: raw, left: most}
	w.structure(0)
	return w.pos, w.err
}

// compactWalk is the state of a walk over raw. The walk stops at the first error.
type compactWalk struct {
	raw  []byte
	pos  int
	left int // how many more values lists may have
	err  error
}

var (
	errShort = errors.New("a description that ends too early")
	errDeep  = errors.New("a description that is nested too deep")
	errMany  = errors.New("a description with more in it than it has bytes, or too much")
	errType  = errors.New("a description with an unknown type in it")
)

// skip advances by n bytes and returns the first of them, or 0 after an error.
func (w *compactWalk) skip(n uint64) (first byte) {
	if n > uint64(len(w.raw)-w.pos) {
		w.err = cmp.Or(w.err, errShort)
	}
	if w.err != nil || n == 0 {
		return 0
	}
	first = w.raw[w.pos]
	w.pos += int(n)
	return first
}

func (w *compactWalk) varint() uint64 {
	v, n := binary.Uvarint(w.raw[w.pos:])
	if n <= 0 {
		w.err = cmp.Or(w.err, errShort)
		return 0
	}
	w.pos += n
	return v
}

func (w *compactWalk) structure(depth int) {
	const deepest = 16
	if depth == deepest {
		w.err = errDeep
	}
	for head := w.skip(1); head != 0; head = w.skip(1) {
		if head>>4 == 0 { // the field's number follows in full
			w.varint()
		}
		if kind := head & 15; kind > 2 { // types 1 and 2 are true and false, without a value
			w.value(kind, depth)
		}
	}
}

func (w *compactWalk) value(kind byte, depth int) {
	switch kind {
	case 1, 2, 3: // a boolean in a list, a byte
		w.skip(1)
	case 4, 5, 6:
		w.varint()
	case 7:
		w.skip(8)
	case 8:
		w.skip(w.varint())
	case 9, 10:
		w.list(depth)
	case 12:
		w.structure(depth + 1)
	default:
		w.err = cmp.Or(w.err, errType) // maps too, which Parquet does not use
	}
}

func (w *compactWalk) list(depth int) {
	head := w.skip(1)
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		n = w.varint()
	}
	if n > uint64(len(w.raw)-w.pos) || n > uint64(w.left) {
		w.err = cmp.Or(w.err, errMany)
		return
	}
	w.left -= int(n)
	for ; n > 0 && w.err == nil; n-- {
		w.value(kind, depth)
	}
}
