package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers draws n numbers of many sizes, a quarter of them 0.
func numbers(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64() * math.Exp(rng.NormFloat64()) * float64(rng.IntN(4))
	}
	return x
}

// compare ends the test unless got is want up to the rounding of terms; sizes holds what the operation gives for absolute values. Elements
// that are kept must be equal.
func compare(t *testing.T, what string, terms int, got, want, sizes []float64, kept func(at int) bool) {
	t.Helper()
	for i, v := range want {
		near := math.IsNaN(v) && math.IsNaN(got[i]) || math.Abs(got[i]-v) <= float64(terms)*0x1p-52*sizes[i]
		if !near || kept(i) && got[i] != v {
			t.Fatalf("%s: element %d is %g, expected %g", what, i, got[i], v)
		}
	}
}

// spoiled returns x with NaN in some places.
func spoiled(x []float64, where func(at int) bool) []float64 {
	out := slices.Clone(x)
	for at := range out {
		if where(at) {
			out[at] = math.NaN()
		}
	}
	return out
}

func absolute(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v)
	}
	return out
}
