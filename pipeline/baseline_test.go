package pipeline

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The log-loss by which Constant is compared with other methods leaves each sample out of the class frequencies: it is more than n times
// the entropy of all samples.
func TestConstantIsLeftOut(t *testing.T) {
	rng := testrand.New(t)
	set := shops(rng, 6, 200, 6, 4, true)
	cfg := defaultConfig(t)
	cfg.TargetSamples, cfg.Schedule.Budget, cfg.Methods = 30, 300, []string{Uniform, Constant}
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	st := must.Get(l.Solve(context.Background(), State{}, quiet, unsaved))(t)
	in, outputs := l.problem.TargetSamples(), len(l.problem.Target.Tasks)
	n, want := float64(len(in.Rows)), 0.0
	entropy := 0.0
	for c := range outputs {
		ones := floats.Sum(wide(in.column(c, outputs)))
		if ones > 0 {
			entropy -= ones * math.Log(ones/n)
		}
		if ones > 1 { // without a sample, there are ones - 1 of its class among n - 1
			want -= ones * math.Log((ones-1)/(n-1))
		}
	}
	got := st.Epochs[len(st.Epochs)-1].LogLoss
	must.Hold(t, got > entropy+1 && got > want-1e-3, "the log-loss is %g, the entropy of all samples %g, without each %g", got, entropy, want)
}
