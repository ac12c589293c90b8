package chart

import (
	"fmt"
	"slices"
	"strings"
)

// Point is a point of a line. If Band is set, Low to High is its interval.
type Point struct {
	X, Y, Low, High float64
	Band            bool
}

// Line is a series of points with a name.
type Line struct {
	Name   string
	Points []Point
	// Color is the index of the colour and of the mark.
	Color int
	// Level draws a dotted line, or one of dashes and dots for odd colours, across the figure at the Y of the single
	// point. Guess draws a dashed line without marks.
	Level, Guess bool
}

// Lines draws lines with their bands, or with whiskers where some points have no interval. Levels span the whole width. The
// bands of levels and guesses are cut off at the edge of the figure. Lines of a single point that stand at one X are moved
// apart, to the right.
func Lines(title, desc string, x, y Axis, lines []Line) *Figure {
	f := &Figure{Title: title, Desc: desc, Width: width}
	var xs, ys []float64
	var names []string
	for _, l := range lines {
		names = append(names, l.Name)
		for _, p := range l.Points {
			if !l.Level {
				xs = append(xs, p.X)
			}
			ys = append(ys, p.Y)
			if p.Band && !l.Guess && !l.Level {
				ys = append(ys, p.Low, p.High)
			}
		}
	}
	top := f.legend(14, names, func(at, h float64, i int) {
		l := lines[i]
		f.line(at, h, at+22, h, l.class())
		if !l.Guess && !l.Level {
			f.mark(at+11, h, l.Color, "")
		}
	})
	ylo, yhi := bounds(ys)
	xlo, xhi := bounds(xs)
	p := plot{0, top + 6, width - 20, top + 216}
	sy := y.newScale(ylo, yhi, p.bottom, p.top)
	p.left = y.labelRoom(sy)
	sx := x.newScale(xlo, xhi, p.left+8, p.right-8-apart*float64(mostTogether(lines)))
	f.yAxis(p, y, sy)
	f.xAxis(p, x, sx, false)
	f.Height = p.bottom + 44
	for _, l := range lines {
		if !l.Level || len(l.Points) == 0 {
			f.band(l.Points, l.Color, sx, sy)
			continue
		}
		from, to := l.Points[0], l.Points[0]
		from.X, to.X = 0, 1
		f.band([]Point{from, to}, l.Color, scale{0, 1, p.left, p.right, false, 0}, sy)
	}
	for _, l := range lines {
		f.path(l, sx, sy, p)
	}
	together := map[float64]int{}
	for _, l := range lines {
		if l.Level || l.Guess {
			continue
		}
		for _, q := range l.Points {
			at := sx.at(q.X)
			if len(l.Points) == 1 {
				together[q.X]++
				at += apart * float64(together[q.X])
			}
			if q.Band && !banded(l.Points) {
				f.whisker(at, sy.at(q.Low), at, sy.at(q.High), fmt.Sprintf("s%d", l.Color))
			}
			f.mark(at, sy.at(q.Y), l.Color, fmt.Sprintf("%s: %s at %s", l.Name, y.Text(q.Y), x.Text(q.X)))
		}
	}
	return f
}

func (l Line) class() string {
	class := fmt.Sprintf("line s%d", l.Color%Series)
	switch {
	case l.Guess:
		class += " dash"
	case l.Level:
		class += []string{" dot", " dashdot"}[l.Color%2]
	}
	return class
}

func (f *Figure) path(l Line, sx, sy scale, p plot) {
	if l.Level && len(l.Points) > 0 {
		y := sy.at(l.Points[0].Y)
		f.line(p.left, y, p.right, y, l.class())
		return
	}
	if len(l.Points) > 1 {
		f.polyline(len(l.Points), l.class(), func(i int) (x, y float64) { return sx.at(l.Points[i].X), sy.at(l.Points[i].Y) })
	}
}

// polyline draws a line through n points.
func (f *Figure) polyline(n int, class string, at func(i int) (x, y float64)) {
	f.printf(`<path d="`)
	for i := range n {
		x, y := at(i)
		f.printf("%c%s %s", "ML"[min(i, 1)], num(x), num(y))
	}
	f.printf(`" class="%s"/>`, class)
}

// apart is the distance between lines of a single point that stand at one X.
const apart = 9

// mostTogether returns the largest number of lines of a single point that stand at one X.
func mostTogether(lines []Line) (most int) {
	count := map[float64]int{}
	for _, l := range lines {
		if !l.Level && !l.Guess && len(l.Points) == 1 {
			count[l.Points[0].X]++
			most = max(most, count[l.Points[0].X])
		}
	}
	return most
}

// banded reports whether points have a band: there are several, each with an interval.
func banded(points []Point) bool {
	return len(points) > 1 && !slices.ContainsFunc(points, func(q Point) bool { return !q.Band })
}

func (f *Figure) band(points []Point, color int, sx, sy scale) {
	if !banded(points) {
		return
	}
	var over, under strings.Builder
	for i, q := range points {
		back := points[len(points)-1-i]
		fmt.Fprintf(&over, "%c%s %s", "ML"[min(i, 1)], num(sx.at(q.X)), num(max(sy.at(q.High), sy.to)))
		fmt.Fprintf(&under, "L%s %s", num(sx.at(back.X)), num(min(sy.at(back.Low), sy.from)))
	}
	f.printf(`<path d="%s%sz" class="band f%d"/>`, over.String(), under.String(), color%Series)
}

// whisker draws an interval with its two ends.
func (f *Figure) whisker(x1, y1, x2, y2 float64, color string) {
	const e = 3.5
	dx, dy := 0.0, e
	if x1 == x2 {
		dx, dy = e, 0
	}
	f.printf(`<path d="M%s %sL%s %sM%s %sL%s %sM%s %sL%s %s" class="whisker %s"/>`, num(x1), num(y1), num(x2), num(y2),
		num(x1-dx), num(y1-dy), num(x1+dx), num(y1+dy), num(x2-dx), num(y2-dy), num(x2+dx), num(y2+dy), color)
}
