package dataset

import (
	"math"
	"slices"
)

// Numbers are taken for slips too where one power of ten, up to slipPowers, takes them among the others of their source, however many they
// are, up to one in slipSource of it and one in slipAll of all: somebody writes points where others have none. The others are of one sign,
// within a factor slipWithin of each other but for the outermost hundredth, and all but one in slipElse. Several slips are spread as the
// others are: what has a place of its own is another mode.
const (
	slipPowers = 3
	slipSource = 3
	slipAll    = 10
	slipWithin = 3
	slipElse   = 100
	// slipSpread are so many slips as have a spread, and slipPart is the least part of that of the others.
	slipSpread, slipPart = 3, 0.15
	// slipBeyond is how many times as far as all other numbers they are.
	slipBeyond = 3
)

// decimalSlips lists the places of the numbers of a source, ascending, that a power of ten takes among the others, which are about centre.
// Slips are further from it than slipNear times the range of their middle half, or half where that is more, and few than slipFar times.
func decimalSlips(of []float64, centre, half float64) (places []int) {
	var others []float64
	isOther := func(r float64) bool { return r > 1/math.Sqrt(10) && r < math.Sqrt(10) }
	for _, v := range of {
		if isOther(v / centre) {
			others = append(others, v/centre)
		}
	}
	slices.Sort(others)
	if len(others) == 0 {
		return nil
	}
	outermost := len(others) / 200
	low, high := others[outermost], others[len(others)-1-outermost]
	if high > slipWithin*low {
		return nil
	}
	unit, beyond := max(half, math.Abs(centre)*middleHalf(others)), (high-low)/2 // where others may be that are not there
	var moved []float64
	nearest := math.Inf(1)
	for i, v := range of {
		if isOther(v / centre) {
			continue
		}
		for power := -slipPowers; power <= slipPowers; power++ {
			r := v / centre / math.Pow10(power)
			if d := math.Abs(v-centre) / unit; power != 0 && d > slipNear && r > low-beyond && r < high+beyond {
				places, moved, nearest = append(places, i), append(moved, r), min(nearest, d)
				break
			}
		}
	}
	few, rest := len(places) < slipSpread && nearest < slipFar, len(of)-len(others)-len(places)
	if few || len(places) > len(of)/slipSource || rest > len(of)/slipElse || !spreadAs(moved, others) {
		return nil
	}
	return places
}

// spreadAs says whether numbers, of which there are some, may be spread as others, which are sorted: several are not all at one place.
func spreadAs(some, others []float64) bool {
	if len(some) < slipSpread {
		return len(some) > 0
	}
	return slices.Max(some)-slices.Min(some) >= slipPart*(quantile(others, 0.9)-quantile(others, 0.1))
}

// withDecimals adds the decimal slips of each source to the slips, where these are few of all numbers and no tail leads there: half as many
// or fewer are further than slipNear, or none a slipBeyond-th as far, as far says it.
func withDecimals(slips, decimal [][]int, numbers [][]float64, far func(i, place int) float64) [][]int {
	n, all := 0, 0
	for i, of := range numbers {
		n, all = n+len(decimal[i]), all+len(of)
	}
	if n == 0 || n > all/slipAll {
		return slips
	}
	near, nearest, furthest := 0, math.Inf(1), 0.0
	for i, of := range numbers {
		if len(of) < slipLeast {
			continue
		}
		for place := range of {
			d := far(i, place)
			if _, is := slices.BinarySearch(decimal[i], place); is {
				nearest = min(nearest, d)
			} else if _, is := slices.BinarySearch(slips[i], place); !is {
				furthest = max(furthest, d)
				near += bit(d > slipNear)
			}
		}
	}
	if 2*(near-all/slipChance) > n && nearest < slipBeyond*furthest {
		return slips
	}
	for i, of := range decimal {
		slips[i] = append(slips[i], of...)
		slices.Sort(slips[i])
		slips[i] = slices.Compact(slips[i])
	}
	return slips
}
