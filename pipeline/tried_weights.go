package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// triedWeights are predictions of samples, left out, with the samples as one row each, and as ever more of them.
type triedWeights struct {
	said [][]prediction // without heads
	// unlikely is -log of how likely those at one weight make some of the samples.
	unlikely func(weight int, samples []int) float64
}

func (p *Problem) triedWeights(of regress.Logits, left []*mat.Dense, class []int, groups regress.Groups) (tried triedWeights) {
	for _, z := range left {
		tried.said = append(tried.said, predictionsOf(of, z, func(int) []float32 { return nil }))
	}
	tried.unlikely = func(weight int, samples []int) float64 {
		return p.unlikely(of, linalg.SomeRows(left[weight], samples), someOf(class, samples), groups.Some(samples))
	}
	return tried
}

// chosenBy has the weight that some of the samples choose, as all of them chose, of those that were tried.
func (f *pooledFound) chosenBy(samples []int) *pooledFound {
	if len(f.tried.said) == 0 {
		return f
	}
	best, least := 0, math.Inf(1)
	for weight := range f.tried.said {
		loss := f.tried.unlikely(weight, samples)
		if !(loss < least) {
			break
		}
		best, least = weight, loss
	}
	out := &pooledFound{sources: f.sources, with: f.tried.said[:1]}
	if best > 0 {
		out.with = append(out.with[:1:1], f.tried.said[best])
	}
	return out
}
