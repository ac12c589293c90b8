package dataset

import (
	"math"
	"testing"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// distance returns the distance from p to the outline, positive inside (where the winding number is not 0) and negative outside.
func (o *outline) distance(p point) float64 {
	return signed(nearest(o.edges, p), o.inside(p))
}

// loop returns a closed polygon as the segments of a glyph, in font units.
func loop(points ...[2]int) sfnt.Segments {
	var s sfnt.Segments
	for i, p := range points {
		op := sfnt.SegmentOpLineTo
		if i == 0 {
			op = sfnt.SegmentOpMoveTo
		}
		s = append(s, sfnt.Segment{Op: op, Args: [3]fixed.Point26_6{fixed.P(p[0], p[1])}})
	}
	return s
}

// The distance to a frame has a closed form. In glyph units the outer square has side 1 and the hole side 1/2.
func TestOutlineOfFrame(t *testing.T) {
	rng := testrand.New(t)
	outer := loop([2]int{100, 200}, [2]int{900, 200}, [2]int{900, 1000}, [2]int{100, 1000})
	hole := loop([2]int{300, 400}, [2]int{300, 800}, [2]int{700, 800}, [2]int{700, 400})
	o := newOutline(flatten(append(outer, hole...)))

	if len(o.edges) != 8 || o.width != 1 {
		t.Fatalf("found %d edges and width %v, expected 8 and 1", len(o.edges), o.width)
	}
	// The frame has area 3/4, and its outline has length 6.
	must.Hold(t, math.Abs(o.stroke-0.25) <= 1e-12, "stroke is %v, expected 0.25", o.stroke)
	square := func(p point, half float64) float64 {
		dx, dy := math.Abs(p.x)-half, math.Abs(p.y)-half
		return -math.Hypot(max(dx, 0), max(dy, 0)) - min(max(dx, dy), 0)
	}
	for range 2000 {
		p := point{3*rng.Float64() - 1.5, 3*rng.Float64() - 1.5}
		want := min(square(p, 0.5), -square(p, 0.25))
		if got := o.distance(p); math.Abs(got-want) > 1e-12 {
			t.Fatalf("distance at %v is %v, expected %v", p, got, want)
		}
	}
}

// Both kinds of curve are followed closely: a circle of radius 1,000 made of cubic or quadratic curves stays within 5 of its radius.
func TestFlattenCurves(t *testing.T) {
	at := func(x, y float64) fixed.Point26_6 {
		return fixed.Point26_6{X: fixed.Int26_6(math.Round(64 * x)), Y: fixed.Int26_6(math.Round(64 * y))}
	}
	const radius = 1000
	k := radius * 4 / 3 * (math.Sqrt2 - 1) // the usual cubic for a quarter circle
	corner := [][2]float64{{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}}
	var cubic, quad sfnt.Segments
	start := sfnt.Segment{Op: sfnt.SegmentOpMoveTo, Args: [3]fixed.Point26_6{at(radius, 0)}}
	cubic, quad = append(cubic, start), append(quad, start)
	for i := range 4 {
		a, b := corner[i], corner[i+1]
		cubic = append(cubic, sfnt.Segment{Op: sfnt.SegmentOpCubeTo, Args: [3]fixed.Point26_6{
			at(radius*a[0]+k*b[0], radius*a[1]+k*b[1]), at(radius*b[0]+k*a[0], radius*b[1]+k*a[1]), at(radius*b[0], radius*b[1]),
		}})
		for half := range 2 {
			mid := math.Pi/8 + math.Pi/4*float64(2*i+half)
			end := mid + math.Pi/8
			far := radius / math.Cos(math.Pi/8)
			quad = append(quad, sfnt.Segment{Op: sfnt.SegmentOpQuadTo, Args: [3]fixed.Point26_6{
				at(far*math.Cos(mid), far*math.Sin(mid)), at(radius*math.Cos(end), radius*math.Sin(end)),
			}})
		}
	}
	for name, c := range map[string]struct {
		segments sfnt.Segments
		edges    int
	}{"cubic": {cubic, 16}, "quadratic": {quad, 32}} {
		edges := flatten(c.segments)
		must.Equal(t, len(edges), c.edges, "%s: edges", name)
		for i, e := range edges {
			if r := math.Hypot(e.a.x, e.a.y); math.Abs(r-radius) > 5 {
				t.Errorf("%s: edge %d starts at radius %v, expected %d", name, i, r, radius)
			}
			if next := edges[(i+1)%len(edges)]; e.b != next.a {
				t.Errorf("%s: edge %d ends at %v, the next one starts at %v", name, i, e.b, next.a)
			}
		}
	}
}

// No two faces may have the same outline of a digit: they are there for variety.
func TestFacesDiffer(t *testing.T) {
	for digit := range 10 {
		seen := map[float64]int{}
		for f, ttf := range digitFaces() {
			outlines := must.Get(loadOutlines(ttf))(t)
			o := outlines[digit]
			if o.stroke < 0.05 || o.stroke > 0.35 || o.width < 0.3 || o.width > 1 {
				t.Errorf("face %d, digit %d: stroke %v and width %v are not those of a digit", f, digit, o.stroke, o.width)
			}
			if other, taken := seen[o.stroke]; taken {
				t.Errorf("digit %d: faces %d and %d have the same outline", digit, other, f)
			}
			seen[o.stroke] = f
		}
	}
}

func TestBadFont(t *testing.T) {
	must.Fail(t, "bytes that are not a font", must.Err(loadOutlines([]byte("not a font"))))
}

func TestGlyphInterpolatesDistance(t *testing.T) {
	rng := testrand.New(t)
	glyphs := must.Get(digitGlyphs())(t)
	for f, ttf := range digitFaces() {
		outlines := must.Get(loadOutlines(ttf))(t)
		for digit := range outlines {
			g, o := &glyphs[10*f+digit], &outlines[digit]
			for range 300 {
				i, j := rng.IntN(g.rows), rng.IntN(g.cols)
				p := g.cell(float64(i), float64(j))
				if got, want := g.dist[i*g.cols+j], float32(o.distance(p)); got != want {
					t.Fatalf("face %d, digit %d: cell (%d, %d) has distance %v, expected %v", f, digit, i, j, got, want)
				}
			}
			for range 100 {
				p := point{(o.width + 0.3) * (rng.Float64() - 0.5), 1.3 * (rng.Float64() - 0.5)}
				// The distance has slope 1 and ridges, so that interpolation is off by less than half the diagonal of a cell.
				if got, want := g.at(p), o.distance(p); math.Abs(got-want) > math.Sqrt2/2/glyphCells {
					t.Fatalf("face %d, digit %d: distance at %v is %v, expected %v", f, digit, p, got, want)
				}
			}
			for _, p := range []point{{0, 5}, {-5, 0}, {math.NaN(), 0}, {0, math.Inf(-1)}} {
				if got := g.at(p); got != -glyphMargin {
					t.Fatalf("distance at %v, outside the grid, is %v", p, got)
				}
			}
		}
	}
}
