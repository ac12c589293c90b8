package manifest

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Words that become categories must be UTF-8 like sources and labels, in each file.
func TestLookRefusesLatinCategories(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	var files []string
	for i, soil := range []string{"loss", "l\xf6ss"} {
		files = append(files, filepath.Join(dir, fmt.Sprint("s", i, ".csv")))
		writeTable(t, files[i], 60, columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"soil", func(row int) string { return []string{"sand", soil, "clay"}[row%3] }},
			columnOf{"label", func(row int) string { return []string{"p", "q"}[rng.IntN(2)] }})
	}
	_, err := Look(t.Context(), filepath.Join(dir, "m.yaml"), files, Known{})
	must.Fail(t, "Latin-1", err, files[1], `line 3, column soil: expected UTF-8, found the byte 0xf6 in "l?ss": save the file in UTF-8`)
}

// A word among the numbers of a column is named, with advice that a manifest follows: words are no numbers that stand for none.
func TestLookNamesWordsAmongNumbers(t *testing.T) {
	rng := testrand.New(t)
	file := filepath.Join(t.TempDir(), "rows.csv")
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	writeTable(t, file, 300, columnOf{"site", func(row int) string { return fmt.Sprint("s", row%3) }}, columnOf{"z", number},
		columnOf{"x", func(row int) string {
			if row == 70 {
				return "k.A."
			}
			return number(row)
		}}, columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
	g := must.Get(Look(t.Context(), filepath.Join(t.TempDir(), "m.yaml"), []string{file}, Known{}))(t)
	want := `x (numbers with text among them: "k.A.", 1 of 300 cells; correct them, or empty such cells, and look again)`
	must.Hold(t, slices.Contains(g.Others, want), "%q, expected %q", g.Others, want)
}
