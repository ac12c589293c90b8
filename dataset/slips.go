package dataset

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// Numbers are taken for slips, of which a digit too many or a lost point makes most, where they are further from the median of their source
// than slipFar times the range of a middle half, the larger of that of their source and that of all numbers less the medians of their
// sources. They are no more than one in slipMost of all, nor than one in slipOften of their source, and no tail leads there: half as many
// or fewer are further than slipNear times, but for one in slipChance, of which normal numbers have fewer; or none is between a
// slipApart-th of the nearest of them and that. Nor are they events: slipMode or more that lie together. Sources with fewer than slipLeast
// numbers have no median that says where these should be.
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

// Slips lists for each source the places of those of its numbers that are probably slips, none of fewer than 20 numbers in all. Squared
// errors are of few such labels alone, and so is what is fitted by them. Of numbers that are logarithms, log is what they are of, else nil:
// points are lost there.
func Slips(numbers [][]float64, log *table.Log) [][]int {
	out, decimal := make([][]int, len(numbers)), make([][]int, len(numbers))
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
		if len(of) >= slipLeast {
			if log == nil {
				decimal[i] = decimalSlips(of, centres[i], half)
				continue
			}
			plain := make([]float64, len(of))
			for at, v := range of {
				plain[at] = log.Inverse(v)
			}
			decimal[i] = decimalSlips(plain, log.Inverse(centres[i]), 0)
		}
	}
	return withDecimals(out, decimal, numbers, far)
}

// middleHalf is the range of the middle half of sorted numbers.
func middleHalf(sorted []float64) float64 {
	return quantile(sorted, 0.75) - quantile(sorted, 0.25)
}

// slipsFrom is how far the least far slip is, of how far all numbers are, which it sorts, infinite where there is none.
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
