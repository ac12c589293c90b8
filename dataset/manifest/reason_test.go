package manifest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Each column that is not used has a reason.
func TestLookSaysWhyNot(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	unique := func(i int) string { return fmt.Sprint("on ", i) }
	gap := func(i int) string { return []string{"1.5", "2.25", ""}[min(2, i%50)] }
	const dates = "dates are left out: for features write their hour, weekday or month into columns"
	columns := []struct {
		name, reason string
		cell         func(int) string
	}{
		{"id", `repeated ids: 1 of 299 values more than once, the first "r1" in line 2 and line 3; if it is the id, mend them, then --id id`,
			func(i int) string { return fmt.Sprint("r", max(i, 1)) }},
		{"uuid", "no id: 1 of 300 cells are missing", func(i int) string { return []string{fmt.Sprint("r", i), ""}[b2i(i == 7)] }},
		{"site", "no source: 100 of 300 cells are missing", of("a", "b", "")},
		{"day", dates, func(i int) string { return fmt.Sprintf("2025-02-%02d 12:00", 1+i%28) }},
		{"Tag", dates, func(i int) string { return fmt.Sprintf("%d.1.2025", 1+i%28) }},
		{"note", "text of many values", unique},
		{"shift", "text of 3 values", of("early", "late", "night")},
		{"gaps", "288 of 300 cells are missing", gap},
		{"mixed", `numbers with text among them: "> 5", 33 of 300 cells`,
			func(i int) string { return []string{fmt.Sprint(i, ".5"), "> 5"}[b2i(i%9 == 3)] }},
		{"comma", "numbers with decimal commas", of("1,5", "2.5")},
		{"same", "the same in all rows", of("1")},
		{"nothing", "no values", of("")},
		{"other", "numbers beside the features", number},
		{"other_vector", "vectors beside the features", of("[1, 2]")},
	}
	table := []columnOf{{"label", of("p", "q")}, {"domain", of("w", "x", "y", "z")}, {"embedding", of("[1, 2]", "[2, 3]")}}
	var want []string
	for _, c := range columns {
		table = append(table, columnOf{c.name, c.cell})
		want = append(want, fmt.Sprintf("%s (%s)", c.name, c.reason))
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 300, table...)
	g := must.Get(Look(t.Context(), filepath.Join(t.TempDir(), "m.yaml"), []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Others, want, "columns that are not used")

	for want, column := range map[string]columnOf{
		"found none beside the label label: say which one it is with --source (shop has no value in 100 of 300 rows)": {"shop", of("a", "b", "")},
		"with --source (team has no value in 100 of 300 rows)":                                                        {"team", of("a", "b", "")},
		"with --source (site has one value alone)":                                                                    {"site", of("a")},
		"with --source (device has 300 values in 300 rows)":                                                           {"device", unique},
	} {
		writeTable(t, file, 300, table[0], table[2], column)
		_, err := Look(t.Context(), "m.yaml", []string{file}, Known{})
		must.Fail(t, want, err, file, want)
	}
}

// Where rows are in the order of their sources, those that are looked at may all be of one source.
func TestLookAtSortedRows(t *testing.T) {
	rng := testrand.New(t)
	file := filepath.Join(t.TempDir(), "rows.csv")
	label := columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }}
	x := columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}
	writeTable(t, file, 1500, label, x, columnOf{"domain", func(i int) string { return fmt.Sprint("shop ", i/1200) }})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Hold(t, g.Source == "domain" && len(g.SourceCounts) == 2, "source %s of %v", g.Source, g.SourceCounts)
	writeTable(t, file, 1500, label, x, columnOf{"domain", func(int) string { return "shop" }})
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{})
	must.Fail(t, "one source", err, file, "found none beside the label label", "with --source (domain has one value alone)")
}

// A few numbered columns are features beside the others. Many are a vector.
func TestLookAtNumbered(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	for n, want := range map[int][]string{6: {"age", "bmi", "s0", "s1", "s2", "s3", "s4", "s5"}, 32: {"s[0-9]*"}} {
		columns := []columnOf{{"y", number}, {"domain", func(i int) string { return fmt.Sprint("x", i%4) }}, {"age", number}, {"bmi", number}}
		for i := range n {
			columns = append(columns, columnOf{fmt.Sprint("s", i), number})
		}
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 60, columns...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.EqualSlices(t, g.Features, want, "features")
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A reason speaks of all rows only where all were looked at.
func TestReasonsOfSomeRows(t *testing.T) {
	late := func(word string) func(int) string {
		return func(i int) string {
			if !unseen(i) {
				return word
			}
			return fmt.Sprint(i % 3)
		}
	}
	of := func(word string) func(int) string { return func(int) string { return word } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, unseenRows, columnOf{"label", func(i int) string { return fmt.Sprint("l", i%2) }},
		columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
		columnOf{"x", func(i int) string { return fmt.Sprint(1.5 * float64(i)) }},
		columnOf{"kind", late("a")}, columnOf{"void", of("")})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Others, []string{"kind (the same in the 2,256 rows looked at)",
		"void (no values in the 2,256 rows looked at)"}, "columns that are not used")
}
