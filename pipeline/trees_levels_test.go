package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

// levelsOf draws the means of groups towards each other as far as they do not differ beyond their noise: of groups that differ by less
// than their labels to one mean, and of groups that differ by far not at all. Groups without labels have the mean level.
func TestLevels(t *testing.T) {
	rng := testrand.New(t)
	for _, between := range []float64{0, 0.5, 2, 1e3} {
		var groups [][]float64
		var truth []float64
		for range 4000 {
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
		most := raw * map[float64]float64{0: 0.3, 0.5: 1, 2: 0.98, 1e3: 1.001}[between]
		must.Hold(t, drawn <= most, "between %g: %g of levels, %g of means", between, drawn, raw)
		must.Hold(t, math.Abs(levels[len(groups)]-5) < 0.3+0.4*between, "the level of no labels is %g", levels[len(groups)])
	}
	must.EqualSlices(t, levelsOf([][]float64{nil, nil}), []float64{0, 0}, "levels of nothing")
	must.EqualSlices(t, levelsOf([][]float64{{2, 2}, {4}}), []float64{2, 4}, "levels without noise")
	must.EqualSlices(t, levelsOf([][]float64{{3}, nil}), []float64{3, 3}, "levels of one label")
}

// slowLevels computes levelsOf as DerSimonian and Laird write it: with weights w_m = n_m / sigma^2 and their weighted mean, by
// Cochran's Q = sum w_m (mean_m - mean)^2 of k groups, tau^2 = (Q - (k - 1)) / (sum w - sum w^2 / sum w), or 0.
func slowLevels(groups [][]float64) (levels []float64) {
	var means, w []float64
	within, free := 0.0, 0.0
	for _, of := range groups {
		mean, square := stat.PopMeanVariance(of, nil)
		means, within, free = append(means, mean), within+square*float64(len(of)), free+float64(len(of)-1)
	}
	for _, of := range groups {
		w = append(w, float64(len(of))*free/within)
	}
	mean, q, squares := stat.Mean(means, w), 0.0, 0.0
	for m, v := range w {
		q, squares = q+v*(means[m]-mean)*(means[m]-mean), squares+v*v
	}
	between := math.Max(0, (q-float64(len(groups)-1))/(floats.Sum(w)-squares/floats.Sum(w)))
	if between <= within/free {
		between = 0
	}
	var exact []float64
	for _, v := range w {
		exact = append(exact, 1/(between+1/v))
	}
	mean = stat.Mean(means, exact)
	for m, v := range exact {
		levels = append(levels, mean+between*v*(means[m]-mean))
	}
	return levels
}

// The levels of a few groups are those of the formulas in the literature.
func TestLevelsOfFewGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 300 {
		between, groups := 2*rng.Float64(), make([][]float64, 2+rng.IntN(5))
		for m := range groups {
			level := between * rng.NormFloat64()
			for range 2 + rng.IntN(6) {
				groups[m] = append(groups[m], level+rng.NormFloat64())
			}
		}
		closeVectors(t, "levels", levelsOf(groups), slowLevels(groups), 1e-9, 1)
	}
}

// Where all rows are of one class, a source of n of them has n + 1/2 rows of it and 1/2 of none, and one without a row, as the
// target, those of all sources.
func TestLevelsOfOneClass(t *testing.T) {
	rng := testrand.New(t)
	for _, outputs := range []int{1, 3} {
		is, group := rng.IntN(2), upTo(outputs)
		rows := &treeRows{kind: boost.Classes, samples: make([]int, 2)}
		for _, c := range group {
			rows.group = append(rows.group, int(c))
		}
		for range 5 {
			rows.sources = append(rows.sources, nil)
			for range 1 + rng.IntN(30) {
				rows.sources[len(rows.sources)-1] = append(rows.sources[len(rows.sources)-1], int32(rows.first))
				rows.first++
			}
		}
		for range rows.first + len(rows.samples) {
			for c := range outputs {
				rows.y = append(rows.y, float64(b2i(c == 0 && is == 1 || c == 1 && is == 0)))
			}
		}
		start, ofTarget := rows.start(upTo(rows.first))
		logit := func(n, c int) float64 {
			known := float64(n) + 1
			p := 0.5 / known
			if rows.y[c] == 1 {
				p = (float64(n) + 0.5) / known
			}
			if outputs == 1 {
				return math.Log(p / (1 - p))
			}
			return math.Log(p)
		}
		for c := range outputs {
			for m, of := range rows.sources {
				isNear(t, start[int(of[0])*outputs+c], logit(len(of), c), 1e-9, fmt.Sprintf("class %d: the level of source %d", c, m))
			}
			isNear(t, ofTarget[c], logit(rows.first, c), 1e-9, fmt.Sprintf("class %d: the level of the target", c))
		}
	}
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
