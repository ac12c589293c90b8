package dataset

import (
	"math"
	"slices"
)

// Numbers are also taken for slips where a power of ten, from 10^-slipPowers to 10^slipPowers, brings them among the others of their
// source: somebody writes decimal points where others write none. They may be up to one in slipSource of the source and one in slipAll of
// all numbers. The others are of one sign and within a factor slipWithin of each other, but for the outermost hundredth, and are all
// remaining numbers but one in slipElse, and beside several slips but one of another sign, which no power of ten brings among them. Several
// slips are spread as the others are: numbers that have a place of their own are another mode.
const (
	slipPowers = 3
	slipSource = 3
	slipAll    = 10
	slipWithin = 3
	slipElse   = 100
	// slipSpread is the least number of slips that have a spread, and slipPart the least ratio of their spread to the spread of the others.
	slipSpread, slipPart = 3, 0.15
	// slipBeyond is how many times as far as all other numbers the slips must be where a tail leads to them.
	slipBeyond = 3
)

// decimalSlips returns the indices, ascending, of the numbers of a source that a power of ten brings among the others, which lie about
// centre. A slip is further from centre than slipNear times the interquartile range of the others, or times half if that is more. Fewer
// than slipSpread slips must all be further than slipFar times.
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
	unit, beyond := max(half, math.Abs(centre)*middleHalf(others)), (high-low)/2 // beyond: how far others may reach outside low and high
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
	if len(places) >= slipSpread && slices.ContainsFunc(of, func(v float64) bool { return v/centre <= 0 }) {
		rest--
	}
	if few || len(places) > len(of)/slipSource || rest > len(of)/slipElse || !spreadAs(moved, others) {
		return nil
	}
	return places
}

// spreadAs reports whether some numbers may be spread as others, which are sorted: slipSpread or more must not lie all at one place. It is
// false where there are none.
func spreadAs(some, others []float64) bool {
	if len(some) < slipSpread {
		return len(some) > 0
	}
	return slices.Max(some)-slices.Min(some) >= slipPart*(quantile(others, 0.9)-quantile(others, 0.1))
}

// withDecimals adds the decimal slips of each source to slips, where they are few of all numbers and no tail leads to them: at most half as
// many other numbers are further than slipNear, or the nearest decimal slip is slipBeyond times as far as the furthest other number. far
// returns the distance of a number.
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
