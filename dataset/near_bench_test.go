package dataset

import (
	"testing"

	"github.com/amtrl/amtrl/internal/testrand"
)

// The groups of 2,000 rows of 768 features, a tenth of which are near copies.
func BenchmarkGroupsOf(b *testing.B) {
	rng := testrand.New(b)
	const n, cols = 2000, 768
	of := make([]int, n)
	for i := range of {
		of[i] = i % (9 * n / 10)
	}
	cells := nearCells(rng, of, cols, 0.01)
	set := labelledRows(n, cols, func(i, j int) float32 { return cells[i*cols+j] })
	for b.Loop() {
		if set.GroupsOf(0) == nil {
			b.Fatal("no near copies were found")
		}
	}
}
