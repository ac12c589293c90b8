package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// shiftedRows is how many rows of a source are looked at, spread over all.
const shiftedRows = 10_000

// shifted lists columns of a table that are the same in all rows of a target, though not in the sources, and those in which more than three
// quarters of its rows lie outside of all that sources have: what sources say of a column is of no use to the target then.
func (s *Set) shifted() (out []Oddity) {
	if s.newFarFeatures() == nil {
		return nil
	}
	read := s.Columns.read() - table.CountWords(s.Columns.Words)
	each := func(p *Pool, do func(j int, x float64)) {
		step := max(1, p.Rows/shiftedRows)
		for r := 0; r < p.Rows; r += step {
			for j := range read {
				do(j, float64(p.feature(r*p.Cols+j)))
			}
		}
	}
	low, high := slices.Repeat([]float64{math.Inf(1)}, read), slices.Repeat([]float64{math.Inf(-1)}, read)
	for _, p := range s.Pools {
		if !p.Target {
			each(p, func(j int, x float64) { low[j], high[j] = min(low[j], x), max(high[j], x) })
		}
	}
	unit := func(j int, x float64) float64 {
		if len(s.Columns.Centre) == 0 {
			return x
		}
		spread := s.Columns.Spread[j]
		return readable(x*spread+s.Columns.Centre[j], (high[j]-low[j])*spread)
	}
	for _, p := range s.Pools {
		if !p.Target || p.Rows < slipLeast {
			continue
		}
		values := make([][]float64, read)
		each(p, func(j int, x float64) { values[j] = append(values[j], x) })
		var same, outside []string
		for j, of := range values {
			slices.Sort(of)
			name, at := text.OneLine(s.Columns.Features[j], 80), func(share float64) float64 { return of[int(share*float64(len(of)-1))] }
			switch {
			case !(low[j] < high[j]):
			case at(0) == at(1):
				same = append(same, name)
			case at(0.25) > high[j] || at(0.75) < low[j]:
				outside = append(outside, fmt.Sprintf("%s (half are from %.6g to %.6g, those of sources from %.6g to %.6g)", name,
					unit(j, at(0.25)), unit(j, at(0.75)), unit(j, low[j]), unit(j, high[j])))
			}
		}
		if len(same) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s %s the same in all rows, though not in the sources: %s",
				text.Several(len(same), "feature"), text.Form(len(same), "is", "are"), fewNames(same)),
				"if no row of the target has them, leave them out of columns: features"})
		}
		if len(outside) > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s outside of all that sources have: %s",
				text.Several(len(outside), "feature"), fewNames(outside)), "bring them to the units of the sources, if these are others"})
		}
	}
	return out
}

// fewNames shortens a list.
func fewNames(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("... (%d)", len(names)))
	}
	return strings.Join(names, ", ")
}
