package chart

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"regexp"
	"slices"

	"golang.org/x/image/vector"
)

type point struct{ x, y float64 }

// near reports whether a point can lie in an image.
func (p point) near() bool { return math.Abs(p.x) < 1e6 && math.Abs(p.y) < 1e6 }

// mid returns the point at a fraction t of the way from a to b.
func mid(a, b point, t float64) point { return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)} }

// line is a polyline.
type line struct {
	points []point
	closed bool
}

// affine maps a point (x, y) to (a x + c y + e, b x + d y + f).
type affine [6]float64

func (m affine) of(p point) point {
	return point{m[0]*p.x + m[2]*p.y + m[4], m[1]*p.x + m[3]*p.y + m[5]}
}

// then returns the map that applies n first, then m.
func (m affine) then(n affine) affine {
	x, y, o := m.of(point{n[0], n[1]}), m.of(point{n[2], n[3]}), m.of(point{n[4], n[5]})
	return affine{x.x - m[4], x.y - m[5], y.x - m[4], y.y - m[5], o.x, o.y}
}

var transforms = regexp.MustCompile(`(translate|scale|rotate)\(([^)]*)\)`)

// transform returns m preceded by the transformations of an SVG attribute, of which figures use these three.
func (m affine) transform(s string) affine {
	for _, t := range transforms.FindAllStringSubmatch(s, -1) {
		v := append(numbers(t[2]), 0, 0)
		switch t[1] {
		case "translate":
			m = m.then(affine{1, 0, 0, 1, v[0], v[1]})
		case "scale":
			m = m.then(affine{v[0], 0, 0, v[1], 0, 0})
		case "rotate":
			sin, cos := math.Sincos(v[0] * math.Pi / 180)
			m = m.then(affine{cos, sin, -sin, cos, 0, 0})
		}
	}
	return m
}

// canvas draws on an image.
type canvas struct {
	image *image.RGBA
	z     vector.Rasterizer
}

// shape fills the area within lines and strokes the lines, as the style says.
func (c *canvas) shape(lines []line, s style, at affine) {
	for _, l := range lines {
		if slices.ContainsFunc(l.points, func(p point) bool { return !p.near() }) {
			return
		}
	}
	if s.fill != nil {
		c.fill(lines, s.fill, s.opacity, at)
	}
	if s.stroke == nil {
		return
	}
	var strokes []line
	for _, l := range lines {
		for _, part := range l.dashed(s.dash) {
			strokes = append(strokes, part.outline(s.width/2)...)
		}
	}
	c.fill(strokes, s.stroke, s.opacity, at)
}

// fill fills the area within lines. An area within two lines of the same direction is filled once.
func (c *canvas) fill(lines []line, with color.Color, opacity float64, at affine) {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	moved := make([][]point, len(lines))
	for i, l := range lines {
		for _, p := range l.points {
			p = at.of(p)
			if !p.near() {
				return
			}
			moved[i] = append(moved[i], p)
			lo, hi = point{min(lo.x, p.x), min(lo.y, p.y)}, point{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	if lo.x > hi.x {
		return
	}
	r := image.Rect(int(math.Floor(lo.x)), int(math.Floor(lo.y)), int(math.Ceil(hi.x))+1, int(math.Ceil(hi.y))+1).Intersect(c.image.Rect)
	if r.Empty() {
		return
	}
	c.z.Reset(r.Dx(), r.Dy())
	for _, points := range moved {
		for i, p := range points {
			x, y := float32(p.x-float64(r.Min.X)), float32(p.y-float64(r.Min.Y))
			if i == 0 {
				c.z.MoveTo(x, y)
			} else {
				c.z.LineTo(x, y)
			}
		}
		c.z.ClosePath()
	}
	red, green, blue, _ := with.RGBA()
	c.z.DrawOp = draw.Over
	c.z.Draw(c.image, r, image.NewUniform(color.NRGBA64{uint16(red), uint16(green), uint16(blue), uint16(opacity * 0xffff)}), image.Point{})
}

// dashed cuts a line into dashes. The lengths in pattern are drawn and left out in turn.
func (l line) dashed(pattern []float64) []line {
	if l.closed {
		l.points = append(slices.Clone(l.points), l.points[0])
	}
	if len(pattern) == 0 || len(l.points) == 0 {
		return []line{l}
	}
	var out []line
	k, left := 0, pattern[0]
	dash := line{points: []point{l.points[0]}}
	for i := 1; i < len(l.points); i++ {
		a, b := l.points[i-1], l.points[i]
		for far := math.Hypot(b.x-a.x, b.y-a.y); far > left; far = math.Hypot(b.x-a.x, b.y-a.y) {
			a = mid(a, b, left/far)
			if k%2 == 0 {
				out = append(out, line{points: append(dash.points, a)})
			}
			k, dash = k+1, line{points: []point{a}}
			left = pattern[k%len(pattern)]
		}
		left -= math.Hypot(b.x-a.x, b.y-a.y)
		dash.points = append(dash.points, b)
	}
	if k%2 == 0 {
		out = append(out, dash)
	}
	return out
}

// outline returns the area that a pen of the given radius covers along a line, in pieces of one direction.
func (l line) outline(radius float64) (pieces []line) {
	for i, b := range l.points[1:] {
		a := l.points[i]
		far := math.Hypot(b.x-a.x, b.y-a.y)
		if far == 0 {
			continue
		}
		dx, dy := (b.x-a.x)/far*radius, (b.y-a.y)/far*radius
		pieces = append(pieces, line{points: []point{{a.x - dy, a.y + dx}, {a.x + dy, a.y - dx}, {b.x + dy, b.y - dx}, {b.x - dy, b.y + dx}}})
		if i > 0 || l.points[0] == l.points[len(l.points)-1] {
			pieces = append(pieces, line{points: disc(a, radius, 12)})
		}
	}
	return pieces
}

// disc returns a regular polygon about a point.
func disc(at point, radius float64, sides int) (points []point) {
	for i := range sides {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(sides))
		points = append(points, point{at.x + radius*cos, at.y + radius*sin})
	}
	return points
}
