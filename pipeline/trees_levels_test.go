package pipeline

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// levelsOf draws the means of groups towards each other as far as they do not differ beyond their noise: of groups that do
// not differ to one mean, and of groups that differ by far not at all. Groups without labels have the mean level.
func TestLevels(t *testing.T) {
	rng := testrand.New(t)
	for _, between := range []float64{0, 1, 1e3} {
		var groups [][]float64
		var truth []float64
		for range 400 {
			level, of := between*rng.NormFloat64(), make([]float64, 1+rng.IntN(4))
			for i := range of {
				of[i] = 5 + level + rng.NormFloat64()
			}
			groups, truth = append(groups, of), append(truth, 5+level)
		}
		levels := levelsOf(append(groups, nil))
		drawn, raw := 0.0, 0.0
		for m, of := range groups {
			mean := 0.0
			for _, v := range of {
				mean += v / float64(len(of))
			}
			drawn, raw = drawn+math.Pow(levels[m]-truth[m], 2), raw+math.Pow(mean-truth[m], 2)
			must.Hold(t, between < 1e3 || math.Abs(levels[m]-mean) < 0.02, "level %g of mean %g", levels[m], mean)
		}
		must.Hold(t, drawn <= raw*map[float64]float64{0: 0.3, 1: 0.95, 1e3: 1.001}[between], "between %g: %g of levels, %g of means", between,
			drawn, raw)
		must.Hold(t, math.Abs(levels[len(groups)]-5) < 0.3+0.4*between, "the level of no labels is %g", levels[len(groups)])
	}
	must.EqualSlices(t, levelsOf([][]float64{nil, nil}), []float64{0, 0}, "levels of nothing")
	must.EqualSlices(t, levelsOf([][]float64{{2, 2}, {4}}), []float64{2, 4}, "levels without noise")
	must.EqualSlices(t, levelsOf([][]float64{{3}, nil}), []float64{3, 3}, "levels of one label")
}

// Where sources differ in their level, trees err about as they do without levels, though these are up to 18 times the effect.
func TestTreesOfLevels(t *testing.T) {
	rng := testrand.New(t)
	set := asTable(shops(rng, 7, 400, 5, 1, false))
	together(t, set, 1)
	cfg := treesConfig(t)
	cfg.TargetSamples, cfg.Schedule.Budget = 60, 1800
	score := func() float64 {
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
		return st.Epochs[len(st.Epochs)-1].Score.Value
	}
	same := score()
	for i := range set.Tasks {
		set.Tasks[i].Labels = slices.Clone(set.Tasks[i].Labels)
		for row := range set.Tasks[i].Labels {
			set.Tasks[i].Labels[row] += float32(3 * i)
		}
	}
	apart := score()
	must.Hold(t, apart < same+0.3, "the mean squared error is %g with levels, %g without", apart, same)
}
