package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// noiseRates are parts of labels that may be wrong, each other label as likely as any (symmetric noise; Angluin and Laird 1988).
var noiseRates = []float64{0, 0.02, 0.05, 0.1, 0.2}

// noisy is -log of the probability of a label of one of c classes, whose loss it would be were labels never wrong.
func noisy(loss, rate, c float64) float64 {
	if rate == 0 || !(loss < math.Inf(1)) {
		return loss
	}
	return -math.Log((1-rate)*math.Exp(-loss) + rate/c)
}

// noiseRate is the rate at which labels are likeliest by some candidate, by the losses of labels that each has at a rate, and the sum of
// these, each of which counts for so much evidence (see [together.evidence]). That labels are wrong at all takes that it makes them e
// times as likely.
func noiseRate(losses func(rate float64) [][]float64, evidence float64) (best, least float64) {
	least = math.Inf(1)
	for _, rate := range noiseRates {
		for _, of := range losses(rate) {
			sum := evidence * floats.Sum(of)
			if rate > 0 {
				sum++
			}
			if sum < least {
				best, least = rate, sum
			}
		}
	}
	return best, least
}

// doubtsLabels says whether labels of the target's samples may be wrong: those of somebody's rows. Of a task all rows of other classes
// are one class.
func (p *Problem) doubtsLabels() bool { return p.Config.Sources == SourcesPools && p.Classifies() }

// unlikely is -log of how likely logits z make the classes of samples, of which labels may be wrong.
func (p *Problem) unlikely(of logits, z *mat.Dense, class []int, groups together) float64 {
	var losses []float64
	var labelled []int
	for i, at := range class {
		if at != noLabel {
			labelled, losses = append(labelled, i), append(losses, of.loss(slices.Clone(z.RawRowView(i)), at))
		}
	}
	if !p.doubtsLabels() {
		return floats.Sum(losses)
	}
	_, c := z.Dims()
	_, sum := noiseRate(func(rate float64) [][]float64 {
		at := make([]float64, len(losses))
		for i, v := range losses {
			at[i] = noisy(v, rate, float64(c)+of.rest)
		}
		return [][]float64{at}
	}, groups.some(labelled).evidence())
	return sum
}
