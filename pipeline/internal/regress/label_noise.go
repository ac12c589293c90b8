package regress

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// NoiseRates holds the rates that [NoiseRate] compares: the fraction of labels that are noise, of any class with the same
// probability (symmetric noise; Angluin and Laird 1988).
var NoiseRates = []float64{0, 0.02, 0.05, 0.1, 0.2}

// Noisy returns -log of the probability of a label of one of c classes at this noise rate, given its loss, which is -log of its
// probability if labels are never wrong.
func Noisy(loss, rate, c float64) float64 {
	if rate == 0 || !(loss < math.Inf(1)) {
		return loss
	}
	return -math.Log((1-rate)*math.Exp(-loss) + rate/c)
}

// NoiseRate returns the noise rate at which some candidate makes the labels most likely, and the sum of that candidate's losses as
// they were compared: losses returns the losses of the labels by each candidate at a rate; their sum is multiplied by evidence (see
// [Groups.Evidence]), and for a rate above 0, which has to make the labels e times as likely as rate 0 does, larger by 1.
func NoiseRate(losses func(rate float64) [][]float64, evidence float64) (best, least float64) {
	least = math.Inf(1)
	for _, rate := range NoiseRates {
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
