package dataset

import (
	"math"
	"slices"
)

// Numbers are taken for slips, of which a digit too many or a lost point makes most, where they are further from what their source has
// than slipFar times the range of the middle half of all numbers less what their sources have, are no more than one in slipMost, and no
// tail leads there: half as many or fewer are further than slipNear times, but for one in slipChance, of which normal numbers have fewer;
// or none is between a slipApart-th of the nearest of them and that. What a source has is the median of its numbers, or where it has
// fewer than slipLeast that of all.
const (
	slipFar    = 6
	slipMost   = 50
	slipNear   = 3.5
	slipChance = 1 << 18
	slipApart  = 5
	slipLeast  = 5
)

// Slips lists for each source the places of those of its numbers that are probably slips, none of fewer than 20 numbers in all. Squared
// errors are of few such labels alone, and so is what is fitted by them.
func Slips(numbers [][]float64) [][]int {
	out, all, centres := make([][]int, len(numbers)), slices.Concat(numbers...), make([]float64, len(numbers))
	if len(all) < farLeast {
		return out
	}
	whole, rest := medianOf(all), make([]float64, 0, len(all))
	for i, of := range numbers {
		if centres[i] = whole; len(of) >= slipLeast {
			centres[i] = medianOf(slices.Clone(of))
		}
		for _, v := range of {
			rest = append(rest, v-centres[i])
		}
	}
	least := slipsFrom(rest)
	for i, of := range numbers {
		for place, v := range of {
			if math.Abs(v-centres[i]) >= least {
				out[i] = append(out[i], place)
			}
		}
	}
	return out
}

// slipsFrom is how far from what their source has the least far slip is, of all numbers less that, which it sorts and overwrites; infinite
// where there is none.
func slipsFrom(rest []float64) float64 {
	slices.Sort(rest)
	at := func(share float64) float64 { return rest[int(share*float64(len(rest)-1))] }
	half := at(0.75) - at(0.25)
	if half == 0 {
		return math.Inf(1)
	}
	far, near := 0, 0
	for i, v := range rest {
		rest[i] = math.Abs(v)
		switch d := rest[i] / half; {
		case d > slipFar:
			far++
		case d > slipNear:
			near++
		}
	}
	slices.Sort(rest)
	slices.Reverse(rest)
	most := max(1, len(rest)/slipMost)
	if 0 < far && far <= most && 2*(near-len(rest)/slipChance) <= far {
		return rest[far-1]
	}
	for n := min(far, most); n > 0; n-- {
		if rest[n-1] > slipApart*rest[n] {
			return rest[n-1]
		}
	}
	return math.Inf(1)
}

// medianOf sorts values.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}
