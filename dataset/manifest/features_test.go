package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Booleans, as pandas.get_dummies makes them, are features like numbers, and are never the source.
func TestLookAtBooleans(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(int) string { return words[rng.IntN(len(words))] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"label", of("p", "q", "")}, columnOf{"small", of("True", "False")}, columnOf{"team", of("w", "x", "y")},
		columnOf{"age", func(int) string { return fmt.Sprint(rng.NormFloat64()) }}, columnOf{"old", of("TRUE", "FALSE")},
		columnOf{"gap", func(i int) string { return []string{"true", "", "", "false", "", ""}[i%6] }})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Equal(t, g.Source, "team", "source")
	must.EqualSlices(t, g.Features, []string{"small", "age", "old"}, "features")
	must.Hold(t, len(g.Others) == 1 && g.Others[0] != "gap (text of 2 values)", "columns that are not used: %q", g.Others)
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"age"}}))(t)
	must.EqualSlices(t, g.Others[:2], []string{"small (booleans beside the features)", "old (booleans beside the features)"}, "not used")
}

// A slash in the name of a column is a character like any other.
func TestLookAtSlashes(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"ok/bad", func(i int) string { return []string{"ok", "bad", ""}[i%3] }},
		columnOf{"plant/line", func(i int) string { return fmt.Sprint("line ", i%4) }}, columnOf{"m/s", number}, columnOf{"l/min", number})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"*"}}))(t)
	must.Hold(t, g.Source == "plant/line" && g.Labels[0].Column == "ok/bad", "source %q, labels %+v", g.Source, g.Labels)
	must.Hold(t, len(g.Others) == 0, "columns that are not used: %q", g.Others)
}

// Lists of texts are not vectors.
func TestLookAtLists(t *testing.T) {
	dir := t.TempDir()
	csv, jsonl := filepath.Join(dir, "rows.csv"), filepath.Join(dir, "rows.jsonl")
	lines := ""
	for i := range 40 {
		lines += fmt.Sprintf(`{"site": "s%d", "label": "%d", "tags": ["a, b"], "x": [0.5, %d], "at": [ {}], "parts": []}`+"\n", i%4, i%3, i)
	}
	must.Do(t, os.WriteFile(jsonl, []byte(lines), 0o644))
	writeTable(t, csv, 40, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
		columnOf{"label", func(i int) string { return fmt.Sprint(i % 3) }}, columnOf{"tags", func(int) string { return "['a, b']" }},
		columnOf{"x", func(i int) string { return fmt.Sprint("[0.5, ", i, "]") }})
	for file, others := range map[string][]string{
		csv:   {"tags (the same in all rows)"},
		jsonl: {"tags (of a type that is not read)", "at (of a type that is not read)", "parts (vectors beside the features)"},
	} {
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "site", Labels: []string{"label"}}))(t)
		must.EqualSlices(t, g.Features, []string{"x"}, "features of %s", file)
		must.EqualSlices(t, g.Others, others, "columns of %s that are not used", file)
	}
}

// What pandas and Parquet store beside the data is no feature: the index of the rows, dates and times.
func TestLookAtDatesAndIndexes(t *testing.T) {
	type row struct {
		Index int64     `parquet:"__index_level_0__"`
		Site  string    `parquet:"site"`
		Label string    `parquet:"label"`
		X     float32   `parquet:"x"`
		Day   int32     `parquet:"day,date"`
		When  time.Time `parquet:"when,timestamp(microsecond)"`
	}
	var rows []row
	for i := range 40 {
		rows = append(rows, row{int64(i * i), fmt.Sprint("s", i%4), fmt.Sprint(i % 3), float32(i % 7), int32(19000 + i),
			time.Unix(int64(1e9+i), 0)})
	}
	file := filepath.Join(t.TempDir(), "rows.parquet")
	must.Do(t, parquet.WriteFile(file, rows))
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Equal(t, g.ID, "__index_level_0__", "id")
	must.EqualSlices(t, g.Features, []string{"x"}, "features")
	must.EqualSlices(t, g.Others, []string{"day (dates are left out: for features write their hour, weekday or month into columns)",
		"when (dates are left out: for features write their hour, weekday or month into columns)"}, "columns that are not used")
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"x", "day"}}))(t)
	must.EqualSlices(t, g.Features, []string{"x", "day"}, "features that are said")
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"day"}, Source: "site"}))(t)
	must.Equal(t, g.Labels[0].Type, Classes, "labels that are days")
	must.Equal(t, g.Classes[0]["2022-01-08"], 1, "rows of a day, of %v", g.Classes)

	for _, name := range []string{"Unnamed: 0", "__index_level_0__"} {
		for again, want := range map[int]string{1: name, 2: ""} {
			csv := filepath.Join(t.TempDir(), "rows.csv")
			writeTable(t, csv, 40, columnOf{name, func(i int) string { return fmt.Sprint(i / again * 3) }},
				columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }},
				columnOf{"label", func(i int) string { return fmt.Sprint(i % 3) }},
				columnOf{"x", func(i int) string { return fmt.Sprint(i % 7) }})
			g := must.Get(Look(t.Context(), "m.yaml", []string{csv}, Known{}))(t)
			must.Equal(t, g.ID, want, "id")
			must.EqualSlices(t, g.Features, []string{"x"}, "features")
			if again == 2 {
				must.EqualSlices(t, g.Others, []string{name + " (an index of rows)"}, "not used")
			}
		}
	}
}

// Ids are no features, even if they are numbers and some repeat. Measurements are no ids.
func TestLookAtIDs(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	base := []columnOf{{"label", func(i int) string { return fmt.Sprint(i % 3) }},
		{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, {"acid", number}, {"x", number}}
	for _, c := range []struct {
		name   string
		cell   func(int) string
		id     string
		reason string
	}{
		{"id", func(i int) string { return fmt.Sprint(max(i, 1) * 7) }, "",
			`repeated ids: 1 of 59 values more than once, the first "7" in line 2 and line 3; if it is the id, mend them, then --id id`},
		{"row id", func(i int) string { return fmt.Sprint(i % 50 * 7) }, "",
			`repeated ids: 10 of 50 values more than once, the first "0" in line 2 and line 52; if it is the id, mend them, then --id 'row id'`},
		{"person_id", func(i int) string { return fmt.Sprint(i / 5) }, "",
			"repeated ids: 12 of 12 values more than once; where its rows belong together, --group person_id"},
		{"person_id", func(i int) string { return fmt.Sprint(i * 7) }, "person_id", ""},
	} {
		writeTable(t, file, 60, append(base, columnOf{c.name, c.cell})...)
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Equal(t, g.ID, c.id, "id, with %s", c.name)
		must.EqualSlices(t, g.Features, []string{"acid", "x"}, "features, with %s", c.name)
		if c.reason != "" {
			must.EqualSlices(t, g.Others, []string{c.name + " (" + c.reason + ")"}, "columns that are not used")
		}
	}
	writeTable(t, file, 60, append(base, columnOf{"id", func(i int) string { return fmt.Sprint(i * 7) }},
		columnOf{"old_id", func(i int) string { return fmt.Sprint(i * 9) }})...)
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Equal(t, g.ID, "id", "id")
	must.EqualSlices(t, g.Others, []string{"old_id (ids beside the id)"}, "columns that are not used")
}

// The name of a column is not read as a pattern, even with brackets or a star in it: it selects no other column, not even an earlier one.
func TestFeatureColumnsByName(t *testing.T) {
	columns := []table.Column{{Name: "tempC"}, {Name: "temp[C]"}, {Name: "Tmax"}, {Name: "T*"}}
	for _, c := range []struct{ features, want []string }{
		{[]string{"temp[C]"}, []string{"temp[C]"}},
		{[]string{"temp[C]", "tempC"}, []string{"temp[C]", "tempC"}},
		{[]string{"T*", "Tmax"}, []string{"T*", "Tmax"}},
		{[]string{"T?*"}, []string{"Tmax", "T*"}},
		{[]string{"*"}, []string{"tempC", "temp[C]", "Tmax", "T*"}},
	} {
		m := Manifest{Features: c.features}
		must.EqualSlices(t, must.Get(m.FeatureColumns("rows.csv", columns))(t), c.want, "columns of %q", c.features)
	}
}

// A guessed manifest selects the columns that it names, although one of the names, read as a pattern, matches another column. The reason
// why that column is not used is given.
func TestLookAtNamesLikePatterns(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"label", func(i int) string { return []string{"p", "q"}[i%2] }},
		columnOf{"site", func(i int) string { return fmt.Sprint("s", i%4) }}, columnOf{"temp[C]", number}, columnOf{"tempC", number},
		columnOf{"flow", number})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"flow", "temp[C]"}}))(t)
	must.EqualSlices(t, g.Others, []string{"tempC (numbers beside the features)"}, "columns that are not used")
	m := must.Get(Parse("m.yaml", []byte(g.Text())))(t)
	columns := must.Get(table.Open(file, table.CSV))(t).Columns()
	must.EqualSlices(t, must.Get(m.FeatureColumns(file, columns))(t), []string{"flow", "temp[C]"}, "features")
}

// A column whose rows may belong together is named with the flag that says so, and is the group where the flag is given. A column whose
// values occur once each, or whose name is not that of a group, is not named.
func TestPerhapsGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	for _, c := range []struct {
		name  string
		cell  func(i int) string
		named bool
	}{
		{"patient", func(i int) string { return fmt.Sprint("p", i/4) }, true},
		{"Speaker_ID", func(i int) string { return fmt.Sprint("s", i%7) }, true},
		{"subject", func(i int) string { return fmt.Sprint(i / 4) }, true},
		{"patient", func(i int) string { return fmt.Sprint("p", i) }, false}, {"mood", func(i int) string { return fmt.Sprint("m", i%7) }, false},
		{"patients", func(i int) string { return fmt.Sprint("m", i%7) }, false},
	} {
		writeTable(t, file, 60, columnOf{"row_id", func(i int) string { return fmt.Sprint("r", i) }},
			columnOf{"shop", func(i int) string { return fmt.Sprint("shop ", i%3) }},
			columnOf{"label", func(i int) string { return fmt.Sprint("l", i%2) }},
			columnOf{"x", func(i int) string { return fmt.Sprint(i*i%31, ".5") }}, columnOf{c.name, c.cell})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "shop"}))(t)
		must.Equal(t, g.Group, "", "a group that nobody named, of %s", c.name)
		features := slices.Contains(slices.Concat(g.Features, g.Categories), c.name)
		must.Hold(t, !features || !c.named, "%s is among the features %s and %s", c.name, g.Features, g.Categories)
		others := strings.Join(g.Others, "; ")
		must.Equal(t, strings.Contains(others, "where its rows belong together, --group "+c.name), c.named, "named among %q", others)
		g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "shop", Group: c.name}))(t)
		named := strings.Contains(g.Text(), "  group: "+c.name+"  #")
		must.Hold(t, g.Group == c.name && named && len(g.Others) == 0, "the manifest is %s", g.Text())
		m := must.Get(Parse("m.yaml", []byte(g.Text())))(t)
		must.Equal(t, m.Group, c.name, "group")
	}
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{Source: "shop", Group: "who"})
	must.Fail(t, "a group that is not there", err, "who")
}
