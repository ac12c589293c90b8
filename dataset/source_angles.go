package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// The widest gap between the widths of the middle halves of a column, by their logarithms, divides sources and the target into two groups.
// The narrow one is taken to be in radians and the other one in degrees where their median widths differ by 180/pi, to within a factor of
// angleSpread, the widths of neither group by more than angleApart, radians are fractions within a turn and numbers of degrees go beyond
// that, and the medians of the narrow group in degrees lie in what the other one has, as in [sourceColumns.degrees].
const (
	angleSpread = 1.4
	angleApart  = 3
	turn        = 2 * math.Pi
)

// angles lists the columns that half of the sources or fewer have in radians where the others have degrees, or the other way round.
func (c *sourceColumns) angles() (out []Oddity) {
	if len(c.values) < degreesLeast {
		return nil
	}
	for j := range c.read {
		width := func(i int) float64 { return c.at(i, j, 0.75) - c.at(i, j, 0.25) }
		sources := slices.DeleteFunc(upTo[int](len(c.of)), func(i int) bool { return !(width(i) > 0) })
		if len(sources) < degreesLeast {
			continue
		}
		slices.SortStableFunc(sources, func(a, b int) int { return cmp.Compare(width(a), width(b)) })
		cut, gap := 0, 0.
		for k := 1; k < len(sources); k++ {
			if g := width(sources[k]) / width(sources[k-1]); g > gap {
				cut, gap = k, g
			}
		}
		narrow, wide := sources[:cut], sources[cut:]
		if !c.radians(j, narrow, wide, width) {
			continue
		}
		few, here, there := narrow, "radians", "degrees"
		if len(wide) < len(narrow) {
			few, here, there = wide, there, here
		}
		show := func(sources []int) string {
			q1, q3 := c.over(sources, j, 0.25, 0.5), c.over(sources, j, 0.75, 0.5)
			return fmt.Sprintf("from %.6g to %.6g", readable(q1, q3-q1), readable(q3, q3-q1))
		}
		shown, others := show(narrow), show(wide)
		if here == "degrees" {
			shown, others = others, shown
		}
		slices.Sort(few)
		var names []string
		for _, i := range few {
			names = append(names, text.OneLine(c.of[i].Name, 80))
		}
		out = append(out, Oddity{names[0], fmt.Sprintf("column %s may be in %s, where other sources have %s: half are %s, in the others %s%s",
			text.OneLine(c.columns.Features[j], 80), here, there, shown, others, alsoIn(names[1:])), "bring it to one unit, if these are angles"})
	}
	return out
}

// radians reports whether column j is in radians in the narrow sources and in degrees in the wide ones. Both are in the order of width.
func (c *sourceColumns) radians(j int, narrow, wide []int, width func(int) float64) bool {
	const degree = 180 / math.Pi
	for _, group := range [][]int{narrow, wide} {
		if width(group[len(group)-1]) > angleApart*width(group[0]) {
			return false
		}
	}
	middle := func(group []int) float64 { return width(group[len(group)/2]) }
	if math.Abs(math.Log(middle(wide)/middle(narrow)/degree)) > math.Log(angleSpread) {
		return false
	}
	from, to := c.over(wide, j, 0.01, 0.2), c.over(wide, j, 0.99, 0.8)
	if math.Max(-from, to) <= turn {
		return false
	}
	for _, i := range narrow {
		q1, q2, q3 := c.at(i, j, 0.25), c.at(i, j, 0.5), c.at(i, j, 0.75)
		whole := math.Abs(q1-math.Round(q1)) < 1e-4 && math.Abs(q3-math.Round(q3)) < 1e-4
		if whole || c.at(i, j, 0) < -turn || c.at(i, j, 1) > turn || q2*degree < from || q2*degree > to {
			return false
		}
	}
	return true
}

// with returns the columns of the sources and of the targets that have as many rows.
func (c *sourceColumns) with(pools []*Pool) *sourceColumns {
	all := *c
	for _, p := range pools {
		if p.Target && p.Rows >= farLeast && len(c.values) == len(c.of) {
			all.of = append(slices.Clone(all.of), p)
			all.values = append(slices.Clone(all.values), columnsOf([]*Pool{p}, c.read, shiftedCells))
		}
	}
	return &all
}
