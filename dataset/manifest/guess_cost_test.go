package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A few values that are no costs among many costs do not make all labels cost the same: they are refused by line. Where most values are no
// costs, or the rows of a source have several, the column is not the cost. Nor is it where the user names the features.
func TestLookAtCostsThatAreNone(t *testing.T) {
	rng := testrand.New(t)
	const rows = 200
	name := []string{"cost", "price", "label_cost", "Price per label"}[rng.IntN(4)]
	file := filepath.Join(t.TempDir(), "rows.csv")
	look := func(known Known, bad string, is func(i int) bool, usual func(i int) string) (*Guess, error) {
		writeTable(t, file, rows, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{name, func(i int) string {
				if is(i) {
					return bad
				}
				return usual(i)
			}},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"y", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		return Look(t.Context(), "m.yaml", []string{file}, known)
	}
	fixed := func(i int) string { return fmt.Sprint(1 + i%4) }
	for _, bad := range []string{"0", "-1", "-0.5", "1e19", "1e-19"} {
		first, few := rng.IntN(rows/2), 1+rng.IntN(20)
		_, err := look(Known{}, bad, func(i int) bool { return i >= first && i < first+few }, fixed)
		must.Fail(t, bad, err, fmt.Sprintf("%s: line %d, column %s: expected what a label costs, a number from 1e-18 to 1e+18, as in %d of %d "+
			"rows, found %q", file, first+2, name, rows-few, rows, bad), "leave the cell empty", "--features")
	}
	// A source whose labels are free is refused too. Empty cells are not.
	_, err := look(Known{}, "0", func(i int) bool { return i%4 == 3 }, fixed)
	must.Fail(t, "a source of no cost", err, ": line 5, column "+name, "as in 150 of 200 rows")
	must.Equal(t, must.Get(look(Known{}, "", func(i int) bool { return i%4 == 3 }, fixed))(t).Cost, name, "the cost, of which cells are empty")

	isNone := func(why string, g *Guess, err error) {
		t.Helper()
		must.Do(t, err)
		says := slices.ContainsFunc(g.Others, func(s string) bool { return strings.HasPrefix(s, name+" (no cost: ") })
		must.Hold(t, g.Cost == "" && (says || slices.Contains(g.Features, name)), "%s: cost %q, not used %q, features %q", why, g.Cost, g.Others,
			g.Features)
	}
	g, err := look(Known{}, "0", func(i int) bool { return i%4 < 3 }, fixed)
	isNone("most are none", g, err)
	g, err = look(Known{}, "0", func(i int) bool { return i == 7 }, func(i int) string { return fmt.Sprint(1 + i%7) })
	isNone("rows of a source differ", g, err)
	g, err = look(Known{Features: []string{"x"}}, "0", func(i int) bool { return i == 7 }, fixed)
	isNone("features are said", g, err)
}

// Costs with a unit, which are the same in all rows of a source, are no categories but named with what to do, and refused where the user
// says that they are the costs. Other columns with a unit and few values stay categories.
func TestCostsWithAUnit(t *testing.T) {
	rng := testrand.New(t)
	for _, format := range []string{"%d $", "€ %d.00", "%d CPUh"} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		cost := func(i int) string { return fmt.Sprintf(format, 1+10*(i%4)) }
		writeTable(t, file, 200, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, columnOf{"cost", cost},
			columnOf{"price", func(int) string { return fmt.Sprintf(format, 1+rng.IntN(3)) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"y", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "site"}))(t)
		must.EqualSlices(t, g.Categories, []string{"price"}, "categories")
		must.Hold(t, g.Cost == "" && len(g.Others) == 1 && strings.HasPrefix(g.Others[0], fmt.Sprintf("cost (numbers with a unit: %q; write "+
			"plain numbers, without ", cost(0))) && strings.HasSuffix(g.Others[0], "; where a label costs so much, --cost cost)"),
			"cost %q, not used %q", g.Cost, g.Others)
		_, err := Look(t.Context(), "m.yaml", []string{file}, Known{Cost: "cost"})
		must.Fail(t, format, err, file, "column cost: expected numbers for what a label costs, found them with a unit: \"", "write plain numbers")
	}
}

// Beside a vector, a column that may say what a label costs is not taken, but named with the flag that does.
func TestPerhapsCost(t *testing.T) {
	rng := testrand.New(t)
	fixed := func(i int) string { return []string{"0.5", "3", "3", "1.25"}[i%4] }
	for _, c := range []struct {
		name  string
		cell  func(i int) string
		named bool
	}{
		{"minutes", fixed, true}, {"Fee (EUR)", fixed, true}, {"effort_hours", fixed, true}, {"euro2", fixed, true},
		{"minutest", fixed, false}, {"altitude", fixed, false},
		{"minutes", func(i int) string { return fmt.Sprint(1 + i%7) }, false},
		{"minutes", func(i int) string { return fmt.Sprint(i % 4) }, false},
		{"minutes", func(int) string { return "2.5" }, false},
		{"minutes", func(i int) string { return fmt.Sprint("m", i%4) }, false},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 80, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, columnOf{c.name, c.cell},
			columnOf{"embedding", func(int) string { return fmt.Sprintf("[%g, %g]", rng.NormFloat64(), rng.NormFloat64()) }},
			columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "site"}))(t)
		others := strings.Join(g.Others, "; ")
		must.Equal(t, g.Cost, "", "a cost that nobody named, of %s", c.name)
		must.Equal(t, strings.Contains(others, "; where a label costs so much, --cost "), c.named, "%s: %q", c.name, others)
		must.Equal(t, strings.Contains(g.Text(), "--cost "), c.named, "%s:\n%s", c.name, g.Text())
		if c.named {
			g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "site", Cost: c.name}))(t)
			must.Hold(t, g.Cost == c.name && len(g.Others) == 0, "cost %q, not used %q", g.Cost, g.Others)
		}
	}
}
