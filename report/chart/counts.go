package chart

import (
	"fmt"
	"math"
	"strings"
)

// Counts holds the number of values of a series in each of several adjacent bins.
type Counts struct {
	Name   string
	Counts []int
}

// Bins returns the edges of about want bins that hold all values. Their common width is round.
func Bins(values []float64, want int) []float64 {
	lo, hi := bounds(values)
	if hi-lo <= 1e-9*max(math.Abs(lo), math.Abs(hi)) {
		s := Axis{}.newScale(lo, hi, 0, 1)
		lo, hi = s.lo, s.hi
	}
	step := tickStep(lo, hi, want, false)
	first := math.Floor(lo/step + 1e-9)
	var edges []float64
	for i := range int(math.Ceil(hi/step-1e-9)-first) + 1 {
		edges = append(edges, (first+float64(i))*step)
	}
	return edges
}

// Histogram draws series over each other: the first as filled bars, the others as outlines. Bin i reaches from edges[i]
// to edges[i+1].
func Histogram(title, desc string, x, y Axis, edges []float64, series []Counts) *Figure {
	f := &Figure{Title: title, Desc: desc, Width: width}
	var names []string
	most := 0
	for _, s := range series {
		names = append(names, s.Name)
		for _, n := range s.Counts {
			most = max(most, n)
		}
	}
	top := f.legend(14, names, func(lx, ly float64, i int) {
		if i == 0 {
			f.rect(lx, ly-5, 20, 10, "f0", "")
			return
		}
		f.line(lx, ly, lx+22, ly, fmt.Sprintf("line s%d", i%Series))
	})
	p := plot{0, top + 6, width - 14, top + 206}
	y.Zero, y.Whole = true, true
	sy := y.newScale(0, float64(most), p.bottom, p.top)
	p.left = y.labelRoom(sy)
	sx := scale{edges[0], edges[len(edges)-1], p.left, p.right, false, 0}
	f.yAxis(p, y, sy)
	f.xAxis(p, x, sx, false)
	f.Height = p.bottom + 44
	for k, s := range series {
		if k == 0 {
			for i, n := range s.Counts {
				if n > 0 {
					f.rect(sx.at(edges[i])+0.5, sy.at(float64(n)), sx.at(edges[i+1])-sx.at(edges[i])-1, p.bottom-sy.at(float64(n)), "f0",
						fmt.Sprintf("%s, %s to %s: %d", s.Name, x.Text(edges[i]), x.Text(edges[i+1]), n))
				}
			}
			continue
		}
		var d strings.Builder
		fmt.Fprintf(&d, "M%s %s", num(sx.at(edges[0])), num(p.bottom))
		for i, n := range s.Counts {
			fmt.Fprintf(&d, "V%sH%s", num(sy.at(float64(n))), num(sx.at(edges[i+1])))
		}
		f.printf(`<path d="%sV%s" class="line s%d"/>`, d.String(), num(p.bottom), k%Series)
	}
	return f
}
