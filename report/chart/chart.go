// Package chart draws figures as SVG and PNG. It knows nothing about what is drawn: labels come as text, numbers with a
// function that formats them. Every figure has a title and a description for those who do not see it, names on its
// axes, and colours that can be told apart without colour vision: those of Okabe and Ito (2008) for series, which also
// differ in their marks, filled or open, a single blue from light to dark for amounts, and blue against vermilion for differences.
//
//	chart.go   a figure, its elements, its style
//	axis.go    scales, ticks, axes
//	lines.go   lines with bands
//	bars.go    bars with intervals, stacked bars
//	ranks.go   ranks over rounds
//	points.go  differences with intervals
//	counts.go  histograms
//	names.go   names that are cut to the room there is
//	heat.go    a map with numbers, a large map without
//	png.go     a figure as PNG, drawn by canvas.go
package chart

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Figure is a drawing whose unit is about a pixel.
type Figure struct {
	Title string
	// Desc says in a sentence what the figure shows.
	Desc          string
	Width, Height float64
	// Area is the area of the cells in a large map: left, top, right and bottom.
	Area [4]float64
	body strings.Builder
}

// width is the width of a figure beside its neighbours; on a telephone it shrinks to about three quarters.
const width = 460

// letter is the width of a letter of the text size in a wide font.
const letter = 7.4

// cells measures the width of a text in letters, where wide letters count twice. It is the same in every locale.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

// SVG returns the drawing as an element of a page whose style sheet includes [Style].
func (f *Figure) SVG(id string) string {
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %s %s" role="img" aria-labelledby="%s-t %s-d">`+
		`<title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`, num(f.Width), num(f.Height), id, id,
		id, escape(f.Title), id, escape(f.Desc), f.body.String())
}

// Standalone returns the drawing as an SVG file of its own, light or dark as the viewer prefers.
func (f *Figure) Standalone() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="%s" height="%s" viewBox="0 0 %s %s" role="img" `+
		`aria-labelledby="t d">`+"\n<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n<style>%s</style>\n"+
		`<rect class="paper" width="100%%" height="100%%"/>%s`+"</svg>\n", num(f.Width), num(f.Height), num(f.Width), num(f.Height),
		escape(f.Title), escape(f.Desc), Style, strings.ReplaceAll(f.body.String(), "><", ">\n<"))
}

// Style is the style sheet of figures. It has no variables, so that programs other than browsers can read it too.
const Style = `
.chart{font:12px system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif}
.chart text{fill:#1f2328}.chart .mute{fill:#59636e}.chart .tick{font-size:11px;fill:#59636e}
.chart .grid{stroke:#d8dee4;fill:none}.chart .axis{stroke:#848d97;fill:none}
.chart .whisker{stroke-width:1.4;fill:none}.chart .ink{stroke:#1f2328}
.chart .paper{fill:#fff}.chart .edge{stroke:#fff;stroke-width:1}
.chart .line{fill:none;stroke-width:2;stroke-linejoin:round}.chart .band{opacity:.16;stroke:none}.chart .dash{stroke-dasharray:6 4}
.chart .dot{stroke-dasharray:2 3}.chart .dashdot{stroke-dasharray:9 3 2 3}
.chart .open{fill:#fff;stroke-width:1.7}
.chart .bold{font-weight:600}.chart .on{fill:#fff}.chart .off{fill:#1f2328}
.chart .f0{fill:#0072b2}.chart .f1{fill:#e69f00}.chart .f2{fill:#009e73}.chart .f3{fill:#6e7781}
.chart .f4{fill:#cc79a7}.chart .f5{fill:#d55e00}.chart .f6{fill:#56b4e9}.chart .f7{fill:#8c6d1f}
.chart .s0{stroke:#0072b2}.chart .s1{stroke:#e69f00}.chart .s2{stroke:#009e73}.chart .s3{stroke:#6e7781}
.chart .s4{stroke:#cc79a7}.chart .s5{stroke:#d55e00}.chart .s6{stroke:#56b4e9}.chart .s7{stroke:#8c6d1f}
@media screen and (prefers-color-scheme:dark){
.chart text{fill:#e6edf3}.chart .mute,.chart .tick{fill:#9198a1}.chart .grid{stroke:#30363d}.chart .axis{stroke:#6e7681}
.chart .ink{stroke:#e6edf3}.chart .paper,.chart .open{fill:#0d1117}.chart .edge{stroke:#0d1117}.chart .on{fill:#fff}
.chart .off{fill:#1f2328}.chart .f0{fill:#4ba3dc}
.chart .s0{stroke:#4ba3dc}.chart .f3{fill:#9198a1}.chart .s3{stroke:#9198a1}.chart .f2{fill:#1fbf92}
.chart .s2{stroke:#1fbf92}.chart .f5{fill:#f0813a}.chart .s5{stroke:#f0813a}.chart .f7{fill:#c9a24a}.chart .s7{stroke:#c9a24a}
}`

// Series is the number of colours for series.
const Series = 8

func escape(s string) string { return html.EscapeString(s) }

// num formats a coordinate.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// Isolate keeps a name that is written from right to left from changing the order of the words around it.
func Isolate(name string) string {
	for _, r := range name {
		if r >= 0x590 && r <= 0x8ff || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0xfb1d && r <= 0xfefc ||
			r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff {
			return "\u2068" + name + "\u2069"
		}
	}
	return name
}

func (f *Figure) printf(format string, args ...any) { fmt.Fprintf(&f.body, format, args...) }

// tip returns an element with the text that shows where the pointer rests on its parent.
func tip(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + escape(text) + "</title>"
}

func (f *Figure) text(x, y float64, class, anchor, s string) {
	if anchor != "" {
		anchor = ` text-anchor="` + anchor + `"`
	}
	if class != "" {
		class = ` class="` + class + `"`
	}
	f.printf(`<text x="%s" y="%s"%s%s>%s</text>`, num(x), num(y), class, anchor, escape(s))
}

// label draws a name as short. The whole name shows where the pointer rests on it.
func (f *Figure) label(x, y float64, class, anchor, name, short string) {
	if short == name {
		f.text(x, y, class, anchor, name)
		return
	}
	f.printf(`<text x="%s" y="%s" class="%s" text-anchor="%s">%s%s</text>`, num(x), num(y), class, anchor, escape(short), tip(name))
}

// textWidth returns the approximate width of a text.
func textWidth(s string) float64 { return letter * float64(cells.StringWidth(s)) }

// widest returns the width of the widest name, at most most.
func widest(names []string, most float64) float64 {
	w := 0.0
	for _, n := range names {
		w = max(w, textWidth(n))
	}
	return min(w, most)
}

func (f *Figure) rect(x, y, w, h float64, class, title string) {
	f.printf(`<rect x="%s" y="%s" width="%s" height="%s" class="%s">%s</rect>`, num(x), num(y), num(max(0, w)), num(max(0, h)),
		class, tip(title))
}

func (f *Figure) line(x1, y1, x2, y2 float64, class string) {
	f.printf(`<path d="M%s %sL%s %s" class="%s"/>`, num(x1), num(y1), num(x2), num(y2), class)
}

// mark draws the mark of a series: a disc, a square, a diamond or a triangle, which is open in the second half of the
// series.
func (f *Figure) mark(x, y float64, series int, title string) {
	const r = 4.0
	class := fmt.Sprintf("f%d edge", series%Series)
	if series%Series >= Series/2 {
		class = fmt.Sprintf("s%d open", series%Series)
	}
	switch series % 4 {
	case 0:
		f.printf(`<circle cx="%s" cy="%s" r="%s" class="%s">%s</circle>`, num(x), num(y), num(r), class, tip(title))
	case 1:
		f.rect(x-r+0.4, y-r+0.4, 2*r-0.8, 2*r-0.8, class, title)
	case 2:
		f.printf(`<path d="M%s %sl5 5l-5 5l-5 -5z" class="%s">%s</path>`, num(x), num(y-5), class, tip(title))
	default:
		f.printf(`<path d="M%s %sl5 9h-10z" class="%s">%s</path>`, num(x), num(y-5), class, tip(title))
	}
}

// legend draws the names of series from the left edge on, each after its symbol, which sign draws, and returns the y
// below them.
func (f *Figure) legend(y float64, names []string, sign func(x, y float64, i int)) float64 {
	const left, gap = 4.0, 26.0
	x := left
	for i, n := range names {
		n = Fit(n, f.Width-left-gap)
		w := gap + textWidth(n) + 12
		if x > left && x+w > f.Width {
			x, y = left, y+17
		}
		sign(x, y-4, i)
		f.text(x+gap, y, "", "", n)
		x += w
	}
	return y + 6
}
