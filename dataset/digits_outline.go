package dataset

import (
	"fmt"
	"math"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// digitFaces returns the Go fonts that differ in their digits. The two
// small-caps fonts are left out: their digits are those of goregular and
// goitalic.
func digitFaces() [][]byte {
	return [][]byte{
		goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF, gobolditalic.TTF,
		gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF,
	}
}

// point is a position in glyph units: the bounding box of the glyph is centred
// at the origin and has height 1. y grows downwards.
type point struct{ x, y float64 }

// edge is a straight piece of an outline.
type edge struct{ a, b point }

// outline is a glyph as closed polygons.
type outline struct {
	edges []edge
	width float64 // of the bounding box, whose height is 1
	// stroke is the mean stroke width: an outline of length L around a stroke
	// of width w has area wL/2.
	stroke float64
}

// loadOutlines returns the outlines of the digits 0 to 9 of a TrueType font.
func loadOutlines(ttf []byte) ([]outline, error) {
	font, err := sfnt.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("digit font: %w", err)
	}
	var buf sfnt.Buffer
	outlines := make([]outline, 10)
	for digit := range outlines {
		glyph, err := font.GlyphIndex(&buf, rune('0'+digit))
		if err != nil {
			return nil, fmt.Errorf("digit font, digit %d: %w", digit, err)
		}
		segments, err := font.LoadGlyph(&buf, glyph, fixed.I(int(font.UnitsPerEm())), nil)
		if err != nil {
			return nil, fmt.Errorf("digit font, digit %d: %w", digit, err)
		}
		outlines[digit] = newOutline(flatten(segments))
	}
	return outlines, nil
}

// flatten replaces the curves of a glyph by short edges.
func flatten(segments sfnt.Segments) []edge {
	const pieces = 4 // the arcs of the Go fonts span at most a quarter turn
	var edges []edge
	var start, pen point
	lineTo := func(p point) {
		if p != pen {
			edges = append(edges, edge{pen, p})
		}
		pen = p
	}
	for _, s := range segments {
		var p [3]point
		for i, a := range s.Args {
			p[i] = point{float64(a.X) / 64, float64(a.Y) / 64}
		}
		from := pen
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			lineTo(start)
			start, pen = p[0], p[0]
		case sfnt.SegmentOpLineTo:
			lineTo(p[0])
		case sfnt.SegmentOpQuadTo:
			for i := 1; i <= pieces; i++ {
				t := float64(i) / pieces
				lineTo(lerp(lerp(from, p[0], t), lerp(p[0], p[1], t), t))
			}
		case sfnt.SegmentOpCubeTo:
			for i := 1; i <= pieces; i++ {
				t := float64(i) / pieces
				mid := lerp(p[0], p[1], t)
				lineTo(lerp(lerp(lerp(from, p[0], t), mid, t), lerp(mid, lerp(p[1], p[2], t), t), t))
			}
		}
	}
	lineTo(start)
	return edges
}

func lerp(a, b point, t float64) point {
	return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)}
}

// newOutline moves and scales edges to glyph units and measures the width and the stroke of the glyph.
func newOutline(edges []edge) outline {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, e := range edges {
		lo = point{min(lo.x, e.a.x), min(lo.y, e.a.y)}
		hi = point{max(hi.x, e.a.x), max(hi.y, e.a.y)}
	}
	centre, height := lerp(lo, hi, 0.5), hi.y-lo.y
	unit := func(p point) point { return point{(p.x - centre.x) / height, (p.y - centre.y) / height} }

	o := outline{edges: make([]edge, len(edges)), width: (hi.x - lo.x) / height}
	var area, length float64
	for i, e := range edges {
		a, b := unit(e.a), unit(e.b)
		o.edges[i] = edge{a, b}
		area += (a.x*b.y - b.x*a.y) / 2
		length += math.Hypot(b.x-a.x, b.y-a.y)
	}
	o.stroke = 2 * math.Abs(area) / length
	return o
}

func signed(square float64, inside bool) float64 {
	if inside {
		return math.Sqrt(square)
	}
	return -math.Sqrt(square)
}

// nearest returns the least squared distance from p to the edges.
func nearest(edges []edge, p point) float64 {
	least := math.Inf(1)
	for _, e := range edges {
		least = min(least, e.square(p))
	}
	return least
}

// square returns the squared distance from p to the edge.
func (e edge) square(p point) float64 {
	dx, dy := e.b.x-e.a.x, e.b.y-e.a.y
	px, py := p.x-e.a.x, p.y-e.a.y
	t := min(max((px*dx+py*dy)/(dx*dx+dy*dy), 0), 1)
	qx, qy := px-t*dx, py-t*dy
	return qx*qx + qy*qy
}

// inside reports whether the winding number of p is not 0.
func (o *outline) inside(p point) bool {
	winding := 0
	for _, e := range o.edges {
		if (e.a.y <= p.y) == (e.b.y <= p.y) {
			continue
		}
		// The edge crosses the horizontal line through p: count it where it
		// does so to the right of p.
		dy := e.b.y - e.a.y
		side := (e.b.x-e.a.x)*(p.y-e.a.y) - dy*(p.x-e.a.x)
		switch {
		case dy > 0 && side > 0:
			winding++
		case dy < 0 && side < 0:
			winding--
		}
	}
	return winding != 0
}
