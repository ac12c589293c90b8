package backendtest

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/backend"
)

var (
	floats = []backend.DType{backend.Float32, backend.Float64}
	stored = []backend.DType{backend.Uint8, backend.Float16, backend.Float32}
	dtypes = []backend.DType{backend.Uint8, backend.Int32, backend.Float16, backend.Float32, backend.Float64}
)

func poisoned(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }

// encode rounds v to elements of t.
func encode(t backend.DType, v []float64) []byte {
	raw := make([]byte, 0, len(v)*t.Size())
	for _, x := range v {
		switch t {
		case backend.Uint8:
			raw = append(raw, uint8(x))
		case backend.Int32:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(int32(x)))
		case backend.Float16:
			raw = binary.LittleEndian.AppendUint16(raw, float16.Fromfloat32(float32(x)).Bits())
		case backend.Float32:
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		case backend.Float64:
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
	}
	return raw
}

// decode returns the elements of t in raw, exactly.
func decode(t backend.DType, raw []byte) []float64 {
	v := make([]float64, len(raw)/t.Size())
	for i := range v {
		switch t {
		case backend.Uint8:
			v[i] = float64(raw[i])
		case backend.Int32:
			v[i] = float64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		case backend.Float16:
			v[i] = decodeHalf(binary.LittleEndian.Uint16(raw[2*i:]))
		case backend.Float32:
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		case backend.Float64:
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	}
	return v
}

// decodeHalf returns the value of an IEEE 754 binary16 by its definition.
func decodeHalf(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var x float64
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(fraction, -24)
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits>>15 != 0 {
		return math.Copysign(x, -1)
	}
	return x
}

// rounded returns v as elements of t hold it.
func rounded(t backend.DType, v []float64) []float64 { return decode(t, encode(t, v)) }
