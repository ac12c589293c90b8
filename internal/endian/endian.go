// Package endian views little-endian bytes as numbers and numbers as such bytes, without a copy where the machine allows that.
package endian

import (
	"encoding/binary"
	"unsafe"
)

// View returns little-endian bytes as elements: the same memory where the machine is little-endian and the bytes are aligned, else a copy.
func View[E uint16 | float32 | int32 | int64](raw []byte) []E {
	var e E
	size := int(unsafe.Sizeof(e))
	first := unsafe.Pointer(unsafe.SliceData(raw))
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 && uintptr(first)%uintptr(size) == 0 {
		return unsafe.Slice((*E)(first), len(raw)/size)
	}
	out := make([]E, len(raw)/size)
	if _, err := binary.Decode(raw, binary.LittleEndian, out); err != nil {
		panic(err) // out is as long as raw
	}
	return out
}

// Bytes returns elements of a fixed size as little-endian bytes: the same memory where the machine is little-endian, else a copy.
func Bytes[E any](v []E) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		var e E
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(e)))
	}
	out, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err) // E has a fixed size
	}
	return out
}
