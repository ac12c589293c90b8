// Package finite finds numbers that are not finite, and those whose differences float32 does not hold.
package finite

import (
	"encoding/binary"
	"math"

	"github.com/amtrl/amtrl/internal/endian"
)

// First32 returns the index of the first NaN or infinity, or -1.
func First32(v []float32) int { return Beyond(v, math.MaxFloat32) }

// Beyond returns the index of the first element that is NaN or greater than most in magnitude, or -1. The bits of
// magnitudes, read as integers, are in the order of the magnitudes. So limit minus the bits of an element is negative,
// with its sign bit set, where the element is beyond the limit; this keeps branches out of the scan.
func Beyond(v []float32, most float32) int {
	const block, magnitude = 1024, 1<<31 - 1
	limit := math.Float32bits(most)
	for off := 0; off < len(v); off += block {
		var below uint32
		part := v[off:min(off+block, len(v))]
		for _, x := range part {
			below |= limit - math.Float32bits(x)&magnitude
		}
		if below>>31 == 0 {
			continue
		}
		for i, x := range part {
			if math.Float32bits(x)&magnitude > limit {
				return off + i
			}
		}
	}
	return -1
}

// First16 is First32 for binary16 bit patterns. It looks at four at a time: adding 1 to an exponent of which all bits are set, and to no
// other, sets the bit of the sign.
func First16(v []uint16) int {
	const exponent = 0x7c00
	at, raw := 0, endian.Bytes(v)
	for ; len(raw) >= 8; at, raw = at+4, raw[8:] {
		x := binary.LittleEndian.Uint64(raw)
		if (x&(exponent*0x1000100010001)+0x400*0x1000100010001)&(0x8000*0x1000100010001) != 0 {
			break
		}
	}
	for i, x := range v[at:] {
		if x&exponent == exponent {
			return at + i
		}
	}
	return -1
}
