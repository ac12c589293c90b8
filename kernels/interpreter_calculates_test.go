package kernels

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"
)

func asFloat(v uint32) float64 { return float64(math.Float32frombits(v)) }

// fused returns a b + c, rounded once.
func fused(a, b, c float64) float32 {
	if v := a*b + c; math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
		return float32(v)
	}
	exact := new(big.Float).SetPrec(2000)
	exact.Mul(big.NewFloat(a).SetPrec(2000), big.NewFloat(b).SetPrec(2000)).Add(exact, big.NewFloat(c))
	v, _ := exact.Float32()
	return v
}

// calculated holds the results of instructions, by formulas written in another way than the interpreter's.
var calculated = map[string]func(a, b, c uint32) uint32{
	"prmt.b32 %r5, %r2, %r3, %r4;": func(a, b, c uint32) (v uint32) {
		bytes := []uint32{a & 255, a >> 8 & 255, a >> 16 & 255, a >> 24, b & 255, b >> 8 & 255, b >> 16 & 255, b >> 24}
		for i := range 4 {
			s := c >> (4 * i)
			byte := bytes[s&7]
			if s&8 != 0 {
				byte = byte >> 7 * 255
			}
			v += byte << (8 * i)
		}
		return v
	},
	"cvt.rna.tf32.f32 %r5, %f2;": func(a, _, _ uint32) uint32 {
		if a&0x7f800000 == 0x7f800000 {
			return a
		}
		return (a + 1<<12) &^ (1<<13 - 1)
	},
	"bfi.b32 %r5, %r2, %r3, 5, 9;":   func(a, b, _ uint32) uint32 { return b&^(511<<5) | a&511<<5 },
	"bfi.b32 %r5, %r2, %r3, 28, 9;":  func(a, b, _ uint32) uint32 { return b&(1<<28-1) | a<<28 },
	"shl.b32 %r5, %r2, %r3;":         func(a, b, _ uint32) uint32 { return a << b },
	"shr.u32 %r5, %r2, %r3;":         func(a, b, _ uint32) uint32 { return a >> b },
	"shr.s32 %r5, %r2, %r3;":         func(a, b, _ uint32) uint32 { return uint32(int32(a) >> b) },
	"brev.b32 %r5, %r2;":             func(a, _, _ uint32) uint32 { return bits.Reverse32(a) },
	"bfind.shiftamt.u32 %r5, %r2;":   func(a, _, _ uint32) uint32 { return uint32((bits.LeadingZeros32(a)+1)%33) - 1 },
	"mul.hi.s32 %r5, %r2, %r3;":      func(a, b, _ uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) },
	"mul.hi.u32 %r5, %r2, %r3;":      func(a, b, _ uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) },
	"mad.lo.s32 %r5, %r2, %r3, %r4;": func(a, b, c uint32) uint32 { return a*b + c },
	"min.s32 %r5, %r2, %r3;":         func(a, b, _ uint32) uint32 { return uint32(min(int32(a), int32(b))) },
	"min.relu.s32 %r5, %r2, %r3;":    func(a, b, _ uint32) uint32 { return uint32(max(0, min(int32(a), int32(b)))) },
	"max.u32 %r5, %r2, %r3;":         func(a, b, _ uint32) uint32 { return max(a, b) },
	"or.b32 %r6, %r3, 1; div.s32 %r5, %r2, %r6; mov.u32 %r6, 0;": func(a, b, _ uint32) uint32 {
		return uint32(int64(int32(a)) / int64(int32(b|1)))
	},
	"mul.wide.s32 %rd6, %r2, %r3; mov.b64 {%r6, %r5}, %rd6; mov.u32 %r6, 0;": func(a, b, _ uint32) uint32 {
		return uint32(uint64(int64(int32(a))*int64(int32(b))) >> 32)
	},
	"cvt.s64.s32 %rd6, %r2; shr.u64 %rd6, %rd6, 32; cvt.u32.u64 %r5, %rd6;": func(a, _, _ uint32) uint32 { return uint32(int32(a) >> 31) },
	"cvt.u32.u8 %r5, %r2;":         func(a, _, _ uint32) uint32 { return a & 255 },
	"cvt.s32.s8 %r5, %r2;":         func(a, _, _ uint32) uint32 { return uint32(int32(int8(a))) },
	"ld.global.s8 %r5, [%rd3+3];":  func(a, _, _ uint32) uint32 { return uint32(int32(a) >> 24) },
	"ld.global.u16 %r5, [%rd3+2];": func(a, _, _ uint32) uint32 { return a >> 16 },
	"cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f5, %h1; mov.b32 %r5, %f5;": func(a, _, _ uint32) uint32 {
		return math.Float32bits(float32(halfValue(uint16(a))))
	},
	"fma.rn.f32 %f5, %f2, %f3, %f4; mov.b32 %r5, %f5;": func(a, b, c uint32) uint32 {
		return math.Float32bits(fused(asFloat(a), asFloat(b), asFloat(c)))
	},
	"div.rn.f32 %f5, %f2, %f3; mov.b32 %r5, %f5;": func(a, b, _ uint32) uint32 {
		return math.Float32bits(float32(asFloat(a) / asFloat(b)))
	},
	"sqrt.rn.f32 %f5, %f2; mov.b32 %r5, %f5;": func(a, _, _ uint32) uint32 { return math.Float32bits(float32(math.Sqrt(asFloat(a)))) },
	"cvt.rn.f32.f64 %f5, %fd4; mov.b32 %r5, %f5;": func(a, b, _ uint32) uint32 {
		return math.Float32bits(float32(math.Float64frombits(uint64(b)<<32 | uint64(a))))
	},
	"cvt.rzi.s32.f32 %r5, %f2;": func(a, _, _ uint32) uint32 {
		v := asFloat(a)
		if math.IsNaN(v) {
			return 0
		}
		return uint32(int32(max(math.MinInt32, min(math.MaxInt32, math.Trunc(v)))))
	},
	"cvt.rn.f32.u32 %f5, %r2; mov.b32 %r5, %f5;": func(a, _, _ uint32) uint32 { return math.Float32bits(float32(a)) },
}

func init() {
	for name, holds := range map[string]func(less, same, greater bool) bool{
		"eq": func(_, same, _ bool) bool { return same }, "ne": func(less, _, greater bool) bool { return less || greater },
		"lt": func(less, _, _ bool) bool { return less }, "le": func(less, same, _ bool) bool { return less || same },
		"gt": func(_, _, greater bool) bool { return greater }, "ge": func(_, same, greater bool) bool { return greater || same },
		"num": func(less, same, greater bool) bool { return less || same || greater },
	} {
		for _, unordered := range []bool{false, true} {
			op := name
			switch {
			case unordered && name == "num":
				op = "nan"
			case unordered:
				op += "u" // also true if an operand is NaN
			}
			calculated["setp."+op+".f32 %p1, %f2, %f3; selp.b32 %r5, 1, 0, %p1;"] = func(a, b, _ uint32) uint32 {
				x, y := asFloat(a), asFloat(b)
				nan := x != x || y != y
				if op == "nan" && nan || op != "nan" && (holds(x < y, x == y, x > y) || unordered && nan) {
					return 1
				}
				return 0
			}
		}
	}
}

// TestInterpreterCalculates compares instructions with their formulas, on random words and on words where rules change.
// All NaNs count as equal.
func TestInterpreterCalculates(t *testing.T) {
	var text strings.Builder
	names := map[string]string{}
	for code := range calculated {
		names[code] = fmt.Sprint("calculate_", len(names))
		text.WriteString(snippet(names[code], code))
	}
	d := interpret(t, text.String())
	special := []uint32{0, 1, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x3f801000,
		0x3f800fff, 0x7f7fffff, 0x00001000, 0x3c00, 0x7c00, 0x7e00, 0x8001, 0x4f000000, 0xcf000001}
	for range 20 {
		in := make([]uint32, 96)
		for i := range in {
			in[i] = pick(d, d.rng.Uint32(), pick(d, special...), math.Float32bits(float32(d.rng.NormFloat64())))
		}
		x := d.alloc(5 * 128)
		write(d, x, in)
		for code, want := range calculated {
			d.run(oneWarp(names[code], x))
			for lane, got := range download[uint32](d, x.At(96, 4), 32) {
				a, b, c := in[lane], in[32+lane], in[64+lane]
				expected := want(a, b, c)
				nan := strings.Contains(code, "f32") && asFloat(got) != asFloat(got) && asFloat(expected) != asFloat(expected)
				if got != expected && !nan {
					t.Errorf("%s of %#x, %#x, %#x is %#x, expected %#x", code, a, b, c, got, expected)
				}
			}
		}
	}
}
