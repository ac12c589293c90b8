package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/testrand"
)

func write(v float64) string { return fmt.Sprintf("%.4g", v) }

// Ticks are few, ascend and lie within the scale, and the scale contains the values, whatever these are.
func TestScales(t *testing.T) {
	rng := testrand.New(t)
	for range 2000 {
		lo := math.Exp(40*rng.Float64()-20) * float64(rng.IntN(3)-1)
		hi := lo + math.Exp(60*rng.Float64()-40)
		a := Axis{Text: write, Zero: rng.IntN(2) == 0, Whole: rng.IntN(4) == 0}
		if rng.IntN(4) == 0 {
			hi = lo
		}
		if rng.IntN(4) == 0 && lo > 0 {
			a.Log = true
		}
		if a.Whole {
			lo, hi = math.Floor(lo), math.Floor(hi)
			a.Log = false
		}
		s := a.newScale(lo, hi, 0, 100)
		slack := 1e-9 * (1 + math.Abs(s.hi) + math.Abs(s.lo))
		if !(s.lo <= lo+slack) || !(s.hi >= hi-slack) || !(s.lo < s.hi) {
			t.Fatalf("%g to %g (%+v): the scale reaches from %g to %g", lo, hi, a, s.lo, s.hi)
		}
		ticks := s.ticks(5, a.Whole)
		if len(ticks) < 1 || len(ticks) > 12 {
			t.Fatalf("%g to %g (%+v): ticks %v", lo, hi, a, ticks)
		}
		for i, v := range ticks {
			if i > 0 && v <= ticks[i-1] || s.at(v) < -1 || s.at(v) > 101 || a.Whole && v != math.Round(v) {
				t.Fatalf("%g to %g (%+v): ticks %v", lo, hi, a, ticks)
			}
		}
	}
}

// Figures are well-formed even where their numbers make no axis and their names are no text.
func TestFiguresAreWellFormed(t *testing.T) {
	odd := []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e-300, 1e300, 0.125, 0.125 + 1e-17}
	names := []string{"", "<b>&\"'", strings.Repeat("長い", 80), "\u202eright to left", "👩‍👩‍👧", "a"}
	x := Axis{Name: "x <unit>", Text: write}
	for i, v := range odd {
		for j, name := range names {
			w := odd[(i+j)%len(odd)]
			bars := []Bar{{name, "", v, w, v, true}, {name, "short", w, 0, 0, false}}
			ticks := func(l Line) []Line { return []Line{l, {Name: name, Level: true, Points: l.Points[:1], Color: 2}} }
			for kind, f := range map[string]*Figure{
				"bars":        Bars(name, name, name, x, bars),
				"none":        Bars(name, name, name, x, nil),
				"differences": Differences(name, name, name, x, bars, "worse", "better"),
				"stacks":      Stacks(name, name, name, x, []string{name, "2"}, []Stack{{name, []float64{max(0, v), 1}, true}}, "full"),
				"ranks":       Ranks(name, name, "x", "y", []string{"1", "2"}, []Rank{{name, []int{1, 900}}, {"b", []int{3, 2}}}),
				"lines":       Lines(name, name, x, x, ticks(Line{Name: name, Points: []Point{{1, v, w, v, true}, {2, w, w, v, true}}})),
				"histogram":   Histogram(name, name, x, x, []float64{0, 1, 2}, []Counts{{name, []int{1, 0}}, {name, []int{0, 3}}}),
				"heat":        Heat(Map{Title: name, Columns: []string{name}, Rows: names[:1], Values: [][]float64{{v}}, Text: write, Split: j%2 == 0}),
				"large": Large(Map{Title: name, Columns: []string{name, "b"}, Rows: names[:1], Values: [][]float64{{v, w}}, Text: write},
					[]Group{{name, 0, 2}}, []Group{{name, 0, 1}}),
			} {
				for _, text := range []string{f.SVG("id"), f.Standalone()} {
					d := xml.NewDecoder(strings.NewReader(text))
					var err error
					for err == nil {
						_, err = d.Token()
					}
					if !errors.Is(err, io.EOF) {
						t.Fatalf("%s of %g, %g and %q: %v in\n%s", kind, v, w, name, err, text)
					}
				}
			}
		}
	}
}
