package pipeline

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Two classes of a column are one question: what helps to tell them counts as it does where there is one output.
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
		return l.joinWeights(in, group, func(c, row int) float64 { return f[c][row] }, helps{pooled: [][]prediction{g[:len(group)]}})
	}
	a, b := weights(one, []int{0})[0], weights(two, []int{0, 1})[0]
	must.Hold(t, math.Abs(a-b) < 1e-9, "one output: %g, two classes: %g", a, b)
}

// The loss of a class is -log of its score among the classes that are known, and each label counts where the class is none of these.
func TestLogOfLabels(t *testing.T) {
	nan := math.NaN()
	sigmoids := []float64{0.5, 0.25, 0.75}
	var heads []float64
	for _, v := range sigmoids {
		heads = append(heads, math.Log(v/(1-v)))
	}
	for _, of := range []struct {
		y          []float64
		rate, want float64
	}{
		{[]float64{0, 0, 1}, 0, 0.75 / 1.5},
		{[]float64{0, 0, 1}, 0.3, 0.7*0.5 + 0.1},
		{[]float64{nan, 0, 1}, 0, 0.75},
		{[]float64{nan, nan, 1}, 0, 0.75},
		{[]float64{0, 0, 0}, 0, 0.5 * 0.75 * 0.25},
		{[]float64{0, nan, nan}, 0.2, 0.8*0.5 + 0.1},
		{[]float64{nan, nan, nan}, 0.2, 1},
	} {
		got := logOfLabels(of.y, heads, of.rate)
		must.Hold(t, math.Abs(got+math.Log(of.want)) < 1e-12, "labels %v: %g, expected %g", of.y, got, -math.Log(of.want))
	}
}
