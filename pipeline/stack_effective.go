package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// effective returns as how many independent samples those of the candidates count: n, or where they are in groups n/(1 + (m - 1) rho), m =
// sum n_g^2/n (see [regress.Groups.EffectiveAt]). rho is the intraclass correlation of what the choice between candidates depends on, the
// differences of their losses, plus its standard error: of
//
//	l_ik - mean over k of l_ik,
//
// l_ik being the loss of sample i by candidate k and, for numbers, that divided by twice its mean over the samples, since n/2 times the
// logarithm of that mean is compared. Candidates differ little on account of what samples of a group have in common, which all of them
// predict or none, so that rho is mostly less than that of the losses. Copies of a sample count as one. Candidates with an infinite loss do
// not count; where fewer than two are left, rho is 1.
func (c *candidates) effective() float64 {
	if c.groups.Group == nil {
		return float64(c.groups.N)
	}
	var differences [][]float64
	middle := make([]float64, c.groups.N)
	for _, of := range c.losses {
		mean := stat.Mean(of, nil)
		if !(mean < math.Inf(1)) {
			continue
		}
		scaled := slices.Clone(of)
		if c.numbers && mean > 0 {
			floats.Scale(1/(2*mean), scaled)
		}
		floats.Add(middle, scaled)
		differences = append(differences, scaled)
	}
	for _, of := range differences {
		floats.AddScaled(of, -1/float64(len(differences)), middle)
	}
	return c.groups.EffectiveAt(c.groups.IntraclassAtMost(differences...))
}
