package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// slowNu is [transfer.nu] by its definition, one pair of outputs at a time, with the labels of the samples by output.
func slowNu(t *transfer, labels [][]float64, heads *mat.Dense, times []float64) []float64 {
	nu := make([]float64, len(t.compared))
	for m, compared := range t.compared {
		for _, c := range t.outputs {
			best := 0.0
			for _, o := range compared[c] {
				var f, y, weights []float64
				labelled := 0.0
				for i, label := range labels[c] {
					labelled += float64(b2i(label == label))
					if label == label && times[i] > 0 {
						predicted := linalg.Dot(heads.RawRowView(o)[:t.phi.RawMatrix().Cols], t.phi.RawRowView(i))
						f, y, weights = append(f, predicted), append(y, label), append(weights, times[i])
					}
				}
				r := stat.Correlation(f, y, weights)
				if !(math.Abs(r) <= 1+1e-9) || r < 0 && t.named[m][c] {
					continue
				}
				of := (floats.Sum(weights) - 1) * (floats.Sum(weights) - 1) * stat.Variance(f, weights) * stat.Variance(y, weights)
				byNoise := 0.0
				if t.byNoise != nil {
					byNoise = t.byNoise.At(o, c) * math.Pow(floats.Sum(weights)/labelled, 2)
				}
				best = math.Max(best, r*r-byNoise/of)
			}
			nu[m] += best / float64(len(t.outputs))
		}
	}
	return nu
}

// The relevance is that of its definition, with missing labels, outputs with and without names, heads that are 0, and features far from 0.
func TestTransferNu(t *testing.T) {
	rng := testrand.New(t)
	for range 60 {
		n, k, sources, own, of := 5+rng.IntN(30), 1+rng.IntN(5), 1+rng.IntN(4), 1+rng.IntN(4), 1+rng.IntN(3)
		names := rng.IntN(2) == 0
		tr := &transfer{phi: mat.NewDense(n, k, normals(rng, n*k)), allNamed: names}
		far := math.Pow(10, float64(rng.IntN(4)))
		for i := range n {
			tr.phi.Set(i, 0, tr.phi.At(i, 0)+far)
		}
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
		labels := make([][]float64, own)
		for c := range labels {
			labels[c] = normals(rng, n)
			for i := range labels[c] {
				if c > 1 && rng.IntN(4) == 0 {
					labels[c][i] = math.NaN()
				}
			}
		}
		tr.setLabels(labels)
		if rng.IntN(3) > 0 {
			tr.byNoise = mat.NewDense(sources*of, own, nil)
			for i := range tr.byNoise.RawMatrix().Data {
				tr.byNoise.RawMatrix().Data[i] = float64(n) * rng.ExpFloat64()
			}
		}
		for range 3 {
			heads, times := mat.NewDense(sources*of, k+1, normals(rng, sources*of*(k+1))), make([]float64, n)
			regress.Ungrouped(n).DrawTimes(rng, times)
			if rng.IntN(2) == 0 {
				clear(heads.RawRowView(0))
			}
			closeVectors(t, "nu", tr.nu(heads, times), slowNu(tr, labels, heads, times), 1e-8, 1e-8)
			once := slices.Repeat([]float64{1}, n)
			closeVectors(t, "nu", tr.nu(heads, nil), slowNu(tr, labels, heads, once), 1e-8, 1e-8)
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

func BenchmarkTransferNu(b *testing.B) {
	rng := testrand.New(b)
	const n, k, sources, outputs = 200, 50, 5, 100
	tr := &transfer{phi: mat.NewDense(n, k, normals(rng, n*k)), allNamed: true}
	for m := range sources {
		compared, named := make([][]int, outputs), make([]bool, outputs)
		for c := range outputs {
			compared[c], named[c] = []int{m*outputs + c}, true
		}
		tr.compared, tr.named = append(tr.compared, compared), append(tr.named, named)
	}
	labels := make([][]float64, outputs)
	for c := range labels {
		labels[c] = normals(rng, n)
	}
	tr.setLabels(labels)
	heads, times := mat.NewDense(sources*outputs, k+1, normals(rng, sources*outputs*(k+1))), make([]float64, n)
	regress.Ungrouped(n).DrawTimes(rng, times)
	b.Run("products", func(b *testing.B) {
		for range b.N {
			tr.nu(heads, times)
		}
	})
	b.Run("one by one", func(b *testing.B) {
		for range b.N {
			slowNu(tr, labels, heads, times)
		}
	})
}
