package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// A source has its labels in another unit, probably, where the range of the middle half of them is otherUnits times the typical one or
// more, or the inverse, and so, to a factor of unitsApart, is their median where no label is below 0. Of few sources that are so nobody
// knows, and where more than one in unitsOften are, sources are of many sizes.
const (
	unitsApart = 3
	unitsLeast = 4
	unitsOften = 5
)

// labelUnits lists the sources whose labels of a column are probably in another unit than those of the others. A logarithm has units as
// an offset, which each source's intercept takes.
func (s *Set) labelUnits(columns []string) (out []Oddity) {
	for _, column := range columns {
		if s.logOf(column) == nil {
			out = append(out, s.otherLabelUnits(column)...)
		}
	}
	return out
}

func (s *Set) otherLabelUnits(column string) []Oddity {
	type source struct {
		pool       int
		q1, q2, q3 float64
	}
	var all []source
	var halves, medians []float64
	positive := true
	for i := range s.Tasks {
		t := &s.Tasks[i]
		y := t.numbers()
		if t.Output.Name != column || len(y) < farLeast {
			continue
		}
		slices.Sort(y)
		at := func(share float64) float64 { return y[int(share*float64(len(y)-1))] }
		of := source{t.Pool, at(0.25), at(0.5), at(0.75)}
		all, positive = append(all, of), positive && y[0] >= 0
		halves, medians = append(halves, of.q3-of.q1), append(medians, of.q2)
	}
	if len(all) < unitsLeast {
		return nil
	}
	half, median := middleOf(halves), middleOf(medians)
	var odd []source
	for _, of := range all {
		r, ofMedian := (of.q3-of.q1)/half, of.q2/median
		if r < 1 {
			r, ofMedian = 1/r, 1/ofMedian
		}
		if r >= otherUnits && !math.IsInf(r, 1) && (!positive || ofMedian >= r/unitsApart && ofMedian <= r*unitsApart) {
			odd = append(odd, of)
		}
	}
	if len(odd) > max(1, len(all)/unitsOften) {
		return nil
	}
	usual := slices.MinFunc(all, func(a, b source) int { // whose range is the typical one
		return cmp.Compare(math.Abs(a.q3-a.q1-half), math.Abs(b.q3-b.q1-half))
	})
	labels := "labels"
	if column != "" {
		labels += " of " + text.OneLine(column, 80)
	}
	var out []Oddity
	for _, of := range odd {
		out = append(out, Oddity{s.Pools[of.pool].Name, fmt.Sprintf(
			"half of the %s are from %.6g to %.6g, which is %.3g times the range of the typical source, from %.6g to %.6g", labels,
			of.q1, of.q3, (of.q3-of.q1)/half, usual.q1, usual.q3),
			"squared errors are of the larger ones: bring them to the units of the other sources, or exclude this one"})
	}
	return out
}

// middleOf is the lower median.
func middleOf(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
