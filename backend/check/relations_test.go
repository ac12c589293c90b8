package check

import (
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/internal/testrand"
)

// TestOverlapIsExact compares overlap with the intersection of the two sets of elements, for random views.
func TestOverlapIsExact(t *testing.T) {
	rng := testrand.New(t)
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
			t.Fatalf("%+v and %+v: overlap is %v", a.Matrix, b.Matrix, got)
		}
		b.Mem = 8
		if overlap(a, b) {
			t.Fatalf("views of different memory overlap")
		}
	}
}
