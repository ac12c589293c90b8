package boost

import (
	"context"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// BenchmarkFit fits one output to as many cells as a round takes.
func BenchmarkFit(b *testing.B) {
	rng := testrand.New(b)
	const n, d = 6666, 60
	x, y := table(rng, n, d, 1, Numbers)
	for i := range x {
		x[i] += rng.Float32() / 5
	}
	c := NewColumns(x, d)
	for b.Loop() {
		must.Get(Fit(context.Background(), c, y, make([]float64, n), 1, Numbers, upTo(n), stages))(b)
	}
}
