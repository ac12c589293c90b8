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
	const n = 30
	set := &dataset.Set{Binary: true, Tasks: []dataset.Task{{Output: dataset.Output{Name: "a", Class: "x"}},
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
		return l.joinWeights(in, group, func(c, row int) float64 { return f[c][row] }, [][]prediction{g[:len(group)]})
	}
	a, b := weights(one, []int{0})[0], weights(two, []int{0, 1})[0]
	must.Hold(t, math.Abs(a-b) < 1e-9, "one output: %g, two classes: %g", a, b)
}

// The loss of a class is the -log of its score, also where the samples of other classes have outputs that nobody knows.
func TestColumnLoss(t *testing.T) {
	p := &Problem{Set: &dataset.Set{Binary: true}, Target: Source{Tasks: []int{0, 1, 2}},
		Config: Config{Head: Head{Prior: PriorResidual, Loss: LossLogistic}}}
	nan := float32(math.NaN())
	sigmoids := []float64{0.5, 0.25, 0.75}
	f := func(j int) float64 { return math.Log(sigmoids[j] / (1 - sigmoids[j])) }
	known := Labelled{make([]int32, 2), []float32{0, 0, 1, nan, nan, nan}}
	near := func(what string, got, want float64) {
		must.Hold(t, math.Abs(got-want) < 1e-12, "%s: %g, expected %g", what, got, want)
	}
	loss := p.columnLoss(known, []int{0, 1, 2})
	must.EqualSlices(t, loss.rows, []int{0}, "the samples with a label")
	near("a class", loss.of(0, 0, f), -math.Log(0.75/1.5))
	near("a class, 3 labels of 10 being wrong", loss.of(0, 0.3, f), -math.Log(0.7*0.5+0.1))
	other := Labelled{make([]int32, 2), []float32{0, 0, 0, 0, nan, 1}}
	loss = p.columnLoss(other, []int{0, 1, 2})
	near("none of the classes", loss.of(0, 0, f), -math.Log(0.5*0.75*0.25))
	near("a class beside others", loss.of(1, 0, f), -math.Log(0.5*0.75))
	p.Set.Binary = false
	loss = p.columnLoss(Labelled{make([]int32, 1), []float32{1, nan, 3}}, []int{0, 1, 2})
	near("numbers", loss.of(0, 0, func(j int) float64 { return float64(j) }), 2)
}
