package regress

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// noiseRates are parts of labels that may be wrong, each other label as likely as any (symmetric noise; Angluin and Laird 1988).
var noiseRates = []float64{0, 0.02, 0.05, 0.1, 0.2}

// Noisy is -log of the probability of a label of one of c classes, whose loss it would be were labels never wrong.
func Noisy(loss, rate, c float64) float64 {
	if rate == 0 || !(loss < math.Inf(1)) {
		return loss
	}
	return -math.Log((1-rate)*math.Exp(-loss) + rate/c)
}

// NoiseRate is the rate at which labels are likeliest by some candidate, by the losses of labels that each has at a rate, and the sum of
// these, each of which counts for so much evidence (see [Groups.Evidence]). That labels are wrong at all takes that it makes them e
// times as likely.
func NoiseRate(losses func(rate float64) [][]float64, evidence float64) (best, least float64) {
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
