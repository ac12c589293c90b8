package pipeline

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A base model has the same weight for two classes of a column with opposite log-odds as for one output: each sample counts once.
func TestTwoClassesCountOnce(t *testing.T) {
	rng := testrand.New(t)
	const n = fewSamples
	set := &dataset.Set{Binary: true, Pools: []*dataset.Pool{{}}, Tasks: []dataset.Task{{Output: dataset.Output{Name: "a", Class: "x"}},
		{Output: dataset.Output{Name: "a", Class: "y"}}}}
	cfg := Config{Sources: SourcesPools, Head: Head{Prior: PriorResidual, Loss: LossLogistic}}
	one := Labelled{Rows: make([]int32, n)}
	two, f, g := one, make([][]float64, 2), make([]prediction, 2)
	for c, sign := range []float64{1, -1} {
		f[c], g[c].left = make([]float64, n), make([]float64, n)
		for i := range n {
			if c == 0 {
				y := float32(rng.IntN(2))
				one.Y, two.Y = append(one.Y, y), append(two.Y, y, 1-y)
				f[c][i], g[c].left[i] = rng.NormFloat64()/3, rng.NormFloat64()/3
			}
			f[c][i], g[c].left[i] = sign*f[0][i], sign*g[0].left[i]
		}
	}
	weights := func(in Labelled, group []int) []float64 {
		l := &Learner{problem: &Problem{Set: set, Config: cfg, Target: Source{Name: "t", Tasks: group}}}
		return l.stackWeights(in, group, func(c, row int) float64 { return f[c][row] }, baseModels{pooled: [][]prediction{g[:len(group)]}})
	}
	a, b := weights(one, []int{0})[0], weights(two, []int{0, 1})[0]
	must.Hold(t, math.Abs(a-b) < 1e-9, "one output: %g, two classes: %g", a, b)
	// A base model whose prediction of one sample is infinite has no weight, and takes none from f.
	far, poor := make([]float64, n), make([]float64, n)
	for i, y := range one.Y {
		f[0][i] = 4 * (2*float64(y) - 1)
		far[i], poor[i] = -10*f[0][i], -10*f[0][i]
	}
	far[n/2] = math.Inf(1)
	l := &Learner{problem: &Problem{Set: set, Config: cfg, Target: Source{Name: "t", Tasks: []int{0}}}}
	left := func(_, row int) float64 { return f[0][row] }
	for i, w := range l.stackWeights(one, []int{0}, left, baseModels{pooled: [][]prediction{{{left: far}}, {{left: poor}}}}) {
		must.Hold(t, w < 1e-3, "help %d has the weight %g", i, w)
	}
}
