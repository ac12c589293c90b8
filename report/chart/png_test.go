package chart

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// drawn returns the image of a figure of 100 by 60 units with the given elements.
func drawn(t *testing.T, body string) image.Image {
	t.Helper()
	f := &Figure{Title: "a figure", Width: 100, Height: 60}
	f.body.WriteString(body)
	im := must.Get(png.Decode(bytes.NewReader(must.Get(f.PNG())(t))))(t)
	if im.Bounds() != image.Rect(0, 0, 300, 180) {
		t.Fatalf("the image is %v", im.Bounds())
	}
	return im
}

// An image has the colours of the style at the places of the elements, with three pixels for each unit.
func TestPNG(t *testing.T) {
	white, blue := color.RGBA{255, 255, 255, 255}, color.RGBA{0, 0x72, 0xb2, 255}
	type at struct {
		x, y float64
		want color.RGBA
	}
	for body, places := range map[string][]at{
		`<rect x="10" y="20" width="30" height="10" class="f0"><title>a tip</title></rect>`: {{11, 21, blue}, {39, 29, blue}, {9, 21, white},
			{41, 25, white}},
		`<rect x="10" y="20" width="30" height="10" fill="#08519c" class="edge"></rect>`: {{25, 25, color.RGBA{8, 0x51, 0x9c, 255}},
			{10.3, 25, white}},
		`<rect x="0" y="0" width="50" height="60" class="band f0"/>`: {{25, 30, color.RGBA{214, 232, 243, 255}}, {75, 30, white}},
		`<circle cx="50" cy="30" r="10" class="f0"/>`:                {{50, 39, blue}, {56, 36, blue}, {58, 38, white}},
		// A line has no fill, turns without a gap and does not count twice where it crosses itself.
		`<path d="M10 10L50 10V50H30V5" class="line s0"/>`: {{12, 10, blue}, {50.5, 9.5, blue}, {50, 49, blue}, {30, 10, blue}, {30, 6, blue},
			{40, 30, white}, {9, 10, white}},
		`<path d="M10 30L90 30" class="line s0 dash"/>`: {{12, 30, blue}, {18, 30, white}, {22, 30, blue}, {28, 30, white}},
		`<path d="M50 20l5 5l-5 5l-5 -5z" class="f0"/>`: {{50, 25, blue}, {46, 22, white}},
		`<g transform="translate(20 10)scale(10 5)"><path fill="#0072b2" d="M1 1h2v1h-2z"/></g>` +
			`<rect x="80" y="0" width="9" height="9" class="f0"/>`: {{31, 16, blue},
			{49, 19, blue}, {29, 16, white}, {51, 16, white}, {31, 21, white}, {85, 5, blue}},
	} {
		im := drawn(t, body)
		for _, p := range places {
			got := color.RGBAModel.Convert(im.At(int(3*p.x), int(3*p.y))).(color.RGBA)
			for _, d := range []int{int(got.R) - int(p.want.R), int(got.G) - int(p.want.G), int(got.B) - int(p.want.B)} {
				if d < -1 || d > 1 {
					t.Errorf("%s: at %g, %g is %v, expected %v", body, p.x, p.y, got, p.want)
					break
				}
			}
		}
	}
}

// ink returns the box, in units, around everything that is darker than paper.
func ink(im image.Image) (lo, hi point) {
	lo, hi = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for y := range im.Bounds().Dy() {
		for x := range im.Bounds().Dx() {
			if r, _, _, _ := im.At(x, y).RGBA(); r < 0x8000 {
				p := point{float64(x) / 3, float64(y) / 3}
				lo, hi = point{min(lo.x, p.x), min(lo.y, p.y)}, point{max(hi.x, p.x), max(hi.y, p.y)}
			}
		}
	}
	return lo, hi
}

// Text stands at its anchor, is as high as its style says, and turns. Titles and isolating characters leave no ink, and letters of other
// scripts leave some.
func TestPNGText(t *testing.T) {
	for body, want := range map[string][4]float64{ // left, top, right, bottom; each within 1.5 units
		`<text x="20" y="30">HHH</text>`:                                          {21, 21.5, 44, 30},
		`<text x="90" y="30" text-anchor="end">HHH<title>HHHHHHHH</title></text>`: {65, 21.5, 89, 30},
		`<text x="50" y="30" text-anchor="middle" font-size="24">H</text>`:        {43, 13, 57, 30},
		`<text transform="translate(50 50)rotate(-90)" class="off">HHH</text>`:    {41.5, 25.5, 50, 49},
		"<text x=\"20\" y=\"30\">\u2068HHH\u2069</text>":                          {21, 21.5, 44, 30},
	} {
		lo, hi := ink(drawn(t, body))
		for i, v := range []float64{lo.x, lo.y, hi.x, hi.y} {
			if math.Abs(v-want[i]) > 1.5 {
				t.Errorf("%s: ink from %.1f to %.1f, expected %v", body, lo, hi, want)
				break
			}
		}
	}
	if lo, _ := ink(drawn(t, `<text x="20" y="30">名前 מקור 🦜</text>`)); math.IsInf(lo.x, 1) {
		t.Error("other scripts leave no ink")
	}
}

// A figure whose coordinates are not numbers, or are very large, has an image of bounded size.
func TestPNGIsBounded(t *testing.T) {
	for _, height := range []float64{1e-9, 300, 4e5, 1e9} {
		f := &Figure{Width: 460, Height: height}
		if scale, size := f.pixels(); size.Empty() || size.Dx()*size.Dy() > mostPixels || scale > 3 || height == 300 && scale != 3 {
			t.Errorf("460 by %g becomes %v, %g for a unit", height, size, scale)
		}
	}
	drawn(t, `<path d="M0 0L1e300 NaN" class="line s0 dash"/><path d="M0 0H99999999999" class="line s0 dot"/>`+
		`<rect x="NaN" y="-5" width="Inf" height="3" class="f0"/><path d="L1 1"/><path d="z"/><path d="M1"/>`)
	f := &Figure{Title: "broken", Width: 9, Height: 9}
	f.body.WriteString("<g><rect></g>")
	must.Fail(t, "elements that do not close", must.Err(f.PNG()), "broken")
}
