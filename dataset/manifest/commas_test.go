package manifest

import (
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// The message says whether the commas in numbers are decimal signs or stand between thousands, and what to do about them.
func TestLookAtCommas(t *testing.T) {
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	third := of("x", "y", "z")
	for _, c := range []struct {
		a, b  func(int) string
		known Known
		want  []string
	}{
		{of("1,359", "2,757,000", "12"), of("1", "2"), Known{}, []string{`column a: expected numbers without commas, found "1,359": write `,
			`pandas.read_csv(..., thousands=",").to_csv(...), or say which columns`}},
		{of("1,359", "120"), of("1", "2"), Known{Labels: []string{"a"}}, []string{`column a: expected numbers without commas, found "1,359"`,
			`thousands=",").to_csv(...), or decimal="," where they are decimal signs`}},
		{of("1,359", "120"), of("0,5", "0.5"), Known{}, []string{`columns a, b: expected numbers with a decimal point, found "1,359"`,
			`decimal=",").to_csv`}},
		{of("1.359", "2"), of("0,5", "2"), Known{}, []string{`column a: expected numbers without points, which can be ` +
			`between thousands in this file, found "1.359": write the numbers without them`, "or say which columns"}},
		{of("1.359,50", "0.5"), of("1", "2"), Known{}, []string{`column a: expected numbers with a decimal point, found "1.359,50"`,
			`decimal=",", thousands=".").to_csv`}},
	} {
		writeTable(t, file, 50, columnOf{"domain", third}, columnOf{"a", c.a}, columnOf{"b", c.b}, columnOf{"label", third})
		_, err := Look(t.Context(), "m.yaml", []string{file}, c.known)
		must.Fail(t, c.want[0], err, c.want...)
	}
	writeTable(t, file, 50, columnOf{"domain", third}, columnOf{"a", of("1,359", "2,757,000")}, columnOf{"b", of("0,5", "1.5")},
		columnOf{"x", of("1", "2")}, columnOf{"label", third})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"x"}}))(t)
	must.EqualSlices(t, g.Others, []string{"a (numbers with commas between thousands)", "b (numbers with decimal commas)"}, "not used")
}
