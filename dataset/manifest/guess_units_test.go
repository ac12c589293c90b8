package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Numbers with a unit are not used, for a reason that shows the unit, and are refused where the user names them. Few different ones are
// categories.
func TestLookAtUnits(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 300, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, columnOf{"x", number},
		columnOf{"income", func(i int) string {
			return []string{fmt.Sprintf("€ %d,%03d", i+1, rng.IntN(1000)), "prefer not to say"}[b2i(i%20 == 19)]
		}},
		columnOf{"vat", func(i int) string { return []string{"7 %", "19 %"}[rng.IntN(2)] }},
		columnOf{"share", func(int) string { return fmt.Sprintf("%.2f%%", 100*rng.Float64()) }},
		columnOf{"part", func(i int) string { return fmt.Sprint(i, []string{" EUR", " or so"}[i%2]) }},
		columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Categories, []string{"vat"}, "categories")
	must.Equal(t, len(g.Others), 3, "columns that are not used: %q", g.Others)
	must.Hold(t, strings.HasPrefix(g.Others[0], `income (numbers with a unit: "€ 1,`) &&
		strings.HasSuffix(g.Others[0], "; write plain numbers, without €, spaces or commas between thousands)"), "%s", g.Others[0])
	must.Hold(t, strings.HasPrefix(g.Others[1], `share (numbers with a unit: "`) && strings.Contains(g.Others[1], "without %,"),
		"%s", g.Others[1])
	must.Equal(t, g.Others[2], "part (text of many values)", "numbers half of which have a unit")
	for name, known := range map[string]Known{"labels": {Labels: []string{"income"}}, "features": {Features: []string{"income"}}} {
		_, err := Look(t.Context(), "m.yaml", []string{file}, known)
		must.Fail(t, name, err, file, "column income: expected numbers for "+name+", found them with a unit: \"€ 1,", "without €")
	}
}

// Any word that is the same behind all numbers, or before all decimal numbers, is a unit. Words that differ, and those before whole
// numbers, as in names, are not.
func TestLookAtMeasures(t *testing.T) {
	rng := testrand.New(t)
	some := func(format string) func(int) string {
		return func(int) string { return fmt.Sprintf(format, 100+80*rng.Float64()) }
	}
	for want, cell := range must.Ordered(map[string]func(int) string{
		"without °C,": some("%.1f °C"),
		"without kg,": some("%.2fkg"),
		"without pH,": some("pH %.3f"),
		"without mmHg,": func(i int) string {
			return []string{some("%.0f mmHg")(i), "n.a.", some("%.0f")(i)}[b2i(i%9 == 7)+2*b2i(i%99 == 0)]
		},
		"(text of ":   some("room %.0f"),
		"many values": func(int) string { return fmt.Sprint(rng.IntN(900), []string{" km", " mi", " m"}[rng.IntN(3)]) },
	}) {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 400, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"part", cell},
			columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Hold(t, len(g.Others) == 1 && strings.Contains(g.Others[0], want), "%s: %q, expected %q", cell(0), g.Others, want)
		must.EqualSlices(t, g.Features, []string{"x"}, "features")
	}
}
