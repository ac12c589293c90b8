package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// The widest gap of their medians in a column divides sources into two groups. The lower one is taken to be in degrees Celsius and the
// upper one on another scale where the middle half of each source of the upper group lies above what the lower group has, its formula
// takes these halves into what the lower group has, from the 0.2 quantile of its 0.01 quantiles to the 0.8 quantile of its 0.99 quantiles,
// and the medians of the widths of these halves differ as the degrees of the two scales do, by a factor of degreeSpread at most. Neither
// group has medians further apart than degreeApart of these widths, as where each source has values of its own.
const (
	degreesLeast = 3
	degreeApart  = 2
	degreeSpread = 1.34 // the square root of 1.8, so that no width is taken for degrees of both scales
)

// scales are those that temperatures are in besides Celsius: a degree Celsius is size of their degrees, and 0 degrees Celsius are at zero.
var scales = []struct {
	name       string
	size, zero float64
}{{"degrees Fahrenheit", 1.8, 32}, {"kelvins", 1, 273.15}}

// degrees lists the columns that half of the sources or fewer have on another scale of temperature than the others.
func (c *sourceColumns) degrees() (out []Oddity) {
	if len(c.of) < degreesLeast {
		return nil
	}
	for j := range c.read {
		sources := upTo[int](len(c.of))
		median := func(i int) float64 { return c.at(i, j, 0.5) }
		slices.SortStableFunc(sources, func(a, b int) int { return cmp.Compare(median(a), median(b)) })
		cut, gap := 0, 0.
		for k := 1; k < len(sources); k++ {
			if g := median(sources[k]) - median(sources[k-1]); g > gap {
				cut, gap = k, g
			}
		}
		if cut == 0 {
			continue
		}
		below, above := sources[:cut], sources[cut:]
		scale := c.scale(j, below, above)
		if scale == "" {
			continue
		}
		few, others, here, there := above, below, scale, "degrees Celsius"
		if len(below) < len(above) {
			few, others, here, there = below, above, there, here
		}
		slices.Sort(few)
		var names []string
		for _, i := range few {
			names = append(names, text.OneLine(c.of[i].Name, 80))
		}
		show := func(sources []int) string {
			q1, q3 := c.over(sources, j, 0.25, 0.5), c.over(sources, j, 0.75, 0.5)
			return fmt.Sprintf("from %.6g to %.6g", readable(q1, q3-q1), readable(q3, q3-q1))
		}
		out = append(out, Oddity{names[0], fmt.Sprintf("column %s may be in %s, where other sources have %s: half are %s, in the others %s%s",
			text.OneLine(c.columns.Features[j], 80), here, there, show(few), show(others), alsoIn(names[1:])),
			"bring it to one scale, if these are temperatures"})
	}
	return out
}

// alsoIn ends what is found in a source with the other sources that it was found in.
func alsoIn(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; so may be " + text.List(names, mostNames)
}

// scale returns the scale of temperature that the sources above are on where those below are in degrees Celsius, or "" where they are not.
// Both are in the order of their medians.
func (c *sourceColumns) scale(j int, below, above []int) string {
	from, to := c.over(below, j, 0.01, 0.2), c.over(below, j, 0.99, 0.8)
	width := func(sources []int) float64 {
		var all []float64
		for _, i := range sources {
			all = append(all, c.at(i, j, 0.75)-c.at(i, j, 0.25))
		}
		slices.Sort(all)
		return quantile(all, 0.5)
	}
	for _, group := range [][]int{below, above} {
		if c.at(group[len(group)-1], j, 0.5)-c.at(group[0], j, 0.5) > degreeApart*width(group) {
			return ""
		}
	}
	for _, scale := range scales {
		fits := math.Abs(math.Log(width(above)/width(below)/scale.size)) < math.Log(degreeSpread)
		for _, i := range above {
			q1, q3 := c.at(i, j, 0.25), c.at(i, j, 0.75)
			fits = fits && q1 > to && (q1-scale.zero)/scale.size >= from && (q3-scale.zero)/scale.size <= to
		}
		if fits {
			return scale.name
		}
	}
	return ""
}
