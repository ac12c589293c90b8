package pipeline

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The relevance of replicates is that of transfer, which computes one correlation at a time, with missing labels, outputs with and without
// names, heads that are 0, and features far from 0.
func TestTransferAgain(t *testing.T) {
	rng := testrand.New(t)
	for range 60 {
		n, k, sources, own, of := 5+rng.IntN(30), 1+rng.IntN(5), 1+rng.IntN(4), 1+rng.IntN(4), 1+rng.IntN(3)
		tr := &transfer{phi: mat.NewDense(n, k, normals(rng, n*k)), together: regress.Ungrouped(n)}
		far := math.Pow(10, float64(rng.IntN(4)))
		for i := range n {
			tr.phi.Set(i, 0, tr.phi.At(i, 0)+far)
		}
		names := rng.IntN(2) == 0
		for m := range sources {
			compared, named := make([][]int, own), make([]bool, own)
			for c := range own {
				if named[c] = names || rng.IntN(2) == 0; named[c] {
					compared[c] = []int{m*of + rng.IntN(of)}
					continue
				}
				for o := range of {
					compared[c] = append(compared[c], m*of+o)
				}
			}
			tr.compared, tr.named = append(tr.compared, compared), append(tr.named, named)
		}
		for c := range own {
			y := normals(rng, n)
			for i := range y {
				if c > 1 && rng.IntN(4) == 0 {
					y[i] = math.NaN()
				}
			}
			tr.y, tr.outputs = append(tr.y, y), append(tr.outputs, c)
		}
		again := tr.again()
		for range 3 {
			heads, times := mat.NewDense(sources*of, k+1, normals(rng, sources*of*(k+1))), make([]float64, n)
			regress.Ungrouped(n).DrawTimes(rng, times)
			if rng.IntN(2) == 0 {
				clear(heads.RawRowView(0))
			}
			closeVectors(t, "nu", again.nu(heads, times), tr.nu(heads, times), 1e-9, 1e-9)
		}
	}
}

// Once the context of a round is done, its replicates end with the error of the context.
func TestUncertaintyEndsWithItsContext(t *testing.T) {
	set := shops(testrand.New(t), 4, 300, 6, 2, true)
	l, round, e := transferRound(t, set, defaultConfig(t))
	fit := must.Get(l.fitHead(round.Target))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.uncertainty(ctx, round, &e, fit, testrand.New(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that of the context", err)
	}
}

func BenchmarkTransferAgain(b *testing.B) {
	rng := testrand.New(b)
	const n, k, sources, outputs = 200, 50, 5, 100
	tr := &transfer{phi: mat.NewDense(n, k, normals(rng, n*k)), together: regress.Ungrouped(n)}
	for m := range sources {
		compared, named := make([][]int, outputs), make([]bool, outputs)
		for c := range outputs {
			compared[c], named[c] = []int{m*outputs + c}, true
		}
		tr.compared, tr.named = append(tr.compared, compared), append(tr.named, named)
	}
	for c := range outputs {
		tr.y, tr.outputs = append(tr.y, normals(rng, n)), append(tr.outputs, c)
	}
	heads, times, again := mat.NewDense(sources*outputs, k+1, normals(rng, sources*outputs*(k+1))), make([]float64, n), tr.again()
	regress.Ungrouped(n).DrawTimes(rng, times)
	b.Run("again", func(b *testing.B) {
		for range b.N {
			again.nu(heads, times)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for range b.N {
			tr.nu(heads, times)
		}
	})
}
