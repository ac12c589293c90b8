package dataset

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// Numbers are also taken for slips where a power of ten, from 10^-slipPowers to 10^slipPowers, brings them among the others of their
// source: somebody writes decimal points where others write none. They must be fewer than half of the source. The others are of one sign
// and within a factor slipWithin of each other, but for the outermost hundredth, and are all remaining numbers but one in slipElse, and
// beside several slips but one of another sign, which no power of ten brings among them. Several slips are spread as the others are:
// numbers that have a place of their own are another mode. They have the place of the others too, once a power of ten has moved them:
// another mode is hardly ever just a power of ten away. They are at most one in slipAll of all numbers.
//
// Where most numbers of a source are slips, its median is one too. So the numbers of all sources are also taken together, as if they were
// of one source. There a slip is off by 10^slipUnit or more, since sources may differ in size.
const (
	slipPowers = 3
	slipUnit   = 2
	slipAll    = 3
	slipWithin = 3
	slipElse   = 100
	// slipSpread is the least number of slips that have a spread, and slipPart the least ratio of their spread to the spread of the others.
	slipSpread, slipPart = 3, 0.15
	// slipBeyond is how many times as far as all other numbers the slips must be where a tail leads to them.
	slipBeyond = 3
	// slipPlace is the largest distance of the means of the logarithms of the slips and of the others, in standard errors.
	slipPlace = 4
)

// decimals are the numbers of a source that a power of ten brings among the others. moved and others hold the ratios of these, brought
// there, and of the others to the centre of the source.
type decimals struct {
	places        []int
	moved, others []float64
}

// findDecimals returns the decimal slips of a source. centre is what its numbers lie about. A slip is further from centre than slipNear
// times the interquartile range of the others, or times half if that is more, and off by 10^least or more. Fewer than slipSpread slips must
// all be further than slipFar times.
func findDecimals(of []float64, centre, half float64, least int) (d decimals) {
	var others, moved []float64
	var places []int
	isOther := func(r float64) bool { return r > 1/math.Sqrt(10) && r < math.Sqrt(10) }
	for _, v := range of {
		if isOther(v / centre) {
			others = append(others, v/centre)
		}
	}
	slices.Sort(others)
	if len(others) == 0 {
		return d
	}
	outermost := len(others) / 200
	low, high := others[outermost], others[len(others)-1-outermost]
	if high > slipWithin*low {
		return d
	}
	unit, beyond := max(half, math.Abs(centre)*middleHalf(others)), (high-low)/2 // beyond: how far others may reach outside low and high
	nearest := math.Inf(1)
	for i, v := range of {
		if isOther(v / centre) {
			continue
		}
		for power := -slipPowers; power <= slipPowers; power++ {
			r := v / centre / math.Pow10(power)
			if far := math.Abs(v-centre) / unit; max(power, -power) >= least && far > slipNear && r > low-beyond && r < high+beyond {
				places, moved, nearest = append(places, i), append(moved, r), min(nearest, far)
				break
			}
		}
	}
	few, rest := len(places) < slipSpread && nearest < slipFar, len(of)-len(others)-len(places)
	if len(places) >= slipSpread && slices.ContainsFunc(of, func(v float64) bool { return v/centre <= 0 }) {
		rest--
	}
	if few || 2*len(places) >= len(of) || rest > len(of)/slipElse || !spreadAs(moved, others) {
		return d
	}
	return decimals{places, moved, others}
}

// spreadAs reports whether some numbers may be spread as others, which are sorted: slipSpread or more must not lie all at one place. It is
// false where there are none.
func spreadAs(some, others []float64) bool {
	if len(some) < slipSpread {
		return len(some) > 0
	}
	return slices.Max(some)-slices.Min(some) >= slipPart*(quantile(others, 0.9)-quantile(others, 0.1))
}

// decimalSlips returns the decimal slips of each source, where they are few of all numbers and no tail leads to them: at most half as many
// other numbers are further than slipNear, or the nearest decimal slip is slipBeyond times as far as the furthest other number. slips are
// the slips that are known. far returns the distance of a number.
func decimalSlips(slips [][]int, numbers [][]float64, centres []float64, half float64, log *table.Log,
	far func(i, place int) float64) (out [][]int) {
	out = make([][]int, len(numbers))
	n, all := 0, 0
	var moved, others []float64
	for i, of := range numbers {
		all += len(of)
		if len(of) < slipLeast {
			continue
		}
		d := decimals{}
		if log == nil {
			d = findDecimals(of, centres[i], half, 1)
		} else {
			d = findDecimals(plain(of, log), log.Inverse(centres[i]), 0, 1)
		}
		out[i] = d.places
		n, moved, others = n+len(d.places), append(moved, d.moved...), append(others, d.others...)
	}
	if n == 0 || slipAll*n > all || !samePlace(moved, others) {
		return make([][]int, len(numbers))
	}
	near, nearest, furthest := 0, math.Inf(1), 0.0
	for i, of := range numbers {
		if len(of) < slipLeast {
			continue
		}
		for place := range of {
			d := far(i, place)
			if _, is := slices.BinarySearch(out[i], place); is {
				nearest = min(nearest, d)
			} else if _, is := slices.BinarySearch(slips[i], place); !is {
				furthest = max(furthest, d)
				near += bit(d > slipNear)
			}
		}
	}
	if 2*(near-all/slipChance) > n && nearest < slipBeyond*furthest {
		return make([][]int, len(numbers))
	}
	return out
}

// samePlace reports whether the mean of the logarithms of some ratios may be that of the others.
func samePlace(some, others []float64) bool {
	mean := func(of []float64) (m float64) {
		for _, r := range of {
			m += math.Log(r) / float64(len(of))
		}
		return m
	}
	centre, variance := mean(others), 0.0
	for _, r := range others {
		variance += math.Pow(math.Log(r)-centre, 2) / float64(len(others))
	}
	return math.Abs(mean(some)-centre) <= slipPlace*math.Sqrt(variance*(1/float64(len(some))+1/float64(len(others))))
}

// togetherSlips returns, by source, the decimal slips of the numbers of all sources taken together.
func togetherSlips(numbers [][]float64, log *table.Log) [][]int {
	out := make([][]int, len(numbers))
	all := slices.Concat(numbers...)
	if log != nil {
		all = plain(all, log)
	}
	sorted := slices.Sorted(slices.Values(all))
	d := findDecimals(all, sorted[(len(sorted)-1)/2], 0, slipUnit)
	if n := len(d.places); n == 0 || slipAll*n > len(all) || !samePlace(d.moved, d.others) {
		return out
	}
	before, at := 0, 0 // the numbers, and the slips, of earlier sources
	for i, of := range numbers {
		for ; at < len(d.places) && d.places[at] < before+len(of); at++ {
			out[i] = append(out[i], d.places[at]-before)
		}
		before += len(of)
	}
	return out
}

// plain returns the numbers whose logarithms are given.
func plain(logs []float64, log *table.Log) []float64 {
	out := make([]float64, len(logs))
	for i, v := range logs {
		out[i] = log.Inverse(v)
	}
	return out
}

// union adds the places of b to those of a, by source, ascending.
func union(a, b [][]int) [][]int {
	for i, of := range b {
		a[i] = append(a[i], of...)
		slices.Sort(a[i])
		a[i] = slices.Compact(a[i])
	}
	return a
}
