package chart

import (
	"fmt"
	"math"
	"strings"
)

// ramp returns a blue from nearly white at 0 to dark at 1 (the Blues of ColorBrewer, by Cynthia Brewer).
func ramp(v float64) string {
	return mix(v, [][3]float64{{247, 251, 255}, {222, 235, 247}, {198, 219, 239}, {158, 202, 225}, {107, 174, 214}, {66, 146, 198},
		{33, 113, 181}, {8, 81, 156}, {8, 48, 107}})
}

// split returns vermilion at -1, nearly white at 0 and blue at 1.
func split(v float64) string {
	return mix((v+1)/2, [][3]float64{{176, 70, 0}, {222, 120, 50}, {245, 190, 140}, {247, 247, 247}, {150, 200, 232}, {60, 145, 200},
		{0, 92, 150}})
}

func mix(v float64, stops [][3]float64) string {
	if math.IsNaN(v) {
		v = 0
	}
	v = min(1, max(0, v)) * float64(len(stops)-1)
	i := min(int(v), len(stops)-2)
	t := v - float64(i)
	var c [3]int
	for k := range c {
		c[k] = int(math.Round(stops[i][k]*(1-t) + stops[i+1][k]*t))
	}
	return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2])
}

// Map is a table of numbers that are drawn as colours. A NaN is a cell without a colour.
type Map struct {
	Title, Desc      string
	XName, YName     string
	Columns, Rows    []string
	Values           [][]float64
	Text, LegendText func(float64) string
	// Legend says what the colours mean, with the unit.
	Legend string
	// Split is set for differences: 0 is then the middle of the colours.
	Split bool
	// Most is the value with the strongest colour, at least the largest; 0 takes the largest.
	Most float64
}

// Heat draws a map with the number in each cell.
func Heat(m Map) *Figure {
	f := &Figure{Title: m.Title, Desc: m.Desc, Width: width}
	p := plot{widest(m.Rows, 140) + 30, 42, width - 6, 0}
	cell := (p.right - p.left) / float64(len(m.Columns))
	height := min(24, max(18, cell))
	p.bottom = p.top + height*float64(len(m.Rows))
	f.Height = p.bottom + 44
	color, most := m.colors()
	f.colorLegend(m, color, most)
	rows := fitAll(m.Rows, p.left-28)
	dark := func(v float64) bool { return m.Split && math.Abs(v) > 0.62*most || !m.Split && v > 0.5*most }
	for i, row := range m.Values {
		y := p.top + float64(i)*height
		f.label(p.left-6, y+height/2+4, "", "end", m.Rows[i], rows[i])
		for j, v := range row {
			if math.IsNaN(v) {
				continue
			}
			x, class := p.left+float64(j)*cell, "off"
			if dark(v) {
				class = "on"
			}
			f.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s" class="edge">%s</rect>`, num(x), num(y), num(cell),
				num(height), color(v),
				tip(fmt.Sprintf("%s, %s: %s", Isolate(m.Rows[i]), Isolate(m.Columns[j]), m.Text(v))))
			f.printf(`<text x="%s" y="%s" class="%s" text-anchor="middle" font-size="10" pointer-events="none">%s</text>`, num(x+cell/2),
				num(y+height/2+3.5), class, escape(m.Text(v)))
		}
	}
	room := 15.0
	const enough = 70 // the cell width in which the ends of a name fit
	if cell < enough && widest(m.Columns, width) > cell {
		room = 0
		for j, short := range fitAll(m.Columns, slantedRoom) {
			room = max(room, f.slanted(p.left+(float64(j)+0.5)*cell, p.bottom+10, m.Columns[j], short))
		}
		f.Height += room - 15
	} else {
		for j, short := range fitAll(m.Columns, cell) {
			f.label(p.left+(float64(j)+0.5)*cell, p.bottom+room, "tick", "middle", m.Columns[j], short)
		}
	}
	f.text((p.left+p.right)/2, p.bottom+room+19, "mute", "middle", m.XName)
	f.yName(p, m.YName)
	return f
}

// slantedRoom is the length of a slanted name.
const slantedRoom = 150

// slanted draws a name as short, which rises to a point, and returns how far it reaches below the point.
func (f *Figure) slanted(x, y float64, name, short string) float64 {
	note := ""
	if short != name {
		note = tip(name)
	}
	f.printf(`<text transform="translate(%s %s)rotate(-60)" text-anchor="end">%s%s</text>`, num(x+4), num(y), escape(short), note)
	return textWidth(short)*0.87 + 12
}

// colors returns the colour of a value, and the value with the strongest colour.
func (m Map) colors() (color func(float64) string, most float64) {
	most = m.Most
	for _, row := range m.Values {
		for _, v := range row {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				most = max(most, math.Abs(v))
			}
		}
	}
	if most == 0 {
		most = 1
	}
	if m.Split {
		return func(v float64) string { return split(v / most) }, most
	}
	return func(v float64) string { return ramp(v / most) }, most
}

// colorLegend draws the scale of colours with the numbers at its ends.
func (f *Figure) colorLegend(m Map, color func(float64) string, most float64) {
	const steps, w, y = 24, 130.0, 18.0
	lo := 0.0
	if m.Split {
		lo = -most
	}
	text := m.LegendText
	if text == nil {
		text = m.Text
	}
	x := f.Width - 6 - textWidth(text(most)) - 6 - w
	for i := range steps {
		f.printf(`<rect x="%s" y="%s" width="%s" height="10" fill="%s"/>`, num(x+float64(i)*w/steps), num(y-9), num(w/steps+0.3),
			color(lo+(most-lo)*(float64(i)+0.5)/steps))
	}
	f.text(x-6, y, "tick", "end", text(lo))
	f.text(x+w+6, y, "tick", "", text(most))
	f.text(4, y, "mute", "", Fit(m.Legend, x-6-textWidth(text(lo))-12))
}

// Group is a range of adjacent rows or columns with something in common.
type Group struct {
	Name     string
	From, To int
}

// Large draws a map of many cells without numbers. Cells of one colour are one path. Groups of neighbours name the
// columns and rows, or each has a name where there are few.
func Large(m Map, columns, rows []Group) *Figure {
	f := &Figure{Title: m.Title, Desc: m.Desc, Width: 2 * width}
	var names []string
	for _, g := range rows {
		names = append(names, g.Name)
	}
	p := plot{widest(names, 130) + 34, 34, f.Width - 10, 0}
	cell := (p.right - p.left) / float64(max(1, len(m.Columns)))
	height := min(cell, 22)
	if len(rows) == len(m.Rows) {
		height = max(15, height) // room for the name of each
	}
	p.bottom = p.top + height*float64(len(m.Rows))
	f.Area = [4]float64{p.left, p.top, p.right, p.bottom}
	_, most := m.colors()
	const levels = 24
	// The square root spreads small values over more colours.
	color := func(v float64) string { return ramp(math.Sqrt(v / most)) }
	f.colorLegend(m, color, most)
	f.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, num(p.left), num(p.top), num(p.right-p.left),
		num(p.bottom-p.top), ramp(0))
	paths := make([]strings.Builder, levels+1)
	for i, row := range m.Values {
		for j := 0; j < len(row); j++ {
			level := levelOf(row[j], most, levels)
			if level == 0 {
				continue
			}
			end := j
			for end+1 < len(row) && levelOf(row[end+1], most, levels) == level {
				end++
			}
			fmt.Fprintf(&paths[level], "M%d %dh%d", j, i, end+1-j)
			j = end
		}
	}
	f.printf(`<g transform="translate(%s %s)scale(%s %s)translate(0 .5)">`, num(p.left), num(p.top), precise(cell), precise(height))
	for level := range paths {
		if paths[level].Len() > 0 {
			f.printf(`<path fill="none" stroke="%s" d="%s"/>`, ramp(float64(level)/levels), paths[level].String())
		}
	}
	f.printf(`</g>`)
	short := fitAll(names, p.left-32)
	for i, g := range rows {
		y := p.top + height*float64(g.From+g.To)/2
		f.label(p.left-8, y+4, "", "end", g.Name, short[i])
		f.line(p.left-4, p.top+height*float64(g.From)+0.7, p.left-4, p.top+height*float64(g.To)-0.7, "axis")
	}
	deepest, room := p.bottom, 0.0
	names = nil
	for _, g := range columns {
		names = append(names, g.Name)
	}
	short = fitAll(names, slantedRoom)
	for i, g := range columns {
		x, span := p.left+cell*float64(g.From+g.To)/2, cell*float64(g.To-g.From)
		f.line(p.left+cell*float64(g.From)+0.7, p.bottom+4, p.left+cell*float64(g.To)-0.7, p.bottom+4, "axis")
		if textWidth(g.Name) <= span+4 {
			f.text(x, p.bottom+18, "", "middle", g.Name)
			deepest = max(deepest, p.bottom+20)
			continue
		}
		room = max(room, f.slanted(x, p.bottom+14, g.Name, short[i])+4)
	}
	deepest = max(deepest, p.bottom+room)
	f.text((p.left+p.right)/2, deepest+18, "mute", "middle", m.XName)
	f.yName(p, m.YName)
	f.Height = deepest + 28
	return f
}

func levelOf(v, most float64, levels int) int {
	if math.IsNaN(v) || v <= 0 {
		return 0
	}
	return int(math.Round(math.Sqrt(min(1, v/most)) * float64(levels)))
}

func precise(v float64) string { return fmt.Sprintf("%.4f", v) }
