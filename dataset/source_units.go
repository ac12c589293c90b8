package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// A source has a column of positive numbers in another unit where its quartiles lie beyond what the other sources have, from the 0.2
// quantile of their 0.01 quantiles to the 0.8 quantile of their 0.99 quantiles, its median is columnApart times theirs or more, or less,
// and as far as unitsFar spreads of the logarithms of all medians, and a power of ten brings the quartiles into that range. No more than
// one source in unitsOften is like that. Sources of fewer than farLeast rows are not looked at.
const (
	columnApart = 5
	columnLines = 3
)

// columnUnits lists the columns that single sources have in another unit, the furthest columnLines first.
func (s *Set) columnUnits(read int) (out []Oddity) {
	type found struct {
		far float64
		Oddity
	}
	var of []*Pool
	for _, p := range s.Pools {
		if !p.Target && p.Rows >= farLeast {
			of = append(of, p)
		}
	}
	if len(of) < unitsLeast {
		return nil
	}
	values := make([][][]float64, len(of))
	for i := range of {
		values[i] = columnsOf(of[i:i+1], read, max(1, shiftedCells/len(of)))
	}
	var odd []found
	for j := range read {
		at := func(i int, share float64) float64 {
			v, _ := s.Columns.unscaled(j, quantile(values[i][j], share))
			return v
		}
		over := func(share, of float64) float64 {
			var all []float64
			for i := range values {
				all = append(all, at(i, share))
			}
			slices.Sort(all)
			return quantile(all, of)
		}
		low, median, high := over(0.01, 0.2), over(0.5, 0.5), over(0.99, 0.8)
		if !(low > 0) || !(high > low) {
			continue
		}
		var medians []float64
		for i := range values {
			medians = append(medians, max(at(i, 0.5), low/1e3))
		}
		_, apart := typicalSpread(medians)
		least := max(math.Log(columnApart), unitsFar*1.48*quantile(apart, 0.5))
		var here []found
		for i, p := range of {
			q1, q2, q3 := at(i, 0.25), at(i, 0.5), at(i, 0.75)
			if !(q1 > 0) || q1 <= high && q3 >= low || math.Abs(math.Log(q2/median)) < least {
				continue
			}
			by := math.Pow10(int(math.Round(math.Log10(q2 / median))))
			if q1/by >= low && q3/by <= high {
				here = append(here, found{math.Abs(math.Log(q2 / median)), Oddity{p.Name, fmt.Sprintf("column %s is about %.6g times as large as "+
					"in other sources: half are from %.6g to %.6g, in the others mostly from %.6g to %.6g", text.OneLine(s.Columns.Features[j], 80),
					by, readable(q1, q3-q1), readable(q3, q3-q1), readable(low, high-low), readable(high, high-low)),
					"bring it to the unit of the other sources, if this is another"}})
			}
		}
		if len(here) <= max(1, len(of)/unitsOften) {
			odd = append(odd, here...)
		}
	}
	slices.SortStableFunc(odd, func(a, b found) int { return cmp.Compare(b.far, a.far) })
	for _, f := range odd[:min(len(odd), columnLines)] {
		out = append(out, f.Oddity)
	}
	if n := len(odd) - columnLines; n > 0 {
		out = append(out, Oddity{"", fmt.Sprintf("%d more such columns of sources", n), "see their ranges"})
	}
	return out
}
