package dataset

import (
	"math"
	"math/rand/v2"
)

const (
	digitSide   = 28
	digitPixels = digitSide * digitSide
	// middle is the centre of an image, in pixels.
	middle = (digitSide - 1) / 2.
	// maxExtent is the side in pixels of the largest box that a glyph is drawn into, before its strokes grow and bend.
	maxExtent = 21
)

// style is one way to write a digit.
type style struct {
	glyph *glyph
	// xx to yy hold the linear map from pixels to glyph units.
	xx, xy, yx, yy float64
	// scale is the number of pixels per glyph unit, as a mean over directions.
	scale float64
	// grow is the number of pixels by which each side of a stroke grows.
	grow float64
	// softness is the width in pixels of the rise from paper to ink.
	softness float64
	// ink is the grey level of a full stroke.
	ink float64
	// shift is the position of the centre of mass, in pixels from the middle.
	shift point
	bend  bend
}

// newStyle draws a random style for a digit, with the glyph of a random face.
func newStyle(rng *rand.Rand, glyphs []glyph, digit int) style {
	uniform := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

	g := &glyphs[10*rng.IntN(len(glyphs)/10)+digit]
	height := uniform(16, 19.5)
	width := height * uniform(0.8, 1.25)
	shear := uniform(-0.35, 0.35)
	sin, cos := math.Sincos(uniform(-12, 12) * math.Pi / 180)

	// Glyph to pixels is rotation * shear * diag(width, height), shrunk where the
	// glyph's box would become too large; the style keeps the inverse.
	ax, ay := cos*width, (shear*cos-sin)*height
	bx, by := sin*width, (shear*sin+cos)*height
	extent := max(math.Abs(ax)*g.width+math.Abs(ay), math.Abs(bx)*g.width+math.Abs(by))
	fit := min(1, maxExtent/extent)
	det := width * height * fit
	s := style{
		glyph: g,
		xx:    by / det, xy: -ay / det,
		yx: -bx / det, yy: ax / det,
		scale: fit * math.Sqrt(width*height),
	}
	stroke := s.scale * g.stroke
	s.grow = max((uniform(2, 4)-stroke)/2, -0.3*stroke)
	s.softness = uniform(1, 1.6)
	s.ink = uniform(220, 255)
	s.shift = point{uniform(-0.8, 0.8), uniform(-0.8, 0.8)}
	s.bend = newBend(rng, 1.8)
	return s
}

// paint renders the digit, white on black, into the 784 pixels of dst.
func (s *style) paint(dst []uint8) {
	var moved [digitPixels]point
	s.bend.displace(&moved)
	s.render(dst, &moved, point{})
	c := centroid(dst)
	s.render(dst, &moved, point{s.shift.x - c.x, s.shift.y - c.y})
}

// render draws the digit with its centre at the given position, in pixels from the middle. moved displaces the pixels.
func (s *style) render(dst []uint8, moved *[digitPixels]point, centre point) {
	for i := range digitSide {
		for j := range digitSide {
			k := i*digitSide + j
			x := float64(j) - middle - centre.x + moved[k].x
			y := float64(i) - middle - centre.y + moved[k].y
			d := s.scale*s.glyph.at(point{s.xx*x + s.xy*y, s.yx*x + s.yy*y}) + s.grow
			dst[k] = uint8(s.ink*min(max(0.5+d/s.softness, 0), 1) + 0.5)
		}
	}
}

// centroid returns the centre of mass, in pixels from the middle.
func centroid(image []uint8) point {
	var mass, x, y int
	for i := range digitSide {
		for j := range digitSide {
			v := int(image[i*digitSide+j])
			mass, x, y = mass+v, x+v*j, y+v*i
		}
	}
	if mass == 0 {
		return point{}
	}
	return point{float64(x)/float64(mass) - middle, float64(y)/float64(mass) - middle}
}

// bend is a smooth random displacement field: a uniform cubic B-spline surface
// over control points bendStep pixels apart.
type bend [bendNodes][bendNodes]point

const (
	bendStep  = 7
	bendNodes = digitSide/bendStep + 3
)

// newBend draws control points with the given standard deviation in pixels. The standard deviation of the field itself is a bit less than
// half of it.
func newBend(rng *rand.Rand, deviation float64) bend {
	var b bend
	for i := range b {
		for j := range b[i] {
			b[i][j] = point{deviation * rng.NormFloat64(), deviation * rng.NormFloat64()}
		}
	}
	return b
}

// displace evaluates the field at every pixel.
func (b *bend) displace(dst *[digitPixels]point) {
	for i := range digitSide {
		var line [bendNodes]point
		wi := splineWeights(i)
		for j := range line {
			for r, w := range wi {
				p := b[i/bendStep+r][j]
				line[j].x += w * p.x
				line[j].y += w * p.y
			}
		}
		for j := range digitSide {
			var sum point
			for r, w := range splineWeights(j) {
				p := line[j/bendStep+r]
				sum.x += w * p.x
				sum.y += w * p.y
			}
			dst[i*digitSide+j] = sum
		}
	}
}

// splineWeights returns the weights of the four control points around pixel i.
func splineWeights(i int) [4]float64 {
	t := float64(i%bendStep) / bendStep
	u := 1 - t
	return [4]float64{
		u * u * u / 6,
		(3*t*t*t - 6*t*t + 4) / 6,
		(3*u*u*u - 6*u*u + 4) / 6,
		t * t * t / 6,
	}
}
