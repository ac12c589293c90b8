package finite

import (
	"math"
	"testing"

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

func BenchmarkFirst32(b *testing.B) {
	v := make([]float32, 5000*784)
	b.SetBytes(int64(4 * len(v)))
	for b.Loop() {
		First32(v)
	}
}
