package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// stuckOften is the largest share of the sources in which a column may be constant and still be listed. Where it is constant in more,
	// the value describes the source, as the year of a survey does.
	stuckOften = 0.1
	// stuckUsual is the largest share of the rows of other sources that may have the value too. A value of more rows is a usual one, as
	// most texts do not have a given word.
	stuckUsual = 0.5
)

// stuck lists the sources in which all rows have one value of a column that differs elsewhere, such as the column of a dead sensor, or one
// whose cells are all missing. there holds the sorted values of each of the first columns in all sources.
func (s *Set) stuck(there [][]float64) (out []Oddity) {
	sources, rows, of, often := 0, 0, make([][]int, len(s.Pools)), make([]int, len(there)) // constant columns by pool, sources by column
	for _, p := range s.Pools {
		if !p.Target {
			rows += p.Rows
		}
	}
	for i, p := range s.Pools {
		if p.Target || p.Rows < slipLeast {
			continue
		}
		sources++
		for j, all := range there {
			if len(all) == 0 || !p.constant(j) {
				continue
			}
			unlikely, usual := unlikelyAll(all, float64(p.feature(j)), p.Rows, rows)
			if unlikely {
				often[j]++ // whether or not it is usual: where half of the sources lack a column, the larger of them lack it too
			}
			if unlikely && !usual {
				of[i] = append(of[i], j)
			}
		}
	}
	most := max(1, int(stuckOften*float64(sources)))
	for i, p := range s.Pools {
		var names, blank []string
		for _, j := range of[i] {
			switch name := text.OneLine(s.Columns.Features[j], 80); {
			case often[j] > most:
			case s.blank(p, j):
				blank = append(blank, name)
			default:
				names = append(names, name)
			}
		}
		if len(blank) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s %s missing in all its rows, though not in other sources: %s",
				text.Several(len(blank), "feature"), text.Form(len(blank), "is", "are"), text.List(blank, mostNames)),
				"see whether the source has it under another name; if it was not measured there, there is nothing to do"})
		}
		if len(names) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s %s the same in all its rows, though not in other sources: %s",
				text.Several(len(names), "feature"), text.Form(len(names), "is", "are"), text.List(names, mostNames)),
				"see whether it was measured there: name what stands for no value under missing, or exclude the source"})
		}
	}
	return out
}

// blank reports whether feature j, which is the same in all rows of p, has the mean there that takes the place of missing cells.
func (s *Set) blank(p *Pool, j int) bool {
	c := s.Columns
	if j >= len(c.Filled) || c.Filled[j] < int64(p.Rows) {
		return false
	}
	value, spread := c.unscaled(j, float64(p.feature(j)))
	return math.Abs(value-c.Means[j]) <= 1e-6*math.Max(spread, math.Abs(value))
}

// constant reports whether feature j is the same in all rows.
func (p *Pool) constant(j int) bool {
	for r := 1; r < p.Rows; r++ {
		if p.feature(r*p.Cols+j) != p.feature(j) {
			return false
		}
	}
	return true
}

// unlikelyAll reports whether it is unlikely by chance that all rows of a source, out of ofAll rows of all sources, have this value, and
// whether the value is usual: more than stuckUsual of the other sources' rows have it. all holds the sorted values of the column in all
// sources, or in some of their rows. Nothing is unlikely in a column of two values or fewer.
func unlikelyAll(all []float64, value float64, rows, ofAll int) (unlikely, usual bool) {
	from, _ := slices.BinarySearch(all, value)
	lowest, last := above(all, all[0]), len(all)-1
	if lowest == len(all) || all[lowest] == all[last] {
		return false, false
	}
	n, have := float64(len(all)), float64(above(all, value)-from)
	own := n * float64(rows) / float64(ofAll)
	return float64(rows)*math.Log(have/n) < math.Log(shiftedChance), have-own > stuckUsual*(n-own)
}
