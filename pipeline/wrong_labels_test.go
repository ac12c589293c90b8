package pipeline

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The loss by which methods are compared is the least over the rates of wrong labels, where a rate above 0 costs a nat.
func TestLikeliestNoise(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		e := Epoch{LogLoss: 10 + 4*rng.NormFloat64()}
		evidence, rate, least := 0.1+rng.Float64(), 0.0, e.LogLoss
		for _, noise := range regress.NoiseRates[1:] {
			e.NoisyLoss = append(e.NoisyLoss, 10+4*rng.NormFloat64())
			if v := e.NoisyLoss[len(e.NoisyLoss)-1] + 1/evidence; v < least {
				rate, least = noise, v
			}
		}
		got, loss := e.LikeliestNoise(evidence)
		must.Hold(t, got == rate && near(loss, least, 1e-9), "%+v: rate %g, loss %g, expected %g, %g", e, got, loss, rate, least)
		e.NoisyLoss = nil
		got, loss = e.LikeliestNoise(evidence)
		must.Hold(t, got == 0 && near(loss, e.LogLoss, 1e-9), "without noise: rate %g, loss %g", got, loss)
	}
}

// For classes of pools a round keeps its log-loss at each rate of wrong labels. In tasks labels are taken to be right.
func TestNoisyLossOfRounds(t *testing.T) {
	rng := testrand.New(t)
	for _, pools := range []bool{true, false} {
		set := shops(rng, 4, 300, 5, 3, true)
		cfg := defaultConfig(t)
		cfg.Methods, cfg.TargetSamples = []string{Uniform}, 60
		if !pools {
			cfg.Sources = SourcesTasks
		}
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		p := l.problem
		in := p.LookUp(must.Get(p.Propose(State{}))(t)).Target
		outputs := len(p.Target.Tasks)
		fit := headFit{labels: in.Y}
		for range outputs {
			fit.left = append(fit.left, narrow(normals(rng, len(in.Rows))))
		}
		var e Epoch
		e.setLogLoss(fit, p, in)
		losses := append([]float64{e.LogLoss}, e.NoisyLoss...)
		must.Equal(t, len(losses), map[bool]int{true: len(regress.NoiseRates), false: 1}[pools], "rates")
		for at, loss := range losses {
			want := 0.0
			for row := range in.Rows {
				for _, group := range p.columnGroups() {
					var labels, heads []float64
					for _, c := range group {
						labels, heads = append(labels, float64(in.Y[row*outputs+c])), append(heads, float64(fit.left[c][row]))
					}
					want += regress.LogOfLabels(labels, heads, regress.NoiseRates[at])
				}
			}
			must.Hold(t, math.Abs(loss-want) < 1e-9*want, "at a rate of %g the loss is %g, expected %g", regress.NoiseRates[at], loss, want)
		}
	}
}
