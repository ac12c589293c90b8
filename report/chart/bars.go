package chart

import (
	"cmp"
	"fmt"
)

// Bar is a bar with a name and a value. If Band is set, Low to High is its interval.
type Bar struct {
	Name string
	// Short, if not empty, stands before the bar in place of the name, which shows where the pointer rests on the bar.
	Short            string
	Value, Low, High float64
	Band             bool
}

const barHeight = 20

// frame begins a figure of rows with a name before each. yName says what the names are.
func frame(title, desc, yName string, names []string, nameRoom, top, noteRoom float64) (*Figure, plot) {
	f := &Figure{Title: title, Desc: desc, Width: width}
	return f, f.rows(yName, names, nameRoom, top, noteRoom)
}

// rows makes room for rows below top, and draws yName, which says what their names are.
func (f *Figure) rows(yName string, names []string, nameRoom, top, noteRoom float64) plot {
	p := plot{widest(names, nameRoom) + 34, top, width - 14 - noteRoom, top + float64(len(names))*barHeight}
	f.Height = p.bottom + 44
	f.yName(p, yName)
	return p
}

// rowNames draws the names of the rows before them.
func (f *Figure) rowNames(p plot, names []string) {
	for i, short := range fitAll(names, p.left-30) {
		f.label(p.left-8, p.top+float64(i)*barHeight+14, "", "end", names[i], short)
	}
}

// Bars draws a bar for each row, with its number at the right edge.
func Bars(title, desc, yName string, x Axis, bars []Bar) *Figure {
	var names, texts []string
	var values []float64
	for _, b := range bars {
		names, texts, values = append(names, cmp.Or(b.Short, b.Name)), append(texts, x.beside(b.Value)), append(values, b.Value)
		if b.Band {
			values = append(values, b.Low, b.High)
		}
	}
	room := widest(texts, 90) + 8
	f, p := frame(title, desc, yName, names, 200, 8, room)
	lo, hi := bounds(values)
	x.Zero = true
	s := x.newScale(lo, hi, p.left, p.right)
	f.xAxis(p, x, s, true)
	f.rowNames(p, names)
	for i, b := range bars {
		y := p.top + float64(i)*barHeight
		note := x.beside(b.Value)
		if b.Band {
			note += fmt.Sprintf(" (%s to %s)", x.beside(b.Low), x.beside(b.High))
		}
		f.rect(s.at(0), y+4, s.at(b.Value)-s.at(0), barHeight-8, "f0", Isolate(b.Name)+": "+note)
		if b.Band {
			f.whisker(s.at(b.Low), y+barHeight/2, s.at(b.High), y+barHeight/2, "ink")
		}
		f.text(width-6, y+14, "", "end", x.beside(b.Value))
	}
	return f
}

// Stack is a bar of several parts. Full puts a mark at its end.
type Stack struct {
	Name  string
	Parts []float64
	Full  bool
}

// Stacks draws bars of parts. Part i has the name parts[i], and later parts are darker. Rows that are full have the
// sign "●" at their end, which fullText explains.
func Stacks(title, desc, yName string, x Axis, parts []string, rows []Stack, fullText string) *Figure {
	var names []string
	most, anyFull := 0.0, false
	for _, r := range rows {
		names = append(names, r.Name)
		sum := 0.0
		for _, v := range r.Parts {
			sum += v
		}
		most, anyFull = max(most, sum), anyFull || r.Full
	}
	f := &Figure{Title: title, Desc: desc, Width: width}
	shade := func(i int) string { return ramp(0.25 + 0.7*float64(i)/float64(max(1, len(parts)-1))) }
	shown, at := legendParts(parts)
	if anyFull {
		shown = append(shown, fullText)
	}
	top := f.legend(14, shown, func(lx, ly float64, i int) {
		if i == len(at) {
			f.text(lx+9, ly+4, "", "middle", "●")
			return
		}
		f.printf(`<rect x="%s" y="%s" width="18" height="10" fill="%s"/>`, num(lx), num(ly-5), shade(at[i]))
	})
	p := f.rows(yName, names, 150, top+4, 12)
	x.Zero, x.Whole = true, true
	s := x.newScale(0, most, p.left, p.right)
	f.xAxis(p, x, s, true)
	f.rowNames(p, names)
	for i, r := range rows {
		y, sum := p.top+float64(i)*barHeight, 0.0
		for k, v := range r.Parts {
			if v > 0 {
				f.printf(`<rect x="%s" y="%s" width="%s" height="%d" fill="%s" class="edge">%s</rect>`, num(s.at(sum)), num(y+3),
					num(s.at(sum+v)-s.at(sum)), barHeight-6, shade(k), tip(fmt.Sprintf("%s, %s: %s", Isolate(r.Name), parts[k], x.Text(v))))
			}
			sum += v
		}
		if r.Full {
			f.text(s.at(sum)+4, y+14, "", "", "●")
		}
	}
	return f
}

// legendParts returns the names and indices of the parts that a legend names: all of a few, else the first, some
// between and the last.
func legendParts(parts []string) (names []string, at []int) {
	step := max(1, (len(parts)+4)/5)
	for i := range parts {
		if i%step == 0 && i+step <= len(parts) || i == len(parts)-1 {
			names, at = append(names, parts[i]), append(at, i)
		}
	}
	return names, at
}
