package finite

import (
	"math"
	"testing"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/testrand"
)

func TestFirst32(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		v := make([]float32, rng.IntN(5000))
		for i := range v {
			for v[i] = float32(math.NaN()); v[i]-v[i] != 0; {
				v[i] = math.Float32frombits(rng.Uint32())
			}
		}
		for range rng.IntN(3) {
			if len(v) > 0 {
				v[rng.IntN(len(v))] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[rng.IntN(3)]
			}
		}
		want := -1
		for i, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				want = i
				break
			}
		}
		if got := First32(v); got != want {
			t.Fatalf("First32 of %d elements = %d, want %d", len(v), got, want)
		}
	}
}

// Slices of any length and alignment, whose elements are of all patterns that are finite, and of some that are not.
func TestFirst16(t *testing.T) {
	rng := testrand.New(t)
	for range 2000 {
		v := make([]uint16, rng.IntN(40))
		for i := range v {
			v[i] = uint16(rng.Uint32()) &^ (1 << (10 + rng.IntN(5)))
		}
		for range rng.IntN(3) {
			if len(v) > 0 {
				v[rng.IntN(len(v))] |= 0x7c00
			}
		}
		v = v[rng.IntN(len(v)+1):]
		want := -1
		for i, x := range v {
			if f := float64(float16.Frombits(x).Float32()); math.IsNaN(f) || math.IsInf(f, 0) {
				want = i
				break
			}
		}
		if got := First16(v); got != want {
			t.Fatalf("First16(%#x) = %d, want %d", v, got, want)
		}
	}
}

func BenchmarkFirst16(b *testing.B) {
	v := make([]uint16, 5000*784)
	b.SetBytes(int64(2 * len(v)))
	for b.Loop() {
		First16(v)
	}
}

func BenchmarkFirst32(b *testing.B) {
	v := make([]float32, 5000*784)
	b.SetBytes(int64(4 * len(v)))
	for b.Loop() {
		First32(v)
	}
}
