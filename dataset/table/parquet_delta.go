package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// deltaBytes decodes n texts, each of which begins like the one before: the numbers of bytes that they share, the numbers of bytes that
// follow, and these bytes. The library's own decoder trusts the lengths that a page states.
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTASTRING
func (p *pageReader) deltaBytes(raw []byte, n int) (encoding.Values, error) {
	var none encoding.Values
	shared, raw, err := deltaInts(raw, n)
	if err != nil {
		return none, err
	}
	follow, raw, err := deltaInts(raw, n)
	if err != nil {
		return none, err
	}
	size := 0
	if p.kind == parquet.FixedLenByteArray {
		size = p.leaf.Type().Length()
	}
	var data []byte
	offsets, before := make([]uint32, 1, n+1), 0
	for i := range n {
		s, f := int(shared[i]), int(follow[i])
		last := data[before:]
		if s < 0 || s > len(last) || f < 0 || f > len(raw) || size > 0 && s+f != size {
			return none, fmt.Errorf("a text of %d bytes of the one before and %d more, with %d and %d there", s, f, len(last), len(raw))
		}
		if p.mayBecome -= int64(s + f); p.mayBecome < 0 || len(data)+s+f > maxPage {
			return none, errors.New("a page whose texts become too long")
		}
		before = len(data)
		data = append(append(data, last[:s]...), raw[:f]...)
		offsets, raw = append(offsets, uint32(len(data))), raw[f:]
	}
	if size > 0 {
		return encoding.FixedLenByteArrayValues(data, size), nil
	}
	return encoding.ByteArrayValues(data, offsets), nil
}

// deltaInts decodes n integers of at most 32 bits that are stored as differences in packed blocks. It returns them and the bytes that
// follow.
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC
func deltaInts(raw []byte, n int) (values []int32, rest []byte, err error) {
	uvarint := func() (v uint64) {
		v, size := binary.Uvarint(raw)
		if size <= 0 {
			err, size = errShort, 0
		}
		raw = raw[size:]
		return v
	}
	zigzag := func() int64 {
		v := uvarint()
		return int64(v>>1) ^ -int64(v&1)
	}
	block, parts, count, value := uvarint(), uvarint(), uvarint(), zigzag()
	if err != nil {
		return nil, nil, err
	}
	if block == 0 || block > 1<<16 || parts == 0 || block%parts != 0 || block/parts%8 != 0 || count != uint64(n) {
		return nil, nil, fmt.Errorf("%d numbers in blocks of %d in %d parts, expected %d", count, block, parts, n)
	}
	each := int(block / parts)
	values = make([]int32, 0, n)
	add := func(v int64) {
		if value = v; value < math.MinInt32 || value > math.MaxInt32 {
			err = errors.New("a number of more than 32 bits")
		}
		values = append(values, int32(value))
	}
	if n > 0 {
		add(value)
	}
	for err == nil && len(values) < n {
		least := zigzag()
		if err != nil || len(raw) < int(parts) {
			return nil, nil, errShort
		}
		widths := raw[:parts]
		raw = raw[parts:]
		for _, width := range widths {
			if len(values) == n {
				break
			}
			w := int(width)
			if w > 64 || len(raw) < each*w/8 {
				return nil, nil, errShort
			}
			for i := 0; i < each && len(values) < n && err == nil; i++ {
				add(value + least + int64(bitsAt(raw, i*w, w)))
			}
			raw = raw[each*w/8:]
		}
	}
	return values, raw, err
}

// bitsAt returns the number of width bits that begins at bit at of raw, the lowest bit first.
func bitsAt(raw []byte, at, width int) uint64 {
	v := uint64(0)
	for i := 0; i < width; {
		n := min(8-at%8, width-i)
		v |= uint64(raw[at/8]>>(at%8)&(1<<n-1)) << i
		i, at = i+n, at+n
	}
	return v
}
