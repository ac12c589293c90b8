package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// The largest number of pixels per unit of a figure, and in an image.
const (
	pixelsPerUnit = 3
	mostPixels    = 20_000_000
)

// PNG returns the drawing on white paper with three pixels per unit, or fewer for a very large one. It reads the
// elements and styles that figures are made of. Letters are those of the Go font: Latin, Greek and Cyrillic; others
// become boxes.
func (f *Figure) PNG() ([]byte, error) {
	scale, size := f.pixels()
	c := &canvas{image: image.NewRGBA(size)}
	draw.Draw(c.image, c.image.Rect, image.White, image.Point{}, draw.Src)
	if err := c.elements(xml.NewDecoder(strings.NewReader(f.body.String())), affine{scale, 0, 0, scale, 0, 0}); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Title, err)
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, c.image)
	return out.Bytes(), err
}

// pixels returns the number of pixels per unit, and the size of the image.
func (f *Figure) pixels() (scale float64, size image.Rectangle) {
	scale = min(pixelsPerUnit, math.Sqrt(mostPixels/(f.Width*f.Height)))
	return scale, image.Rect(0, 0, max(1, int(f.Width*scale)), max(1, int(f.Height*scale)))
}

// elements draws elements up to the end of their parent.
func (c *canvas) elements(d *xml.Decoder, at affine) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := c.element(d, e, at); err != nil {
				return err
			}
		}
	}
}

// element draws one element and the elements in it.
func (c *canvas) element(d *xml.Decoder, e xml.StartElement, at affine) error {
	attr := map[string]string{}
	for _, a := range e.Attr {
		attr[a.Name.Local] = a.Value
	}
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(attr[name], 64)
		return v
	}
	at = at.transform(attr["transform"])
	s := styleOf(e.Name.Local, attr)
	switch e.Name.Local {
	case "g":
	case "rect":
		x, y, w, h := number("x"), number("y"), number("width"), number("height")
		c.shape([]line{{points: []point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, closed: true}}, s, at)
	case "circle":
		c.shape([]line{{points: disc(point{number("cx"), number("cy")}, number("r"), 32), closed: true}}, s, at)
	case "path":
		c.shape(parsePath(attr["d"]), s, at)
	case "text":
		text, err := textOf(d)
		if err == nil {
			c.text(text, point{number("x"), number("y")}, attr["text-anchor"], s, at)
		}
		return err
	default:
		return d.Skip()
	}
	return c.elements(d, at)
}

// textOf reads the text of an element up to its end, without the text of elements in it.
func textOf(d *xml.Decoder) (string, error) {
	var out strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.CharData:
			out.Write(t)
		case xml.StartElement:
			if err := d.Skip(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return out.String(), nil
		}
	}
}

// style is how an element is drawn. A nil colour is none.
type style struct {
	fill, stroke           color.Color
	width, opacity, letter float64
	dash                   []float64
}

// rules returns the name and the properties of each rule of [Style] for light paper, in order.
var rules = sync.OnceValue(func() [][2]string {
	light, _, _ := strings.Cut(Style, "@media")
	var out [][2]string
	for _, m := range regexp.MustCompile(`\.chart \.?(\w+)\{([^}]*)\}`).FindAllStringSubmatch(light, -1) {
		out = append(out, [2]string{m[1], m[2]})
	}
	return out
})

// styleOf returns the style of an element: its attributes, overridden by the rules for its name and its classes.
func styleOf(name string, attr map[string]string) style {
	s := style{fill: color.Black, width: 1, opacity: 1, letter: 12}
	for _, key := range []string{"fill", "stroke", "font-size"} {
		s.set(key, attr[key])
	}
	classes := append(strings.Fields(attr["class"]), name)
	for _, r := range rules() {
		if !slices.Contains(classes, r[0]) {
			continue
		}
		for property := range strings.SplitSeq(r[1], ";") {
			key, value, _ := strings.Cut(property, ":")
			s.set(key, value)
		}
	}
	return s
}

func (s *style) set(key, value string) {
	number := func() float64 {
		v, _ := strconv.ParseFloat(strings.TrimSuffix(value, "px"), 64)
		return v
	}
	switch {
	case value == "":
	case key == "fill":
		s.fill = parseColor(value)
	case key == "stroke":
		s.stroke = parseColor(value)
	case key == "stroke-width":
		s.width = number()
	case key == "opacity":
		s.opacity = number()
	case key == "font-size":
		s.letter = number()
	case key == "stroke-dasharray":
		s.dash = numbers(value)
	}
}

// parseColor reads #rgb and #rrggbb, and returns nil for all else.
func parseColor(s string) color.Color {
	s = strings.TrimPrefix(s, "#")
	if len(s) == 3 {
		s = string([]byte{s[0], s[0], s[1], s[1], s[2], s[2]})
	}
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return nil
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

var pathWords = regexp.MustCompile(`[A-Za-z]|-?[0-9.]+`)

func numbers(s string) (out []float64) {
	for _, w := range pathWords.FindAllString(s, -1) {
		v, _ := strconv.ParseFloat(w, 64)
		out = append(out, v)
	}
	return out
}

// parsePath reads a path of straight lines, which are all that figures have.
func parsePath(d string) (lines []line) {
	words := pathWords.FindAllString(d, -1)
	next := func() (v float64) {
		if len(words) > 0 {
			v, _ = strconv.ParseFloat(words[0], 64)
			words = words[1:]
		}
		return v
	}
	var pen point
	for len(words) > 0 {
		op := words[0]
		words = words[1:]
		switch op {
		case "M":
			pen = point{next(), next()}
			lines = append(lines, line{})
		case "L":
			pen = point{next(), next()}
		case "l":
			pen = point{pen.x + next(), pen.y + next()}
		case "H":
			pen.x = next()
		case "h":
			pen.x += next()
		case "V":
			pen.y = next()
		case "v":
			pen.y += next()
		}
		if len(lines) == 0 {
			return nil
		}
		last := &lines[len(lines)-1]
		if op == "z" {
			last.closed = true
		} else {
			last.points = append(last.points, pen)
		}
	}
	return lines
}

// goFont returns the Go font, which it parses once.
var goFont = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(goregular.TTF) })

// text draws text that begins, is centred or ends at p.
func (c *canvas) text(s string, p point, anchor string, st style, at affine) {
	f, err := goFont()
	if err != nil || st.fill == nil {
		return
	}
	var buf sfnt.Buffer
	units := fixed.I(int(f.UnitsPerEm()))
	size := st.letter / float64(f.UnitsPerEm())
	var glyphs []sfnt.GlyphIndex
	var advances []float64
	width := 0.0
	for _, r := range s {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) {
			continue
		}
		g, _ := f.GlyphIndex(&buf, r)
		a, _ := f.GlyphAdvance(&buf, g, units, font.HintingNone)
		glyphs, advances = append(glyphs, g), append(advances, width)
		width += float64(a) / 64 * size
	}
	switch anchor {
	case "middle":
		p.x -= width / 2
	case "end":
		p.x -= width
	}
	var outlines []line
	for i, g := range glyphs {
		segments, err := f.LoadGlyph(&buf, g, units, nil)
		if err != nil {
			continue
		}
		outlines = append(outlines, flatten(segments, point{p.x + advances[i], p.y}, size)...)
	}
	c.fill(outlines, st.fill, st.opacity, at)
}

// flatten returns the outlines of a glyph, with short lines in place of curves.
func flatten(segments sfnt.Segments, at point, size float64) (lines []line) {
	place := func(p fixed.Point26_6) point { return point{at.x + float64(p.X)/64*size, at.y + float64(p.Y)/64*size} }
	for _, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo {
			lines = append(lines, line{points: []point{place(s.Args[0])}, closed: true})
			continue
		}
		last := &lines[len(lines)-1]
		from, a := last.points[len(last.points)-1], place(s.Args[0])
		if s.Op == sfnt.SegmentOpLineTo {
			last.points = append(last.points, a)
			continue
		}
		b := place(s.Args[1]) // the Go font has no cubic curves
		for i := 1; i <= 6; i++ {
			t := float64(i) / 6
			last.points = append(last.points, mid(mid(from, a, t), mid(a, b, t), t))
		}
	}
	return lines
}
