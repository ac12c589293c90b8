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

// A column that would be the id, but for values that are there more than once, is not used for that reason, with the first of them, its
// places and what to do, wherever they are. Columns whose values are mostly there more than once have other reasons.
func TestLookAtRepeatedIDs(t *testing.T) {
	rng := testrand.New(t)
	const rows = 3000
	first, again := rng.IntN(rows/2), rows/2+rng.IntN(rows/2)
	repeat := func(cell func(int) string) func(int) string { // the cell of row again is that of row first
		return func(i int) string {
			if i == again {
				return cell(first)
			}
			return cell(i)
		}
	}
	ticket := func(i int) string { return fmt.Sprintf("2024/%05d", i) }
	cases := rng.Perm(9 * rows)
	one := func(cell func(int) string, name string) string {
		return fmt.Sprintf("%s (repeated ids: 1 of 2,999 values more than once, the first %q in line %d and line %d; if it is the id, mend "+
			"them, then --id %[1]s)", name, cell(first), first+2, again+2)
	}
	number := func(i int) string { return fmt.Sprint(10_000 + cases[i]) }
	for _, c := range []struct {
		name string
		cell func(int) string
		want string
	}{
		{"ticket", ticket, ""},
		{"ticket", repeat(ticket), one(ticket, "ticket")},
		{"key", repeat(ticket), one(ticket, "key")},
		{"order_no", repeat(number), one(number, "order_no")},
		{"serie", func(i int) string { return ticket(i / 2) }, "serie (text of many values)"},
		{"serie", func(i int) string { return ticket(2 * i / 3) }, "serie (text of many values)"},
		{"note", repeat(func(i int) string { return fmt.Sprint(ticket(i), " by ", i%7) }), "note (text of many values)"},
		{"row_id", func(i int) string { return ticket(i / 2) }, "row_id (repeated ids: 1,500 of 1,500 values more than once"},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, rows, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{c.name, c.cell},
			columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, g.ID == c.name, c.want == "", "%s is the id", c.name)
		must.Hold(t, strings.HasPrefix(strings.Join(g.Others, ""), c.want), "%q, expected %q", g.Others, c.want)
		g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{ID: c.name}))(t)
		must.Equal(t, g.ID, c.name, "the id that is said")
	}
}

// Of ids that are repeated in another file both places are named with the file.
func TestLookAtIDsOfSeveralFiles(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	var files []string
	for k, name := range []string{"paris", "oslo"} {
		files = append(files, filepath.Join(dir, name+".csv"))
		writeTable(t, files[k], 40, columnOf{"sample", func(i int) string { return fmt.Sprint("S", i+39*k) }},
			columnOf{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
			columnOf{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }})
	}
	g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), files, Known{}))(t)
	must.EqualSlices(t, g.Others, []string{fmt.Sprintf(`sample (repeated ids: 1 of 79 values more than once, the first "S39" in %s: line 41 `+
		"and %s: line 2; if it is the id, mend them, then --id sample)", files[0], files[1])}, "columns that are not used")
}

// Several files are judged like one: an id that is repeated, or lacks a value, in another file is not used, with the places, and another
// column of ids is taken.
func TestLookAtNamedIDsOfSeveralFiles(t *testing.T) {
	rng := testrand.New(t)
	const (
		rows = 60
		mend = "if it is the id, mend them, then --id id)"
	)
	at := rng.IntN(rows)
	for _, c := range []struct {
		ids  func(file, i int) string
		more bool // whether there is another column of ids
		id   string
		want string // reason why the column id is not used
	}{
		{func(file, i int) string { return fmt.Sprint("r", file*rows+i) }, false, "id", ""},
		{func(file, i int) string { return fmt.Sprint(file*rows + i) }, true, "id", ""},
		{func(_, i int) string { return fmt.Sprint("r", i) }, false, "",
			`id (repeated ids: 60 of 60 values more than once, the first "r0" in FILE0: line 2 and FILE1: line 2; ` + mend},
		{func(_, i int) string { return fmt.Sprint(i) }, true, "uuid",
			`id (repeated ids: 60 of 60 values more than once, the first "0" in FILE0: line 2 and FILE1: line 2; ` + mend},
		{func(file, i int) string {
			if file == 1 && i == at {
				return ""
			}
			return fmt.Sprint("r", file*rows+i)
		}, true, "uuid", fmt.Sprintf("id (no id: no value in FILE1: line %d)", at+2)},
	} {
		dir := t.TempDir()
		var files []string
		for k, name := range []string{"paris", "oslo"} {
			files = append(files, filepath.Join(dir, name+".csv"))
			columns := []columnOf{{"id", func(i int) string { return c.ids(k, i) }},
				{"x", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
				{"label", func(int) string { return []string{"p", "q"}[rng.IntN(2)] }}}
			if c.more {
				columns = append(columns, columnOf{"uuid", func(i int) string { return fmt.Sprint("u", rows*k+i) }})
			}
			writeTable(t, files[k], rows, columns...)
		}
		g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), files, Known{}))(t)
		must.Equal(t, g.ID, c.id, "the id")
		want := strings.NewReplacer("FILE0", files[0], "FILE1", files[1]).Replace(c.want)
		must.Hold(t, want == "" || slices.Contains(g.Others, want), "%q, expected %q", g.Others, want)
	}
}
