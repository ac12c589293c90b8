package check

import (
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/backend"
)

// TestOverlapIsExact compares with the sets of elements.
func TestOverlapIsExact(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	view := func() (Operand[int], []byte) {
		cols := rng.IntN(5)
		m := backend.Matrix{Off: rng.IntN(30), Rows: rng.IntN(5), Cols: cols, Stride: cols + rng.IntN(9)}
		mask := make([]byte, 100)
		for i := range m.Rows {
			for j := range m.Cols {
				mask[m.Off+i*m.Stride+j] = 1
			}
		}
		return Operand[int]{m, 7}, mask
	}
	for range 20_000 {
		a, am := view()
		b, bm := view()
		want := false
		for i := range am {
			want = want || am[i]&bm[i] != 0
		}
		if got := overlap(a, b); got != want {
			t.Fatalf("seed %d: %+v and %+v: overlap is %v", seed, a.Matrix, b.Matrix, got)
		}
		b.Mem = 8
		if overlap(a, b) {
			t.Fatalf("seed %d: views of different memory overlap", seed)
		}
	}
}
