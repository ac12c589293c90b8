package pipeline

import (
	"math"

	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

// start returns what trees on some rows begin with, for each row and output, and for each output of the target: one level
// or, where sources differ more in their mean label than rows within them, a level of each source and of the target, since
// splits by source would all be on what no column has. Levels are those of a random-effects model (DerSimonian and Laird
// 1986), the mean label of a source drawn towards that of all the more, the fewer rows it has and the less sources differ
// beyond the noise of such means. For classes they are logits, of rates at least half a row from 0 and 1. Sources without any of
// the rows, and the target, if it has none, have the mean level.
func (t *treeRows) start(rows []int32) (start, ofTarget []float64) {
	c, n := len(t.group), t.first+len(t.samples)
	sources := append(t.sources[:len(t.sources):len(t.sources)], upTo(n)[t.first:])
	start, ofTarget = make([]float64, n*c), make([]float64, c)
	in := make([]bool, n)
	for _, i := range rows {
		in[i] = true
	}
	for k := range c {
		of := make([][]float64, len(sources))
		for m, all := range sources {
			for _, i := range all {
				if in[i] {
					of[m] = append(of[m], t.y[int(i)*c+k])
				}
			}
		}
		for m, level := range levelsOf(of) {
			if t.kind == boost.Classes {
				least := 0.5 / float64(len(of[m])+1)
				if len(of[m]) == 0 {
					least = 0.5 / float64(len(rows)+1)
				}
				p := math.Min(math.Max(level, least), 1-least)
				if level = math.Log(p); c == 1 {
					level -= math.Log1p(-p)
				}
			}
			for _, i := range sources[m] {
				start[int(i)*c+k] = level
			}
			ofTarget[k] = level // the target is the last
		}
	}
	return start, ofTarget
}

// levelsOf returns the levels of groups of labels under a random-effects model: with tau^2 the variance between groups,
// sigma^2 that within them, and mu the mean of the groups' means weighted by 1 / (tau^2 + sigma^2/n_m), it is
// mu + tau^2 / (tau^2 + sigma^2/n_m) (mean_m - mu) for a group of n_m labels. Where tau^2 is at most sigma^2 it is the mean
// of all labels.
func levelsOf(groups [][]float64) []float64 {
	means, levels := make([]float64, len(groups)), make([]float64, len(groups))
	all, present, sum, within := 0.0, 0.0, 0.0, 0.0
	for m, of := range groups {
		n := float64(len(of))
		for _, v := range of {
			means[m] += v / n
		}
		for _, v := range of {
			within += (v - means[m]) * (v - means[m])
		}
		if n > 0 {
			all, present, sum = all+n, present+1, sum+n*means[m]
		}
	}
	if all == 0 {
		return levels
	}
	noise, mean := 0.0, sum/all // sigma^2
	if all > present {
		noise = within / (all - present)
	}
	q, squares := 0.0, 0.0
	for m, of := range groups {
		n := float64(len(of))
		q, squares = q+n*(means[m]-mean)*(means[m]-mean), squares+n*n
	}
	between := 0.0                                                // tau^2
	if spread := all - squares/all; spread > 0 && all > present { // else nothing tells the variances apart
		between = math.Max(0, (q-(present-1)*noise)/spread)
	}
	if between <= noise { // by their means trees find sources that are alike, which is then worth more than to have no need to
		between = 0
	}
	keep := func(m int) float64 { // tau^2 / (tau^2 + sigma^2/n_m)
		n := float64(len(groups[m]))
		if n*between == 0 {
			return 0
		}
		return between / (between + noise/n)
	}
	if between > 0 {
		weights := 0.0
		sum = 0
		for m := range groups {
			sum, weights = sum+keep(m)*means[m], weights+keep(m)
		}
		mean = sum / weights
	}
	for m := range groups {
		levels[m] = mean + keep(m)*(means[m]-mean)
	}
	return levels
}
