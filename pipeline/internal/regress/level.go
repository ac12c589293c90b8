package regress

import (
	"math"
	"slices"
)

// CommonLevels holds the levels that [LevelOf] always compares. They go from 0, at which heads are log-odds of one class
// against all others, to one at which 1 / (1 + exp(-head)) is exp(head) to rounding, so that heads are logits. For large
// heads LevelOf goes further down.
var CommonLevels = []float64{0, -1, -2, -4, -8, -16, -32}

// leastBelow is how far below 0 the largest head of a sample has to be at the last level. That level is leastLast at least, where
// float32 still tells heads apart.
const leastBelow, leastLast = 4, -1 << 20

// LevelOf returns the level that makes the classes of the samples most likely. It is added to the heads of all classes, which
// exclude each other; their scores are sigmoids divided by their sum. heads is indexed by class and sample. A sample without a
// class, or without one of the heads (NaN), does not count. A level does not change which class has the largest head.
func LevelOf(heads [][]float64, class []int) float64 {
	var counted []int
	largest := math.Inf(-1)
	for i, of := range class {
		most := math.Inf(-1)
		for _, head := range heads {
			most = math.Max(most, head[i]) // NaN if any is
		}
		if of >= 0 && most < math.Inf(1) {
			counted, largest = append(counted, i), math.Max(largest, most)
		}
	}
	levels := slices.Clone(CommonLevels)
	for last := levels[len(levels)-1]; largest+last > -leastBelow && last > leastLast; levels = append(levels, last) {
		last *= 2
	}
	best, least := 0.0, math.Inf(1)
	for _, level := range levels {
		loss, at := 0.0, make([]float64, len(heads))
		for _, i := range counted {
			for c, head := range heads {
				at[c] = head[i] + level
			}
			loss += logOfClass(at, class[i])
		}
		if loss < least {
			best, least = level, loss
		}
	}
	return best
}
