package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// What the user says is not guessed again: a column that would have been guessed stays one of the features.
func TestLookGuessesNothingBesideTheKnown(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"wage", number}, columnOf{"part", of("train", "test")}, columnOf{"school", of("8", "12", "16")},
		columnOf{"fold", of("train", "train", "test")}, columnOf{"price", of("1", "2", "3", "4")}, columnOf{"fee", of("1", "2", "3", "4")},
		columnOf{"industry", of("mining", "trade", "finance", "media")}, columnOf{"nr", func(i int) string { return fmt.Sprint("r", i) }},
		columnOf{"key", func(i int) string { return fmt.Sprint(i * i) }}, columnOf{"shift", of("early", "late", "night")})
	known := Known{ID: "nr", Source: "industry", Split: "fold", Cost: "fee", Labels: []string{"wage"}, Target: "media"}
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
	must.EqualSlices(t, g.Features, []string{"school", "price", "key"}, "features")
	must.EqualSlices(t, g.Categories, []string{"shift"}, "categories")
	must.EqualSlices(t, g.Others, []string{"part (text of 2 values, which --categories takes)"}, "columns that are not used")
}

// What the user says and cannot be is refused at once, not when the files are imported.
func TestLookRefusesTheKnown(t *testing.T) {
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"label", of("p", "q")}, columnOf{"level", of("1.0", "2.0", "3.0")}, columnOf{"sex", of("f", "m")},
		columnOf{"old", of("true", "false")}, columnOf{"age", of("31", "42")}, columnOf{"income", of("1.5", "", "3", "NA")},
		columnOf{"at", of("[1, 2]")}, columnOf{"mixed", of("1", "2", "> 3")}, columnOf{"gap", of("u", "")}, columnOf{"blank", of("u", "  ")},
		columnOf{"void", of("", "NA")}, columnOf{"on", of("2024-01-02", "3/4/2025")})
	for _, c := range []struct {
		known Known
		want  string
	}{
		{Known{Source: "level", Features: []string{"age", "sex"}}, `column sex: expected numbers for features, found "f": name columns ` +
			`of few words with --categories`},
		{Known{Source: "level", Features: []string{"age", "on"}}, `column on: expected numbers for features, found days such as ` +
			`"2024-01-02": make numbers of them, such as the month and the weekday`},
		{Known{Source: "level", Features: []string{"old", "age"}, Labels: []string{"age"}}, `columns: features: expected columns that are ` +
			`no labels, found "age", which is among the labels`},
		{Known{Source: "level", Features: []string{"mixed"}}, `column mixed: expected numbers for features, found "> 3"`},
		{Known{Source: "level", Features: []string{"age", "void"}}, `column void: expected numbers for features, found none in 60 rows`},
		{Known{Source: "gap"}, `: line 3, column gap: expected the name of a source in each row, found none in 30 of 60: leave such rows out`},
		{Known{Source: "blank"}, `: line 3, column blank: expected the name of a source in each row, found none in 30 of 60`},
		{Known{Source: "level", Target: "2"}, `target: expected one of the sources 2.0, 1.0, 3.0 of column level, found "2"`},
		{Known{Source: "level", Target: "m"}, `target: expected one of the sources 1.0, 2.0, 3.0 of column level, found "m", which column ` +
			`sex has: say which is the source with --source`},
	} {
		_, err := Look(t.Context(), "m.yaml", []string{file}, c.known)
		must.Fail(t, c.want, err, c.want)
		must.Hold(t, strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "m.yaml"), "%v names no file", err)
	}
	for _, features := range [][]string{{"age", "old"}, {"at"}} {
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Source: "level", Features: features, Target: "2.0"}))(t)
		must.EqualSlices(t, g.Features, features, "features")
	}
	writeTable(t, file, 60, columnOf{"label", of("p", "q")}, columnOf{"site", of("x", "y", "z")}, columnOf{"cost", of("0")},
		columnOf{"v", of("[1, 2]")})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Others, []string{`cost (no cost: "0" is none)`}, "columns that are not used")
}

// A price that varies within sources is a feature, or the label. A price that is the same in all rows of a source is what a row costs.
func TestLookAtPrices(t *testing.T) {
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	write := func(price func(int) string) {
		writeTable(t, file, 60, columnOf{"shop", of("x", "y", "z")}, columnOf{"age", func(i int) string { return fmt.Sprint(i % 7) }},
			columnOf{"price", price}, columnOf{"label", of("p", "q")})
	}
	write(func(i int) string { return fmt.Sprint(i * i % 97) })
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Features, []string{"age", "price"}, "features")
	must.Equal(t, g.Cost, "", "cost")
	must.Equal(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"price"}}))(t).Labels[0].Type, Number, "label")
	must.Equal(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Cost: "price"}))(t).Cost, "price", "the cost that is said")
	must.Do(t, os.WriteFile(file, []byte("shop,price,Price,label\n"+strings.Repeat("x,1,5,p\nx,2,6,q\ny,3,7,p\ny,9,8,q\n", 15)), 0o644))
	must.EqualSlices(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t).Features, []string{"price", "Price"}, "features")
	must.Do(t, os.WriteFile(file, []byte("shop,price,label\n"+strings.Repeat("x,1,p\nx,2,q\ny,3,p\ny,9,q\n", 15)), 0o644))
	must.EqualSlices(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t).Features, []string{"price"}, "a price alone")
	write(of("5", "6"))
	must.EqualSlices(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t).Features, []string{"age", "price"}, "features")
	write(of("1", "2", "3"))
	must.Equal(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t).Cost, "price", "cost")
}

// The guessed target has the fewest labels among the sources with leastLabels or more, or else among those with any, unless the name of a
// source says that it is the target.
func TestGuessTarget(t *testing.T) {
	for want, counts := range map[string][]SourceCount{
		"c":        {{"a", 9, 0}, {"b", 9, 4}, {"c", 9, 5}, {"d", 99, 90}},
		"b":        {{"a", 9, 0}, {"b", 9, 2}, {"c", 9, 4}},
		"":         {{"a", 9, 0}},
		"Target 1": {{"a", 9, 5}, {"Target 1", 9, 1}},
	} {
		must.Equal(t, guessTarget(counts), want, "target of %v", counts)
	}
}

// Where no row has a label, or all have one class, the manifest has a line to list the classes in.
func TestTextWithoutLabels(t *testing.T) {
	g := &Guess{Manifest: &Manifest{Path: "m.yaml", Files: []string{"a.csv"}, Source: "s", Features: []string{"x"},
		Labels: []Label{{Column: "y", Type: Classes, Missing: []string{""}}}}, All: true, Classes: []map[string]int{{}}}
	text := g.Text()
	must.Hold(t, strings.Contains(text, "    # classes: [first, second]  # all that labels may have, to be filled in: no row has one\n") &&
		!strings.Contains(text, "found:"), "%s", text)
	g.Classes[0]["only"] = 3
	text = g.Text()
	must.Hold(t, strings.Contains(text, "    # found: only (3)\n    # classes: [only, second]  # all that labels may have, to be filled in\n"),
		"%s", text)
	must.Get(Parse("m.yaml", []byte(strings.Replace(text, "# classes: [", "classes: [", 1))))(t)
}

// The target is not counted among the sources.
func TestTextCountsSources(t *testing.T) {
	g := &Guess{Manifest: &Manifest{Path: "m.yaml", Files: []string{"a.csv"}, Source: "s"}, All: true,
		SourceCounts: []SourceCount{{"a", 9, 9}, {"b", 9, 4}, {"c", 9, 8}}}
	for target, want := range map[string]string{"": "3 sources, ", "b": "2 sources and the target, ", "unseen": "3 sources, "} {
		g.Target.Source = target
		must.Hold(t, strings.Contains(g.Text(), "  source: s  # "+want+"21 of 27 rows labelled\n"), "of target %q:\n%s", target, g.Text())
	}
}

// Each column of labels has its own classes and its own words for no label. A row is labelled if it has a label in any of them.
func TestLookAtSeveralLabels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	writeTable(t, file, 60, columnOf{"site", func(i int) string { return fmt.Sprint("s", i%5) }}, columnOf{"mood", of("good", "-", "bad")},
		columnOf{"tone", of("dry", "N/A")}, columnOf{"kind", of("x", "y", "z")}, columnOf{"a", func(i int) string { return fmt.Sprint(i * i) }})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"mood", "tone", "kind"}, Source: "site"}))(t)
	want := []Label{{Column: "mood", Type: Binary, Missing: []string{"", "-"}}, {Column: "tone", Type: Classes, Missing: []string{"", "N/A"}},
		{Column: "kind", Type: Classes, Missing: []string{""}}}
	must.Hold(t, reflect.DeepEqual(g.Labels, want), "labels %+v, expected %+v", g.Labels, want)
	must.Equal(t, fmt.Sprint(g.Classes), "[map[bad:20 good:20] map[dry:30] map[x:20 y:20 z:20]]", "classes")
	must.Equal(t, g.SourceCounts[0], SourceCount{"s0", 12, 12}, "rows of a source")
	text := g.Text()
	must.Hold(t, strings.Contains(text, "    # found: dry (30)\n    # classes: [dry, second]") && strings.Contains(text, "# found: x (20), y"),
		"%s", text)

	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"mood", "tone"}, Source: "site"}))(t)
	must.Equal(t, g.SourceCounts[0], SourceCount{"s0", 12, 10}, "rows of a source that has no label in some")
}
