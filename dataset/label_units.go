package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// The labels of a source are probably in another unit where their interquartile range differs from the typical source's by a factor of
// otherUnits or more, in either direction. Since sources differ in size too, the logarithm of the factor must also be at least unitsFar
// times the spread of these logarithms over all sources, which is 1.48 times the median of their magnitudes. Where hardly a label is below
// 0, the source's median must differ by the same factor, up to a factor of unitsApart. A unit may also be another function of the usual
// one, such as a concentration of its logarithm: so a source is in another unit too where nine of ten of its labels cover otherUnits
// times as much as those of the typical source, which must be as far, and three quarters of them lie beyond the latter, on one side.
// Fewer than unitsLeast sources do not show what is typical, nor do sources of which more than one in unitsOften differ.
const (
	unitsApart = 3
	unitsFar   = 3.5
	unitsLeast = 4
	unitsOften = 5
)

// A fit learns the numbers of a source in a unit of their own where their standard deviation is over spreadLarge times that of the typical
// source, or less than spreadSmall times, and the logarithm of the factor is also over spreadFar times the median of its magnitude over all
// sources. Of a source in the same unit that is only somewhat smaller, noise would become larger. Fewer than spreadLeast numbers do not
// count.
//
// This is another rule than that of [OtherUnits], since a fit must also bring down a label that is wrong by a large factor, which quantiles
// do not see and nobody should take for a unit. Both measure by typicalSpread how much sources differ in general.
const (
	spreadLarge, spreadSmall = 5, 0.05
	spreadFar                = 5
	spreadLeast              = 10
)

// Unlike is a source whose numbers are learned in a unit of their own.
type Unlike struct {
	// Source is the index of the source.
	Source int
	// Mean is the mean of its numbers, and Factor how many times they spread as much as those of the typical source. Usual is the median of
	// the means of all sources.
	Mean, Factor, Usual float64
}

// Of returns the number y of the source as it is learned: brought to the usual mean and the spread of the typical source.
func (u Unlike) Of(y float64) float64 { return u.Usual + (y-u.Mean)/u.Factor }

// UnlikeSources returns the sources whose numbers are in a larger unit than others, or wrong by a large factor, so that they would make up
// most of the squared errors that all sources share, and those whose numbers are in a smaller unit, so that they would have no head.
// numbers holds those of each source.
func UnlikeSources(numbers [][]float64) (out []Unlike) {
	var sources []int
	var means, spreads []float64
	for i, y := range numbers {
		if mean, variance := stat.PopMeanVariance(y, nil); len(y) >= spreadLeast && variance > 0 {
			sources, means, spreads = append(sources, i), append(means, mean), append(spreads, math.Sqrt(variance))
		}
	}
	if len(sources) < unitsLeast {
		return nil
	}
	typical, apart := typicalSpread(spreads)
	far, usual := math.Exp(spreadFar*apart[len(apart)/2]), quantile(slices.Sorted(slices.Values(means)), 0.5)
	for at, i := range sources {
		if r := spreads[at] / spreads[typical]; r > max(far, spreadLarge) || r < min(1/far, spreadSmall) {
			out = append(out, Unlike{i, means[at], r, usual})
		}
	}
	return out
}

// typicalSpread returns the place of the median of the spreads of all sources, and the magnitudes of the logarithms of their ratios to it,
// ascending.
func typicalSpread(spreads []float64) (at int, apart []float64) {
	order := upTo[int32](len(spreads))
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(spreads[a], spreads[b]) })
	at = int(order[(len(order)-1)/2])
	for _, s := range spreads {
		apart = append(apart, math.Abs(math.Log(s/spreads[at])))
	}
	slices.Sort(apart)
	return at, apart
}

// OtherUnit is a source whose numbers are probably in another unit than those of the other sources.
type OtherUnit struct {
	// Source is the index of the source.
	Source int
	// Low and High are the 0.05 and 0.95 quantiles of its numbers, UsualLow and UsualHigh those of the typical source.
	Low, High, UsualLow, UsualHigh float64
}

// String says what the numbers are, as in "from 16000 to 24000, which is 1e+03 times the range of the typical source, from 16 to 24".
func (u OtherUnit) String() string {
	return fmt.Sprintf("from %.6g to %.6g, which is %.3g times the range of the typical source, from %.6g to %.6g", u.Low, u.High,
		(u.High-u.Low)/(u.UsualHigh-u.UsualLow), u.UsualLow, u.UsualHigh)
}

// OtherUnits returns the sources whose numbers are probably in another unit, ascending. numbers holds those of each source; sources with
// fewer than 20 are not looked at. A source of another size alone, within what is usual among the sources, is not in another unit.
func OtherUnits(numbers [][]float64) (out []OtherUnit) {
	var all []ofUnits
	negative, n := 0, 0
	for i, of := range numbers {
		if len(of) < farLeast {
			continue
		}
		y := slices.Sorted(slices.Values(of))
		below, _ := slices.BinarySearch(y, 0)
		all = append(all, ofUnits{i, quantile(y, 0.05), quantile(y, 0.25), quantile(y, 0.5), quantile(y, 0.75), quantile(y, 0.95)})
		negative, n = negative+below, n+len(y)
	}
	odd, usual := oddUnits(all, 50*negative <= n)
	for _, u := range odd {
		out = append(out, OtherUnit{u.source, u.low, u.high, usual.low, usual.high})
	}
	return out
}

// labelUnit is a source whose labels of a column are probably in another unit than those of the other sources. found says so in a message,
// and own whether they are learned in a unit of their own.
type labelUnit struct {
	column string
	pool   int
	found  string
	own    bool
}

// isIn reports whether the labels of a task are of a source in another unit.
func isIn(units []labelUnit, t *Task) bool {
	return slices.ContainsFunc(units, func(u labelUnit) bool { return u.column == t.Output.Name && u.pool == t.Pool })
}

// ofUnits holds quartiles of the labels of a source, and their 0.05 and 0.95 quantiles.
type ofUnits struct {
	source                int
	low, q1, q2, q3, high float64
}

func (u ofUnits) half() float64 { return u.q3 - u.q1 }

func (u ofUnits) most() float64 { return u.high - u.low }

// labelUnits lists the sources whose labels are probably in another unit. It passes over columns of logarithms: there a unit is an offset,
// which each source's intercept takes up.
func (s *Set) labelUnits(columns []string) (out []labelUnit) {
	for _, column := range columns {
		if s.logOf(column) == nil {
			out = append(out, s.otherLabelUnits(column)...)
		}
	}
	return out
}

func (s *Set) otherLabelUnits(column string) (out []labelUnit) {
	tasks, numbers := s.numbersOf(column)
	unlike := UnlikeSources(numbers)
	for _, u := range OtherUnits(numbers) {
		own := slices.ContainsFunc(unlike, func(other Unlike) bool { return other.Source == u.Source })
		out = append(out, labelUnit{column, s.Tasks[tasks[u.Source]].Pool, fmt.Sprintf("nine of ten %s are %s", labelsNamed(column), u), own})
	}
	return out
}

// oddUnits returns the sources whose labels are probably in another unit, and the typical source. For positive labels it compares the
// medians too.
func oddUnits(all []ofUnits, positive bool) (odd []ofUnits, usual ofUnits) {
	if len(all) < unitsLeast {
		return nil, usual
	}
	// middle returns the typical source by a range, and how far the logarithm of another's may be from that of its range.
	middle := func(of func(ofUnits) float64) (usual ofUnits, far float64) {
		var spreads []float64
		for _, u := range all {
			spreads = append(spreads, of(u))
		}
		at, apart := typicalSpread(spreads)
		return all[at], max(math.Log(otherUnits), unitsFar*1.48*quantile(apart, 0.5))
	}
	ofHalf, far := middle(ofUnits.half)
	usual, wide := middle(ofUnits.most)
	var medians []float64
	for _, u := range all {
		medians = append(medians, u.q2)
	}
	slices.Sort(medians)
	median := quantile(medians, 0.5)
	for _, u := range all {
		r, ofMedian := math.Log(u.half()/ofHalf.half()), math.Log(u.q2/median)
		scaled := math.Abs(r) >= far && !math.IsInf(r, 0) && (!positive || math.Abs(r-ofMedian) <= math.Log(unitsApart))
		most, beyond := math.Log(u.most()/usual.most()), u.q1 > usual.high || u.q3 < usual.low
		if scaled || beyond && most >= wide && !math.IsInf(most, 0) {
			odd = append(odd, u)
		}
	}
	if len(odd) > max(1, len(all)/unitsOften) {
		return nil, usual
	}
	return odd, usual
}

// oddity returns the oddity of the source.
func (u labelUnit) oddity(s *Set) Oddity {
	p := s.Pools[u.pool]
	advice := "squared errors are of the larger ones: bring them to the unit of the other sources"
	if !p.Target {
		advice = "bring them to the unit of the other sources, or exclude this one; preset default learns them "
		if u.own {
			advice += "in a unit of their own"
		} else {
			advice += "as they are"
		}
	}
	return Oddity{p.Name, u.found, advice}
}
