package dataset

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A uniform cubic B-spline reproduces a plane through its control points.
func TestBendReproducesPlanes(t *testing.T) {
	rng := testrand.New(t)
	c := [6]float64{}
	for i := range c {
		c[i] = rng.NormFloat64()
	}
	plane := func(x, y float64) point { return point{c[0] + c[1]*x + c[2]*y, c[3] + c[4]*x + c[5]*y} }
	var b bend
	for i := range b {
		for j := range b[i] {
			b[i][j] = plane(float64(bendStep*(j-1)), float64(bendStep*(i-1)))
		}
	}
	var moved [digitPixels]point
	b.displace(&moved)
	for k, got := range moved {
		want := plane(float64(k%digitSide), float64(k/digitSide))
		if math.Abs(got.x-want.x)+math.Abs(got.y-want.y) > 1e-10 {
			t.Fatalf("pixel %d moves by %v, expected %v", k, got, want)
		}
	}
}

func TestBendDeviation(t *testing.T) {
	rng := testrand.New(t)
	var sum float64
	const draws = 400
	for range draws {
		b := newBend(rng, 1)
		var moved [digitPixels]point
		b.displace(&moved)
		for _, p := range moved {
			sum += p.x*p.x + p.y*p.y
		}
	}
	// Averaged over a cell, the squared weights along one direction sum to 151/315.
	want := 151. / 315
	if got := math.Sqrt(sum / (2 * draws * digitPixels)); math.Abs(got-want) > 0.05*want {
		t.Errorf("the field has deviation %v, expected %v", got, want)
	}
}

func TestCentroid(t *testing.T) {
	var image [digitPixels]uint8
	must.Equal(t, centroid(image[:]), (point{}), "centroid of a black image")
	image[3*digitSide+20] = 50
	image[5*digitSide+24] = 150
	if got, want := centroid(image[:]), (point{23 - 13.5, 4.5 - 13.5}); got != want {
		t.Errorf("centroid is %v, expected %v", got, want)
	}
}

// Without bend, rotation and shear a digit keeps its outline: the grey level of each pixel is the share of its square that the grown
// outline covers.
func TestPaintCoversOutline(t *testing.T) {
	rng := testrand.New(t)
	outlines := must.Get(loadOutlines(digitFaces()[0]))(t)
	for digit := range outlines {
		g := newGlyph(&outlines[digit])
		scale := 16 + 4*rng.Float64()
		s := style{glyph: &g, xx: 1 / scale, yy: 1 / scale, scale: scale, grow: rng.Float64() - 0.5, softness: 1, ink: 255}
		var image [digitPixels]uint8
		var still [digitPixels]point
		s.render(image[:], &still, point{})
		var area, off float64
		for k, v := range image {
			const fine = 8
			inside := 0
			for q := range fine * fine {
				x := float64(k%digitSide) - middle + (float64(q%fine)+0.5)/fine - 0.5
				y := float64(k/digitSide) - middle + (float64(q/fine)+0.5)/fine - 0.5
				if scale*outlines[digit].distance(point{x / scale, y / scale})+s.grow > 0 {
					inside++
				}
			}
			want := 255 * float64(inside) / (fine * fine)
			area += want
			off += math.Abs(float64(v) - want)
		}
		// The distance stands in for the covered area, which is least accurate where strokes are thinner than a pixel. A shift of half a
		// pixel would give 20 % and more.
		must.Hold(t, off <= 0.14*area, "digit %d: pixels are off by %.1f %% of the ink", digit, 100*off/area)
	}
}

// The linear map of a style is the inverse of rotation * shear * scaling, so that one glyph unit is scale pixels long, as a mean over
// directions.
func TestStyleScale(t *testing.T) {
	rng := testrand.New(t)
	glyphs := must.Get(digitGlyphs())(t)
	for i := range 1000 {
		s := newStyle(rng, glyphs, i%10)
		det := s.xx*s.yy - s.xy*s.yx
		if math.Abs(det*s.scale*s.scale-1) > 1e-12 {
			t.Fatalf("the map has determinant %v and scale %v", det, s.scale)
		}
		if w := s.scale*s.glyph.stroke + 2*s.grow; w < 0.4*s.scale*s.glyph.stroke-1e-12 || w > 4+1e-12 {
			t.Fatalf("the stroke is %v pixels wide", w)
		}
	}
}
