package dataset

import (
	"cmp"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// Where the numbers of a source differ by more than slipWithin, those in a unit that is a power of ten larger or smaller are found by the
// numbers of all sources together, as logarithms of their ratios to the median of their source, of which a share of unitPositive or more
// must be positive. They lie beyond a valley, whose middle is from unitFrom to unitTo of the way, and the power of ten gives them the
// range, the place and the spread of the others: the distance of the means is up to unitPlace standard errors or unitShift standard
// deviations, and where they are unitSeveral or more, their standard deviation is from unitNarrow to unitWide times that of the others.
// The way is unitWay of these deviations or more. There are unitLarger or more of them, or unitSmaller of a smaller unit, since logarithms
// tend to have a tail on that side, and unitOthers or more distinct others.
//
// No tail has such a valley. Of a tail the gap below the n outermost numbers is Exp(h/n), where h is the mean excess (Hill 1975): it is
// rarely unitGap times as large. h is taken for at least unitExcess standard deviations. Or else a window in the valley, unitWindow of the
// way wide, has so many numbers fewer than the window about the place where the power of ten puts the median that a density which falls
// from there to here has it with a probability below unitChance.
const (
	unitFrom, unitTo        = 0.3, 0.85
	unitNarrow, unitWide    = 0.35, 1.35
	unitPlace, unitShift    = 2.5, 0.4
	unitLarger, unitSmaller = 3, 20
	unitSeveral             = 8
	unitPositive            = 0.95
	unitWay                 = 4.5
	unitOthers              = 12
	unitGap                 = 10
	unitExcess              = 0.1
	unitWindow              = 0.2
	unitChance              = 1e-5
)

// ratioAt is the logarithm of the ratio of a number to the median of its source, or of its numbers near that.
type ratioAt struct {
	source, place int
	r             float64
}

// unitSlips returns, by source, the numbers that are in a unit that is a power of ten larger or smaller: fewer than half of a source.
// Where the power of ten would instead put most numbers of the source among those of others, these are wrong, and none is returned.
func unitSlips(numbers [][]float64, log *table.Log) [][]int {
	out := make([][]int, len(numbers))
	var all []ratioAt
	var centres []float64 // logarithms
	centreOf := make([]float64, len(numbers))
	for i, of := range numbers {
		if log != nil {
			of = plain(of, log)
		}
		sorted := slices.Sorted(slices.Values(of))
		positive := len(sorted) - above(sorted, 0)
		if len(of) < slipLeast || float64(positive) < unitPositive*float64(len(of)) {
			continue
		}
		centre := sorted[(len(sorted)-1)/2]
		near := sorted[above(sorted, centre/math.Sqrt(10)):above(sorted, centre*math.Sqrt(10))] // a third in another unit moves the median
		centre = near[(len(near)-1)/2]
		centreOf[i] = math.Log(centre)
		centres = append(centres, centreOf[i])
		for place, v := range of {
			if v > 0 {
				all = append(all, ratioAt{i, place, math.Log(v / centre)})
			}
		}
	}
	if len(all) < farLeast {
		return out
	}
	slices.Sort(centres)
	usual := quantile(centres, 0.5)
	for turn, few := range []int{unitLarger, unitSmaller} {
		if slices.ContainsFunc(out, func(of []int) bool { return of != nil }) {
			break
		}
		slices.SortFunc(all, func(a, b ratioAt) int { return cmp.Or(cmp.Compare(b.r, a.r), a.source-b.source, a.place-b.place) })
		for power := 1; power <= slipPowers; power++ {
			if n := beyondValley(all, float64(power)*math.Ln10); n >= few {
				least, most := all[len(all)-1].r, all[n].r
				for _, a := range all[:n] {
					by := float64(power) * math.Ln10
					off := (centreOf[a.source] - usual) * float64(2*turn-1) // by which the others of the source are the ones in another unit
					if moved := a.r - by; off < by/2 && moved >= least && moved <= most {
						out[a.source] = append(out[a.source], a.place)
					}
				}
				break
			}
		}
		for i := range all {
			all[i].r = -all[i].r
		}
	}
	for i, of := range out {
		if slices.Sort(of); 2*len(of) >= len(numbers[i]) {
			out[i] = nil
		}
	}
	return out
}

// beyondValley returns how many of the ratios, which are descending, are those of numbers in a unit that is larger by a factor, of which
// by is the logarithm. It returns 0 where no valley is before them, or they are not as the others.
func beyondValley(all []ratioAt, by float64) int {
	sums := sumsOf(all)
	from := func(r float64) int { // the number of ratios above r
		n, _ := slices.BinarySearchFunc(all, r, func(a ratioAt, r float64) int { return cmp.Compare(r, a.r) })
		return n
	}
	like := func(n int) bool { return n > 0 && slipAll*n <= len(all) && alikeButFor(all[:n], all[n:], by) }
	best, at := 0.0, 0
	first, last := max(1, from(unitTo*by)), min(from(unitFrom*by), len(all)/slipAll)
	for n := first; n <= last; n++ {
		upper, lower := all[n-1].r, all[n].r
		if middle := (upper + lower) / 2; middle < unitFrom*by || middle > unitTo*by {
			continue
		}
		if score := float64(n) * (upper - lower) / sums.excess(all, n); score > best {
			best, at = score, n
		}
	}
	if best >= unitGap && like(at) {
		return at
	}
	width := unitWindow * by
	in := func(middle float64) int { return from(middle-width/2) - from(middle+width/2) }
	bump, valley, where := in(by), len(all), 0.0
	for middle := unitFrom * by; middle <= unitTo*by-width/2; middle += width / 10 {
		if n := in(middle); n < valley {
			valley, where = n, middle
		}
	}
	if n := from(where); valley < bump && atMost(valley, valley+bump) < unitChance && like(n) {
		return n
	}
	return 0
}

// ratioSums holds the sums of the first ratios and of their squares, for each number of them.
type ratioSums struct{ first, squares []float64 }

func sumsOf(all []ratioAt) ratioSums {
	s := ratioSums{make([]float64, len(all)+1), make([]float64, len(all)+1)}
	for i, a := range all {
		s.first[i+1], s.squares[i+1] = s.first[i]+a.r, s.squares[i]+a.r*a.r
	}
	return s
}

// excess returns the mean excess of the outermost of descending ratios behind the first n, of up to three times as many as n.
func (s ratioSums) excess(all []ratioAt, n int) float64 {
	rest := len(all) - n
	k := min(max(20, 3*n), rest/4)
	if k == 0 {
		return math.Inf(1)
	}
	mean := (s.first[len(all)] - s.first[n]) / float64(rest)
	spread := math.Sqrt(math.Max(0, (s.squares[len(all)]-s.squares[n])/float64(rest)-mean*mean))
	return max((s.first[n+k]-s.first[n])/float64(k)-all[n+k].r, unitExcess*spread)
}

// placeAndSpread returns the mean and the standard deviation.
func placeAndSpread(of []ratioAt) (mean, spread float64) {
	for _, a := range of {
		mean += a.r / float64(len(of))
	}
	for _, a := range of {
		spread += (a.r - mean) * (a.r - mean) / float64(len(of))
	}
	return mean, math.Sqrt(spread)
}

// alikeButFor reports whether some ratios less by are as the others are, which are descending.
func alikeButFor(some, others []ratioAt, by float64) bool {
	distinct := 1
	for i, a := range others[1:] {
		distinct += bit(a.r < others[i].r)
	}
	n, m := float64(len(some)), float64(len(others))
	mean, spread := placeAndSpread(some)
	usual, wide := placeAndSpread(others)
	elsewhere := 0
	for _, a := range some {
		elsewhere += bit(a.r-by > others[0].r || a.r-by < others[len(others)-1].r)
	}
	place := wide * max(unitPlace*math.Sqrt(1/n+1/m), unitShift)
	if distinct < unitOthers || by < unitWay*wide || 20*elsewhere > len(some) || math.Abs(mean-by-usual) > place {
		return false
	}
	most := others[len(others)/10].r - others[len(others)-1-len(others)/10].r // the range of four fifths of them, normally 2.56 deviations
	if len(some) >= unitSeveral {
		return spread > unitNarrow*min(wide, most/2.56) && spread < unitWide*wide
	}
	return some[0].r-some[len(some)-1].r >= slipPart*most
}

// atMost returns the probability that of n numbers at most k fall into one of two halves.
func atMost(k, n int) (p float64) {
	all, _ := math.Lgamma(float64(n + 1))
	for i := range k + 1 {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		p += math.Exp(all - a - b - float64(n)*math.Ln2)
	}
	return p
}
