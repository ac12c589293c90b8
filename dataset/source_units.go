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

// sourceColumns has the values of the first columns of a table in each source of farLeast rows or more.
type sourceColumns struct {
	columns *Columns
	read    int // the number of columns
	of      []*Pool
	values  [][][]float64 // by source and column, ascending, as they are stored
}

func (s *Set) sourceColumns(read int) *sourceColumns {
	c := &sourceColumns{columns: s.Columns, read: read}
	for _, p := range s.Pools {
		if !p.Target && p.Rows >= farLeast {
			c.of = append(c.of, p)
		}
	}
	if len(c.of) < degreesLeast { // too few to compare
		return c
	}
	for i := range c.of {
		c.values = append(c.values, columnsOf(c.of[i:i+1], read, max(1, shiftedCells/len(c.of))))
	}
	return c
}

// at returns a quantile of column j of a source, in the units of the file.
func (c *sourceColumns) at(source, j int, share float64) float64 {
	v, _ := c.columns.unscaled(j, quantile(c.values[source][j], share))
	return v
}

// over returns a quantile of at over some sources.
func (c *sourceColumns) over(sources []int, j int, share, of float64) float64 {
	var all []float64
	for _, i := range sources {
		all = append(all, c.at(i, j, share))
	}
	slices.Sort(all)
	return quantile(all, of)
}

// columnUnits lists the columns that single sources have in another unit, the furthest columnLines first. Several columns of a source that
// differ by the same power of ten have one line.
func (c *sourceColumns) columnUnits() (out []Oddity) {
	type found struct {
		source         string
		by, far        float64
		column, ranges string
	}
	of := c.of
	if len(of) < unitsLeast {
		return nil
	}
	var odd []found
	all := upTo[int](len(of))
	for j := range c.read {
		low, median, high := c.over(all, j, 0.01, 0.2), c.over(all, j, 0.5, 0.5), c.over(all, j, 0.99, 0.8)
		if !(low > 0) || !(high > low) {
			continue
		}
		var medians []float64
		for i := range of {
			medians = append(medians, max(c.at(i, j, 0.5), low/1e3))
		}
		_, apart := typicalSpread(medians)
		least := max(math.Log(columnApart), unitsFar*1.48*quantile(apart, 0.5))
		var here []found
		for i, p := range of {
			q1, q2, q3 := c.at(i, j, 0.25), c.at(i, j, 0.5), c.at(i, j, 0.75)
			if !(q1 > 0) || q1 <= high && q3 >= low || math.Abs(math.Log(q2/median)) < least {
				continue
			}
			by := math.Pow10(int(math.Round(math.Log10(q2 / median))))
			if q1/by >= low && q3/by <= high {
				here = append(here, found{p.Name, by, math.Abs(math.Log(q2 / median)), text.OneLine(c.columns.Features[j], 80),
					fmt.Sprintf("half are from %.6g to %.6g, in the others mostly from %.6g to %.6g", readable(q1, q3-q1), readable(q3, q3-q1),
						readable(low, high-low), readable(high, high-low))})
			}
		}
		if len(here) <= max(1, len(of)/unitsOften) {
			odd = append(odd, here...)
		}
	}
	slices.SortStableFunc(odd, func(a, b found) int { return cmp.Compare(b.far, a.far) })
	for n := 0; len(odd) > 0; n++ {
		if n == columnLines {
			return append(out, Oddity{"", fmt.Sprintf("%d more such columns of sources", len(odd)), "see their ranges"})
		}
		f, before := odd[0], len(odd)
		odd = slices.DeleteFunc(odd, func(of found) bool { return of.source == f.source && of.by == f.by })
		column, it := "column "+f.column+" is", "it"
		if same := before - len(odd); same > 1 {
			column, it = fmt.Sprintf("%d columns, such as %s, are", same, f.column), "them"
		}
		out = append(out, Oddity{f.source, fmt.Sprintf("%s about %.6g times as large as in other sources: %s", column, f.by, f.ranges),
			fmt.Sprintf("bring %s to the unit of the other sources, if this is another", it)})
	}
	return out
}
