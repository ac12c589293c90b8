package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// triedWeights holds leave-one-out predictions of the samples by a regression on the rows of all sources that counts
// each sample as one row, and as more and more rows.
type triedWeights struct {
	predicted [][]prediction // by weight and class, without heads
	// negLogLik returns the negative log-likelihood of some of the samples by the predictions at one of the weights, an
	// index into predicted.
	negLogLik func(weight int, samples []int) float64
}

func (p *Problem) triedWeights(of regress.Logits, left []*mat.Dense, class []int, groups regress.Groups) (tried triedWeights) {
	for _, z := range left {
		tried.predicted = append(tried.predicted, predictionsOf(of, z, func(int) []float32 { return nil }))
	}
	tried.negLogLik = func(weight int, samples []int) float64 {
		return p.negLogLik(of, linalg.SomeRows(left[weight], samples), elementsAt(class, samples), groups.Some(samples))
	}
	return tried
}

// chosenBy returns f, without heads, at the sample weight that the given samples choose among those tried, by the rule
// by which all samples chose. It returns f itself where none were tried.
func (f *pooledFound) chosenBy(samples []int) *pooledFound {
	if len(f.tried.predicted) == 0 {
		return f
	}
	best, least := 0, math.Inf(1)
	for weight := range f.tried.predicted {
		loss := f.tried.negLogLik(weight, samples)
		if !(loss < least) {
			break
		}
		best, least = weight, loss
	}
	out := &pooledFound{sources: f.sources, with: f.tried.predicted[:1]}
	if best > 0 {
		out.with = append(out.with[:1:1], f.tried.predicted[best])
	}
	return out
}
