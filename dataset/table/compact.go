package table

import (
	"encoding/binary"
	"errors"
)

// checkCompact walks over a struct in Thrift's compact protocol, which Parquet
// files describe themselves in, and refuses lengths that the bytes cannot hold
// and more than most values in lists, before anything is allocated for them. It
// returns the length of the struct.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
func checkCompact(raw []byte, most int) (int, error) {
	w := compactWalk{raw: raw, left: most}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	return w.pos, nil
}

type compactWalk struct {
	raw  []byte
	pos  int
	left int // values that lists may still have
}

var (
	errShort = errors.New("a description that ends too early")
	errDeep  = errors.New("a description that is nested too deep")
	errMany  = errors.New("a description with more in it than it has bytes, or too much")
	errType  = errors.New("a description with an unknown type in it")
)

func (w *compactWalk) byte() (byte, error) {
	if w.pos == len(w.raw) {
		return 0, errShort
	}
	w.pos++
	return w.raw[w.pos-1], nil
}

func (w *compactWalk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.raw[w.pos:])
	if n <= 0 {
		return 0, errShort
	}
	w.pos += n
	return v, nil
}

func (w *compactWalk) skip(n uint64) error {
	if n > uint64(len(w.raw)-w.pos) {
		return errShort
	}
	w.pos += int(n)
	return nil
}

func (w *compactWalk) structure(depth int) error {
	const deepest = 16
	if depth == deepest {
		return errDeep
	}
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the field's number in full
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind > 2 { // 1 and 2 are booleans in themselves
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (w *compactWalk) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3: // a boolean in a list, a byte
		return w.skip(1)
	case 4, 5, 6:
		_, err := w.varint()
		return err
	case 7:
		return w.skip(8)
	case 8:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case 9, 10:
		return w.list(depth)
	case 12:
		return w.structure(depth + 1)
	}
	return errType // maps, which Parquet has none of, too
}

func (w *compactWalk) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.raw)-w.pos) || n > uint64(w.left) {
		return errMany
	}
	w.left -= int(n)
	for range n {
		if err := w.value(kind, depth); err != nil {
			return err
		}
	}
	return nil
}
