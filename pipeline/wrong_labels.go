package pipeline

import "github.com/amtrl/amtrl/pipeline/internal/regress"

// LikeliestNoise returns the rate of wrong labels at which the round makes the labels of the target's samples the likeliest, and the
// log-loss by which methods are compared: that at this rate, plus 1/evidence for a rate above 0, which must make the labels e times as
// likely as 0 does. evidence multiplies log-losses, as where samples are in groups. A single wrong label that a method confidently rejects
// would else cost more than all others together. The rate is 0 without a NoisyLoss.
func (e *Epoch) LikeliestNoise(evidence float64) (rate, loss float64) {
	loss = e.LogLoss
	for i, v := range e.NoisyLoss {
		if v += 1 / evidence; v < loss {
			rate, loss = regress.NoiseRates[i+1], v
		}
	}
	return rate, loss
}

// setLogLoss sets LogLoss by the leave-one-out predictions of fit and, where labels may be wrong, NoisyLoss.
func (e *Epoch) setLogLoss(fit headFit, p *Problem, in Labelled) {
	columns := p.comparedGroups(in)
	e.LogLoss, e.NoisyLoss = fit.logLoss(columns, 0), nil
	if p.doubtsLabels() {
		for _, rate := range regress.NoiseRates[1:] {
			e.NoisyLoss = append(e.NoisyLoss, fit.logLoss(columns, rate))
		}
	}
}

// logLoss returns the log-loss of the labels under the leave-one-out predictions at a rate of wrong labels, summed over the rows and over
// the columns, each given by its outputs.
func (f headFit) logLoss(columns [][]int, rate float64) float64 {
	sum, outputs := 0.0, len(f.left)
	for row := range len(f.labels) / outputs {
		for _, group := range columns {
			y, heads := make([]float64, len(group)), make([]float64, len(group))
			for j, c := range group {
				y[j], heads[j] = float64(f.labels[row*outputs+c]), float64(f.left[c][row])
			}
			sum += regress.LogOfLabels(y, heads, rate)
		}
	}
	return sum
}
