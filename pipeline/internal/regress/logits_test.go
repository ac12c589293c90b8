package regress

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// drawClass draws a class by the probabilities of the logits z, and returns NoClass with the rest of the probability.
func drawClass(rng *rand.Rand, l Logits, z []float64) int {
	p, at := slices.Clone(z), rng.Float64()
	l.probabilities(p)
	for c, v := range p {
		if at -= v; at < 0 {
			return c
		}
	}
	if l.Rest > 0 {
		return NoClass
	}
	return len(z) - 1
}

// Odds returns the log-odds of the probabilities. With classes drawn by these probabilities, LevelOf tells log-odds, whose level is 0, from
// logits, whose level is so low that a sigmoid is nearly an exponential.
func TestLevels(t *testing.T) {
	rng := testrand.New(t)
	const n, c = 4000, 4
	asLogits, asOdds, class := make([][]float64, c), make([][]float64, c), make([]int, n)
	for i := range n {
		z := normals(rng, c)
		floats.Scale(3, z)
		p := slices.Clone(z)
		Logits{}.probabilities(p)
		for k, v := range (Logits{}).Odds(z) {
			isNear(t, Sigmoid(v), p[k], 1e-12, "the probability by log-odds")
			asLogits[k], asOdds[k] = append(asLogits[k], z[k]+1), append(asOdds[k], v)
		}
		class[i] = drawClass(rng, Logits{}, z)
	}
	must.Hold(t, LevelOf(asOdds, class) == 0, "log-odds are at level %g", LevelOf(asOdds, class))
	must.Hold(t, LevelOf(asLogits, class) <= -8, "logits are at level %g", LevelOf(asLogits, class))
}

// Logits of any size, also where all are far below 0, have a loss and its derivative.
func TestLogitsOfAnySize(t *testing.T) {
	for _, far := range []float64{-1e300, -1e4, -800, 0, 800, 1e4, 1e300} {
		z := []float64{far, far}
		loss := Logits{}.Loss(z, 0)
		isNear(t, loss, math.Ln2, 1e-12*math.Abs(far)+1e-12, "the loss of one of two")
		must.Hold(t, z[0] == -0.5 && z[1] == 0.5, "its derivative at %g is %v", far, z)
	}
}

// The level of logits about far is at most -far - 4, also where they are large, and where a sample lacks some of the heads (NaN).
func TestLevelOfLargeLogits(t *testing.T) {
	rng := testrand.New(t)
	for _, far := range []float64{0, 40, 300} {
		const n, c = 4000, 4
		heads, class := make([][]float64, c), make([]int, n)
		for i := range n {
			z := normals(rng, c)
			floats.Scale(3, z)
			floats.AddConst(far, z)
			class[i] = drawClass(rng, Logits{}, z)
			for k, v := range z {
				if i == 0 && k != class[i] {
					v = math.NaN()
				}
				heads[k] = append(heads[k], v)
			}
		}
		level := LevelOf(heads, class)
		must.Hold(t, level <= -far-4 && level >= -4*far-32, "logits about %g are at level %g", far, level)
	}
}
