package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Columns that have at least half of their cells are filled. Others are left out unless the user names them.
func TestLookFills(t *testing.T) {
	rng := testrand.New(t)
	file := filepath.Join(t.TempDir(), "rows.csv")
	gaps := func(each int, words ...string) func(int) string {
		return func(i int) string {
			if i%each == 0 {
				return words[i%len(words)]
			}
			return fmt.Sprint(rng.NormFloat64())
		}
	}
	table := []columnOf{{"label", func(i int) string { return []string{"p", "q"}[i%2] }},
		{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, {"x1", gaps(61, "")}, {"x2", gaps(5, "")},
		{"x3", func(i int) string { return []string{"", "0.5", ""}[i%3] }}, {"x4", gaps(2, "")}}
	writeTable(t, file, 60, table...)
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Features, []string{"x1", "x2", "x4"}, "features")
	must.EqualSlices(t, g.Gaps, []string{"x1 (1 of 60)", "x2 (12 of 60)", "x4 (30 of 60)"}, "gaps")
	must.EqualSlices(t, g.Others, []string{"x3 (40 of 60 cells are missing)"}, "columns that are not used")
	m := must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	must.Equal(t, m.Fill, FillIndicator, "fill of %s", g.Text())
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"x3"}}))(t)
	must.Hold(t, g.Fill == FillIndicator && len(g.Gaps) == 1, "features that are said: %q, %v", g.Fill, g.Gaps)
	must.EqualSlices(t, g.Others[:2], []string{"x1 (numbers beside the features)", "x2 (numbers beside the features)"}, "not used")

	table[2].cell, table[3].cell, table[5].cell = gaps(61, "0.5"), gaps(61, "0.5"), gaps(61, "0.5")
	writeTable(t, file, 60, table...)
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Hold(t, g.Fill == "" && !strings.Contains(g.Text(), "fill"), "no cell is missing: %s", g.Text())
}

// A column is filled too where its missing cells come after the rows that show what the columns are.
func TestLookFindsGapsInAllRows(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	number := func(from int, gap string) func(int) string {
		return func(i int) string {
			if i == from || i == from+7 {
				return gap
			}
			return fmt.Sprint(rng.NormFloat64())
		}
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 1300, columnOf{"label", of("p", "q")}, columnOf{"site", of("x", "y", "z")}, columnOf{"a", number(-9, "")},
		columnOf{"b", number(1200, "")}, columnOf{"c", number(500, "NA")}, columnOf{"d", number(1290, "NaN")})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Gaps, []string{"b (2 of 1,300)", "c (2 of 1,300)", "d (2 of 1,300)"}, "gaps")
	must.Equal(t, g.Fill, FillMean, "fill")
}

// A column has a missing indicator if it is missing in at least five rows and in one of a hundred, but not in all.
func TestIndicates(t *testing.T) {
	for _, c := range []struct {
		missing, rows int64
		want          bool
	}{{4, 10, false}, {5, 10, true}, {5, 500, true}, {5, 501, false}, {0, 3, false}, {20, 20, false}, {19, 20, true}} {
		must.Equal(t, Indicates(c.missing, c.rows), c.want, "%d of %d rows", c.missing, c.rows)
	}
}
