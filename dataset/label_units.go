package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// The labels of a source are probably in another unit where their interquartile range differs from the typical source's by a factor of
// otherUnits or more, in either direction. Since sources differ in size too, the logarithm of the factor must also be at least unitsFar
// times the spread of these logarithms over all sources, which is 1.48 times the median of their magnitudes. Where hardly a label is below
// 0, the source's median must differ by the same factor, up to a factor of unitsApart. Fewer than unitsLeast sources do not show what is
// typical, nor do sources of which more than one in unitsOften differ.
const (
	unitsApart = 3
	unitsFar   = 3.5
	unitsLeast = 4
	unitsOften = 5
)

// labelUnit is a source whose labels of a column are probably in another unit than those of the other sources. found says so in a message.
type labelUnit struct {
	column string
	pool   int
	found  string
}

// ofUnits holds the quartiles of the labels of a source.
type ofUnits struct {
	pool       int
	q1, q2, q3 float64
}

func (u ofUnits) half() float64 { return u.q3 - u.q1 }

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
	var all []ofUnits
	negative, labels := 0, 0
	for i := range s.Tasks {
		t := &s.Tasks[i]
		y := t.numbers()
		if t.Output.Name != column || len(y) < farLeast {
			continue
		}
		slices.Sort(y)
		below, _ := slices.BinarySearch(y, 0)
		all = append(all, ofUnits{t.Pool, quantile(y, 0.25), quantile(y, 0.5), quantile(y, 0.75)})
		negative, labels = negative+below, labels+len(y)
	}
	odd, usual := oddUnits(all, 50*negative <= labels)
	of := "labels"
	if column != "" {
		of += " of " + text.OneLine(column, 80)
	}
	for _, u := range odd {
		out = append(out, labelUnit{column, u.pool, fmt.Sprintf(
			"half of the %s are from %.6g to %.6g, which is %.3g times the range of the typical source, from %.6g to %.6g", of, u.q1, u.q3,
			u.half()/usual.half(), usual.q1, usual.q3)})
	}
	return out
}

// oddUnits returns the sources whose labels are probably in another unit, and the typical source. For positive labels it compares the
// medians too.
func oddUnits(all []ofUnits, positive bool) (odd []ofUnits, usual ofUnits) {
	if len(all) < unitsLeast {
		return nil, usual
	}
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b ofUnits) int { return cmp.Compare(a.half(), b.half()) })
	usual = sorted[(len(all)-1)/2]
	var medians, apart []float64
	for _, u := range all {
		medians, apart = append(medians, u.q2), append(apart, math.Abs(math.Log(u.half()/usual.half())))
	}
	slices.Sort(medians)
	slices.Sort(apart)
	far := max(math.Log(otherUnits), unitsFar*1.48*quantile(apart, 0.5))
	for _, u := range all {
		r, ofMedian := math.Log(u.half()/usual.half()), math.Log(u.q2/quantile(medians, 0.5))
		if math.Abs(r) >= far && !math.IsInf(r, 0) && (!positive || math.Abs(r-ofMedian) <= math.Log(unitsApart)) {
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
	p, advice := s.Pools[u.pool], "squared errors are of the larger ones: bring them to the units of the other sources"
	if !p.Target {
		advice += ", or exclude this one"
	}
	return Oddity{p.Name, u.found, advice}
}
