package report

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/amtrl/amtrl/runs"
	"github.com/amtrl/amtrl/runs/study"
)

// extrapolated returns how the score of a method is expected to go on from its last round: in a study as its plan has it,
// in a run as extrapolate does. It returns nil where nothing can be said.
func (r *runPage) extrapolated(m runs.MethodResult, rounds []runs.RoundResult) []runs.RoundResult {
	switch {
	case r.helped(m) != "":
		return nil
	case r.learned == nil:
		return extrapolate(rounds)
	case m.Method != r.Result.Methods[0].Method:
		return nil
	}
	return expected(rounds[len(rounds)-1], r.learned.Gains)
}

// expected lowers the score of the last round of a study by the gains that are expected of more labels. The intervals are
// those of the gains alone. It returns nil for no gains.
func expected(last runs.RoundResult, gains []study.Gain) []runs.RoundResult {
	if len(gains) == 0 {
		return nil
	}
	at := func(cost, gain, least, most float64) runs.RoundResult {
		return runs.RoundResult{Cost: cost, Value: last.Value - gain, Interval: &[2]float64{last.Value - most, last.Value - least}}
	}
	out := []runs.RoundResult{at(last.Cost, 0, 0, 0)}
	for _, g := range gains {
		out = append(out, at(g.To, g.Mean, g.Low, g.High))
	}
	return out
}

// extrapolate continues the scores of rounds to twice the cost of the last round. It fits the least-squares line to the
// logarithms of the scores against those of the costs. The interval combines the line's 95 % band by Student's t and
// the interval that the last round has for other test rows. Rounds share test rows and samples, so the band is no
// promise. It returns nil for fewer than three rounds, for scores or costs of 0, and for costs that do not rise.
func extrapolate(rounds []runs.RoundResult) []runs.RoundResult {
	n := float64(len(rounds))
	if len(rounds) < 3 {
		return nil
	}
	var x, y []float64
	for i, r := range rounds {
		if !(r.Value > 0) || !(r.Cost > 0) || i > 0 && r.Cost <= rounds[i-1].Cost {
			return nil
		}
		x, y = append(x, math.Log(r.Cost)), append(y, math.Log(r.Value))
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	square := 0.0
	for i := range x {
		d := y[i] - a - b*x[i]
		square += d * d
	}
	mean, spread := stat.Mean(x, nil), stat.Variance(x, nil)*(n-1)
	t := distuv.StudentsT{Sigma: 1, Nu: n - 2}.Quantile(0.975)
	var out []runs.RoundResult
	const steps = 8
	last := rounds[len(rounds)-1]
	rows := 0.0
	if last.Interval != nil {
		rows = math.Log(last.Interval[1] / last.Value)
	}
	for i := range steps + 1 {
		cost := last.Cost * (1 + float64(i)/steps)
		at := a + b*math.Log(cost)
		half := t * math.Sqrt(square/(n-2)) * math.Sqrt(1/n+(math.Log(cost)-mean)*(math.Log(cost)-mean)/spread)
		half = math.Hypot(half, rows)
		out = append(out, runs.RoundResult{Cost: cost, Value: math.Exp(at), Interval: &[2]float64{math.Exp(at - half), math.Exp(at + half)}})
	}
	return out
}
