package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

const (
	// shiftedCells is about the largest number of cells that are looked at, of the target and of all sources together, in rows spread over
	// all.
	shiftedCells = 1 << 22
	// shiftedChance bounds the probability that rows like those of the sources all have the one value that the target's rows have: a
	// constant column is listed where it is less probable.
	shiftedChance = 1e-3
	// mostNames is the largest number of names in what is found.
	mostNames = 5
)

// shifted lists the columns of a table that are missing or the same in all rows of a target but not in the sources, and those of which
// three quarters of the target's rows or more lie above, or below, the middle 98 % of the sources' rows: what the sources say about these
// columns is of little use to the target. It also lists the columns of words of which the target has none, those in which sources have
// words of their own, and those of numbers that are the same in all rows of single sources.
func (s *Set) shifted() (out []Oddity) {
	if !s.tabular() {
		return nil
	}
	read := s.Columns.read() - table.CountWords(s.Columns.Words)
	var sources []*Pool
	for _, p := range s.Pools {
		if !p.Target {
			sources = append(sources, p)
		}
	}
	there := columnsOf(sources, read, shiftedCells)
	for _, p := range s.Pools {
		if !p.Target || p.Rows < slipLeast {
			continue
		}
		var same, blank, outside []string
		for j, of := range columnsOf([]*Pool{p}, read, shiftedCells) {
			all := there[j]
			if len(all) == 0 {
				return nil
			}
			name, low, high := text.OneLine(s.Columns.Features[j], 80), quantile(all, 0.01), quantile(all, 0.99)
			switch value := of[0]; {
			case all[0] == all[len(all)-1]:
			case value == of[len(of)-1]:
				from, _ := slices.BinarySearch(all, value)
				switch {
				case float64(p.Rows)*math.Log(float64(above(all, value)-from)/float64(len(all))) >= math.Log(shiftedChance):
				case s.blank(p, j):
					blank = append(blank, name)
				default:
					same = append(same, name)
				}
			case quantile(of, 0.25) > high || quantile(of, 0.75) < low:
				unit := func(x float64) float64 {
					if len(s.Columns.Centre) == 0 {
						return x
					}
					value, spread := s.Columns.unscaled(j, x)
					return readable(value, (high-low)*spread)
				}
				outside = append(outside, fmt.Sprintf("%s (half are from %.6g to %.6g, of the sources' 98 of 100 from %.6g to %.6g)", name,
					unit(quantile(of, 0.25)), unit(quantile(of, 0.75)), unit(low), unit(high)))
			}
		}
		if len(blank) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s %s missing in all rows, though not in the sources: %s",
				text.Several(len(blank), "feature"), text.Form(len(blank), "is", "are"), text.List(blank, mostNames)),
				"if no row of the target has them, leave them out of columns: features"})
		}
		if len(same) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s %s the same in all rows, though not in the sources: %s",
				text.Several(len(same), "feature"), text.Form(len(same), "is", "are"), text.List(same, mostNames)),
				"if no row of the target has them, leave them out of columns: features"})
		}
		if len(outside) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s outside of what the sources have: %s",
				text.Several(len(outside), "feature"), text.List(outside, mostNames)), "bring them to the units of the sources, if these are others"})
		}
	}
	out = append(append(out, s.wordless()...), s.ownCategories()...)
	c := s.sourceColumns(read)
	return slices.Concat(out, c.columnUnits(), c.degrees(), c.with(s.Pools).angles(), s.stuck(there))
}

// columnsOf returns the sorted values of each of the first columns of pools, in rows that are spread over all and have about so many cells
// at most.
func columnsOf(pools []*Pool, columns, cells int) [][]float64 {
	rows := 0
	for _, p := range pools {
		rows += p.Rows
	}
	values, step := make([][]float64, columns), max(1, rows*columns/cells)
	for _, p := range pools {
		for r := 0; r < p.Rows; r += step {
			for j := range columns {
				values[j] = append(values[j], float64(p.feature(r*p.Cols+j)))
			}
		}
	}
	for _, of := range values {
		slices.Sort(of)
	}
	return values
}
