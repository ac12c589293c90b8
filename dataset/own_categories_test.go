package dataset

import (
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Sources that write the categories of a column in words of their own are named in one line, in whatever unit the features are. A column of
// which each source has its own words is not odd, and neither is a source of one category that others lack.
func TestOwnCategories(t *testing.T) {
	rng := testrand.New(t)
	const sources, rows = 8, 40
	words := strings.Fields("F M w m icu ward ITS Station x0 y0 x1 y1 x2 y2 x3 y3 x4 y4 x5 y5 x6 y6 x7 y7 clinic Clinic university")
	for _, c := range []struct {
		name string
		// pair returns the first of the two words that a source has, and whether it has the second too.
		pair func(source int) (int, bool)
		want string
	}{
		{"alike", func(int) (int, bool) { return 0, true }, ""},
		{"one", func(i int) (int, bool) { return 2 * (i / 7), true },
			`s7: it alone has the words "m", "w" of column k, and none of those of the others ("F", "M")`},
		{"three", func(i int) (int, bool) { return 4 + 2*(i/5), true },
			`: 3 sources have words of column k of their own, and none of those of the others ("icu", "ward"): s5, s6, s7 ("ITS", "Station")`},
		{"half", func(i int) (int, bool) { return 2 * (i / 4), true }, ""},
		{"each its own", func(i int) (int, bool) { return 8 + 2*i, true }, ""},
		{"capitals", func(i int) (int, bool) { return 24 + i/7, false }, `s7: it alone has the words "Clinic" of column k`},
		{"another kind", func(i int) (int, bool) { return 24 + i/7*2, false }, ""},
	} {
		for _, unit := range []float32{1, 0.2} {
			set := &Set{Columns: &Columns{Features: []string{"x"}, Words: []table.Words{{Column: "k", Words: words}, table.Missing("x")}}}
			for _, w := range set.Columns.Words {
				set.Columns.Features = append(set.Columns.Features, w.Features()...)
			}
			for i := range sources {
				p := &Pool{Name: "s" + string(rune('0'+i)), Rows: rows, Cols: len(words) + 2, Scale: 1, Target: i == 2}
				first, two := c.pair(i)
				for r := range rows {
					row := make([]float32, p.Cols)
					row[0] = float32(rng.NormFloat64())
					for j := range row[1:] {
						row[1+j] = -0.3 * (1 - unit)
					}
					if word := first; r > 0 { // the first row has none
						if two {
							word += r % 2
						}
						row[1+word] += unit
					}
					p.F32 = append(p.F32, row...)
				}
				set.Pools = append(set.Pools, p)
			}
			var got string
			for _, o := range set.shifted() {
				if strings.Contains(o.Found, "those of the others") {
					got += o.Pool + ": " + o.Found
				}
			}
			must.Hold(t, strings.HasPrefix(got, c.want) && (got == "") == (c.want == ""), "%s, unit %v: %q, expected %q", c.name, unit, got, c.want)
		}
	}
}
