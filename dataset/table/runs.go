package table

import "encoding/binary"

// runs decodes n numbers of width bits each, which Parquet writes as run lengths or packed in groups of eight. It overwrites dst.
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
func runs[T byte | int32](dst []T, raw []byte, width, n int) ([]T, error) {
	dst = resize(dst, n)
	bytes, mask := (width+7)/8, uint64(1)<<width-1
	for done := 0; done < n; {
		head, size := binary.Uvarint(raw)
		if size <= 0 {
			return nil, errShort
		}
		raw = raw[size:]
		if head&1 == 0 {
			if len(raw) < bytes {
				return nil, errShort
			}
			v := T(littleEndian(raw[:bytes]) & mask)
			part := dst[done:][:min(head>>1, uint64(n-done))]
			for i := range part {
				part[i] = v
			}
			done += len(part)
			raw = raw[bytes:]
			continue
		}
		groups := head >> 1
		if width > 0 && groups > uint64(len(raw)/width) {
			return nil, errShort
		}
		packed := raw[:int(groups)*width]
		raw = raw[len(packed):]
		part := dst[done:][:min(8*groups, uint64(n-done))]
		for i := range part {
			at := i * width
			rest := packed[at/8:]
			part[i] = T(littleEndian(rest[:min(8, len(rest))]) >> (at % 8) & mask)
		}
		done += len(part)
	}
	return dst, nil
}

// littleEndian returns at most eight bytes as a number, the lowest byte first.
func littleEndian(raw []byte) uint64 {
	if len(raw) == 8 {
		return binary.LittleEndian.Uint64(raw)
	}
	v := uint64(0)
	for i := len(raw) - 1; i >= 0; i-- {
		v = v<<8 | uint64(raw[i])
	}
	return v
}
