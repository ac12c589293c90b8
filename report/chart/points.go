package chart

import "fmt"

// Differences draws a point with an interval for each row, and a line at 0. less and more are words for the two sides
// of it.
func Differences(title, desc, yName string, x Axis, rows []Bar, less, more string) *Figure {
	var names []string
	values, banded := []float64{0}, false
	for _, r := range rows {
		banded = banded || r.Band
		names, values = append(names, r.Name), append(values, r.Value)
		if r.Band {
			values = append(values, r.Low, r.High)
		}
	}
	f, p := frame(title, desc, yName, names, 236, 24, 0)
	lo, hi := bounds(values)
	s := x.newScale(lo, hi, p.left+6, p.right)
	f.xAxis(p, x, s, true)
	f.rowNames(p, names)
	zero := s.at(0)
	f.line(zero, p.top, zero, p.bottom, "axis")
	if zero-p.left > textWidth(less)+12 {
		f.text(zero-8, 14, "mute", "end", less)
	}
	if p.right-zero > textWidth(more)+12 {
		f.text(zero+8, 14, "mute", "", more)
	}
	for i, r := range rows {
		y := p.top + (float64(i)+0.5)*barHeight
		note, color := x.Text(r.Value), 3
		if r.Band {
			note += fmt.Sprintf(" (%s to %s)", x.Text(r.Low), x.Text(r.High))
			f.whisker(s.at(r.Low), y, s.at(r.High), y, "ink")
		}
		// Where there are intervals, the colour shows only differences that are certain.
		switch lo, hi := r.ends(banded); {
		case lo > 0:
			color = 0
		case hi < 0:
			color = 5
		}
		f.mark(s.at(r.Value), y, color, Isolate(r.Name)+": "+note)
	}
	return f
}

// ends returns the ends of the interval, or the value itself where no row has an interval.
func (b Bar) ends(banded bool) (lo, hi float64) {
	switch {
	case b.Band:
		return b.Low, b.High
	case banded:
		return 0, 0
	}
	return b.Value, b.Value
}
