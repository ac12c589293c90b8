package dataset

import (
	"math"
	"slices"
)

// Numbers are taken for slips too where one power of ten, up to slipPowers, takes them among the others of their source, however many they
// are, up to one in slipSource of it and one in slipAll of all: somebody writes points where others have none. The others are of one sign,
// within a factor slipWithin of each other, and all but one in slipElse.
const (
	slipPowers = 3
	slipSource = 3
	slipAll    = 10
	slipWithin = 5
	slipElse   = 50
	// slipBeyond is how many times as far as all other numbers they are.
	slipBeyond = 3
)

// decimalSlips lists the places of the numbers of a source that a power of ten takes among the others, which are about centre. Slips are
// further from it than slipNear times the range of their middle half, or half where that is more.
func decimalSlips(of []float64, centre, half float64) (places []int) {
	var others []float64
	for _, v := range of {
		if r := v / centre; r > 1/math.Sqrt(10) && r < math.Sqrt(10) {
			others = append(others, r)
		}
	}
	slices.Sort(others)
	if len(others) == 0 || others[len(others)-1] > slipWithin*others[0] {
		return nil
	}
	low, high, far := others[0], others[len(others)-1], slipNear*max(half, math.Abs(centre)*middleHalf(others))
	const beyond = 1.5 // the others reach further than those that are there
	for i, v := range of {
		for power := -slipPowers; power <= slipPowers; power++ {
			r := v / centre / math.Pow10(power)
			if power != 0 && math.Abs(v-centre) > far && r > low/beyond && r < high*beyond {
				places = append(places, i)
				break
			}
		}
	}
	if len(places) > len(of)/slipSource || len(of)-len(others)-len(places) > len(of)/slipElse {
		return nil
	}
	return places
}

// withDecimals adds the decimal slips of each source to the slips, where these are few of all numbers and no tail leads there: half as many
// or fewer are further than slipNear, or none a slipBeyond-th as far, as far says it.
func withDecimals(slips, decimal [][]int, numbers [][]float64, far func(i, place int) float64) [][]int {
	n, near, all, nearest, furthest := 0, 0, 0, math.Inf(1), 0.0
	for i, of := range numbers {
		for place := range of {
			if len(of) < slipLeast {
				break
			}
			all++
			switch d := far(i, place); {
			case slices.Contains(decimal[i], place):
				n, nearest = n+1, min(nearest, d)
			case !slices.Contains(slips[i], place):
				furthest = max(furthest, d)
				near += bit(d > slipNear)
			}
		}
	}
	if n > all/slipAll || 2*(near-all/slipChance) > n && nearest < slipBeyond*furthest {
		return slips
	}
	for i, of := range decimal {
		for _, place := range of {
			if !slices.Contains(slips[i], place) {
				slips[i] = append(slips[i], place)
			}
		}
		slices.Sort(slips[i])
	}
	return slips
}
