package chart

import (
	"fmt"
	"strconv"
)

// Rank holds the places of a row, from 1, at several times.
type Rank struct {
	Name   string
	Places []int
}

// Ranks draws how places changed: a column for each time and a line for each row. The rows should be in the order of
// their last places. Places beyond the number of rows share a lane at the bottom.
func Ranks(title, desc, xName, yName string, times []string, rows []Rank) *Figure {
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	f := &Figure{Title: title, Desc: desc, Width: width}
	lanes, shared := len(rows), false
	for _, r := range rows {
		for _, place := range r.Places {
			shared = shared || place > len(rows)
		}
	}
	if shared {
		lanes++
	}
	p := plot{44, 10, width - 20 - widest(names, 130), 10 + float64(lanes)*barHeight}
	f.Height = p.bottom + 44
	y := func(place int) float64 { return p.top + (float64(min(place, lanes))-0.5)*barHeight }
	x := func(i int) float64 {
		if len(times) == 1 {
			return (p.left + p.right) / 2
		}
		return p.left + 16 + (p.right-p.left-32)*float64(i)/float64(len(times)-1)
	}
	for place := 1; place <= lanes; place++ {
		text := strconv.Itoa(place)
		if shared && place == lanes {
			text = ">" + strconv.Itoa(lanes-1)
		}
		f.line(p.left, y(place), p.right, y(place), "grid")
		f.text(p.left-6, y(place)+4, "tick", "end", text)
	}
	f.yName(p, yName)
	f.line(p.left, p.bottom, p.right, p.bottom, "axis")
	step := max(1, (len(times)+9)/10)
	for i, t := range times {
		if i%step == 0 || i == len(times)-1 && i%step > step/2 {
			f.text(x(i), p.bottom+17, "tick", "middle", t)
		}
	}
	f.text((p.left+p.right)/2, p.bottom+35, "mute", "middle", xName)
	for k, r := range rows {
		dash := ""
		if k >= Series/2 {
			dash = " dash"
		}
		f.polyline(len(r.Places), fmt.Sprintf("line s%d%s", k%Series, dash), func(i int) (float64, float64) { return x(i), y(r.Places[i]) })
	}
	short := fitAll(names, width-p.right-6)
	for k, r := range rows {
		for i, place := range r.Places {
			f.mark(x(i), y(place), k, fmt.Sprintf("%s, %s: place %d", Isolate(r.Name), times[i], place))
		}
		f.label(p.right+4, y(r.Places[len(r.Places)-1])+4, "", "start", r.Name, short[k])
	}
	return f
}
