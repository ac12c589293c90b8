package regress

import (
	"math"
	"slices"
)

// CommonLevels are those that [LevelOf] has the choice of: from that at which heads are log-odds of one class against all others, to
// that at which 1 / (1 + exp(-head)) is exp(head) to rounding, so that heads are logits. Of large heads that is further down.
var CommonLevels = []float64{0, -1, -2, -4, -8, -16, -32}

// leastBelow is how far below 0 the largest head of a sample is at the last level, which is that of leastLast at least: float32
// tells heads apart there.
const leastBelow, leastLast = 4, -1 << 20

// LevelOf is what to add to the heads of classes that exclude each other, the same to all, so that their scores make the
// classes of samples likely: sigmoids divided by their sum. heads are by class and sample; a sample without one of them does not
// count. No class is larger than another for it.
func LevelOf(heads [][]float64, class []int) float64 {
	var counted []int
	largest := math.Inf(-1)
	for i, of := range class {
		most := math.Inf(-1)
		for _, head := range heads {
			most = math.Max(most, head[i]) // or NaN
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
