package chart

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// A line of which some points have no interval has whiskers at the others, and no band.
func TestIncompleteBand(t *testing.T) {
	whole := Point{X: 2, Y: 0.3, Low: 0.2, High: 0.5, Band: true}
	for name, c := range map[string]struct {
		points          []Point
		bands, whiskers int
	}{
		"all":  {[]Point{{X: 1, Y: 0.4, Low: 0.3, High: 0.6, Band: true}, whole}, 1, 0},
		"last": {[]Point{{X: 0.5, Y: 0.6}, {X: 1, Y: 0.4}, whole}, 0, 1},
		"one":  {[]Point{whole}, 0, 1},
		"none": {[]Point{{X: 1, Y: 0.4}, {X: 2, Y: 0.3}}, 0, 0},
	} {
		svg := Lines("", "", Axis{Name: "x", Text: write}, Axis{Name: "y", Text: write}, []Line{{Name: "a", Points: c.points}}).SVG("f")
		must.Equal(t, strings.Count(svg, `class="band`), c.bands, "%s: bands", name)
		must.Equal(t, strings.Count(svg, `class="whisker`), c.whiskers, "%s: whiskers", name)
	}
}

// Lines of one point at one place are drawn beside each other, within the figure.
func TestPointsApart(t *testing.T) {
	lines := []Line{{Name: "a", Points: []Point{{X: 1, Y: 3}, {X: 9, Y: 2}}}}
	for i := range 6 {
		lines = append(lines, Line{Name: fmt.Sprint(i), Color: 4 * i, Points: []Point{{X: 9, Y: 2}}}) // all are circles
	}
	f := Lines("", "", Axis{Name: "x", Text: write}, Axis{Name: "y", Text: write}, lines)
	var at []float64
	for _, m := range regexp.MustCompile(`<circle cx="([^"]*)"[^>]*><title>`).FindAllStringSubmatch(f.SVG("f"), -1) {
		at = append(at, must.Get(strconv.ParseFloat(m[1], 64))(t))
	}
	must.Equal(t, len(at), 8, "points")
	for i := 2; i < len(at); i++ {
		must.Hold(t, at[i] >= at[i-1]+8 && at[i] < f.Width-8, "points at %g", at)
	}
}
