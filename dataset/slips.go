package dataset

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// Numbers are taken for slips by their distance from the median of their source. The unit of distance is an interquartile range, that of
// the source or that of all numbers less the medians of their sources, whichever is larger. A digit too many or a lost decimal point makes
// most slips.
//
// Slips are further than slipFar. They are at most one in slipMost of all numbers, and one in slipOften of their source, or a single one.
// No tail leads to them: at most half as many numbers lie between slipNear and slipFar, not counting one number in slipChance, since fewer
// normal numbers lie there; or else there is no number from the distance of the nearest slip down to one slipApart-th of it. Nor are slips
// events: slipMode or more numbers that lie together. The median of a source with fewer than slipLeast numbers does not say where its
// numbers should be.
const (
	slipFar    = 6
	slipMost   = 50
	slipOften  = 10
	slipNear   = 3.5
	slipChance = 1 << 18
	slipApart  = 5
	slipMode   = 5
	slipLeast  = 5
)

// Slips returns, for each source, the indices of its numbers that are probably slips, ascending. It finds none among fewer than 20 numbers
// in all. A few such labels make up most of the squared error, and so decide what is fitted. Where numbers are logarithms, log is the
// transformation that made them, since decimal points are lost before it; otherwise log is nil.
func Slips(numbers [][]float64, log *table.Log) [][]int {
	out := make([][]int, len(numbers))
	centres, halves := make([]float64, len(numbers)), make([]float64, len(numbers))
	var rest []float64
	for i, of := range numbers {
		if len(of) < slipLeast {
			continue
		}
		sorted := slices.Sorted(slices.Values(of))
		centres[i], halves[i] = sorted[(len(sorted)-1)/2], middleHalf(sorted)
		for _, v := range of {
			rest = append(rest, v-centres[i])
		}
	}
	if len(rest) < farLeast {
		return out
	}
	slices.Sort(rest)
	half := middleHalf(rest)
	if half == 0 {
		return out
	}
	far := func(i, place int) float64 { return math.Abs(numbers[i][place]-centres[i]) / math.Max(half, halves[i]) }
	rest = rest[:0]
	for i, of := range numbers {
		for place := range of {
			if len(of) >= slipLeast {
				rest = append(rest, far(i, place))
			}
		}
	}
	least := slipsFrom(rest)
	for i, of := range numbers {
		for place := range of {
			if len(of) >= slipLeast && far(i, place) >= least {
				out[i] = append(out[i], place)
			}
		}
		if len(out[i]) > max(1, len(of)/slipOften) {
			out[i] = nil
		}
	}
	out = union(out, decimalSlips(out, numbers, centres, half, log, far))
	together := togetherSlips(numbers, log)
	for i, of := range together {
		if 2*len(of) >= len(numbers[i]) { // the others are not far, but their median is
			out[i] = nil
		}
	}
	units := unitSlips(numbers, log)
	for i, of := range together {
		if len(of) > 0 {
			units[i] = nil
		}
	}
	return union(union(union(out, together), units), codeSlips(numbers, log))
}

// middleHalf returns the interquartile range of sorted numbers.
func middleHalf(sorted []float64) float64 {
	return quantile(sorted, 0.75) - quantile(sorted, 0.25)
}

// slipsFrom returns the distance of the nearest slip, from the distances of all numbers, which it sorts. It returns infinity where there is
// no slip.
func slipsFrom(all []float64) float64 {
	slices.Sort(all)
	slices.Reverse(all)
	far, near := 0, 0
	for _, d := range all {
		switch {
		case d > slipFar:
			far++
		case d > slipNear:
			near++
		}
	}
	most := max(1, len(all)/slipMost)
	found := 0
	if far <= most && 2*(near-len(all)/slipChance) <= far {
		found = far
	}
	for n := min(far, most); n > 0 && found == 0; n-- {
		if all[n-1] > slipApart*all[n] {
			found = n
		}
	}
	if found == 0 || found >= slipMode && all[found/4]-all[found-1-found/4] < all[found/2]/4 {
		return math.Inf(1)
	}
	return all[found-1]
}
