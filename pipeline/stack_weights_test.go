package pipeline

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The label of a sample has no part in the weights with which its own prediction is stated, nor in those of the other samples of its fold.
func TestJoinWeightsByOthers(t *testing.T) {
	const n = 40
	rng := testrand.New(t)
	in, f, g := Labelled{Rows: make([]int32, n), Y: make([]float32, n)}, make([]float64, n), make([]float64, n)
	for i := range n {
		in.Rows[i], in.Y[i] = int32(i), float32(rng.NormFloat64())
		f[i], g[i] = float64(in.Y[i])+rng.NormFloat64(), float64(in.Y[i])+rng.NormFloat64()
	}
	set := &dataset.Set{Pools: []*dataset.Pool{{Rows: n}}, Tasks: []dataset.Task{{}}}
	l := &Learner{problem: &Problem{Set: set, Target: Source{Name: "t", Tasks: []int{0}}}}
	left, found := func(_, row int) float64 { return f[row] }, baseModels{pooled: [][]prediction{{{left: g}}}}
	all := l.stackWeights(in, []int{0}, left, found)
	before := l.stackWeightsByOthers(in, 0, left, found, all)
	in.Y = slices.Clone(in.Y)
	in.Y[7] = 100 // folds are dealt in turn
	for i, weights := range l.stackWeightsByOthers(in, 0, left, found, nil) {
		must.Hold(t, slices.Equal(weights, before[i]) == (i%10 == 7), "sample %d: weights %g, were %g", i, weights, before[i])
	}
	// Without a label a sample has no fold, and the weights are those of all.
	in.Y[7] = float32(math.NaN())
	of := l.stackWeightsByOthers(in, 0, left, found, all)
	must.Hold(t, slices.Equal(of[7], all), "without a label: weights %g, expected %g", of[7], all)
}
