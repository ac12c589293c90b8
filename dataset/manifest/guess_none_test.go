package manifest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A word for none stays what it is where it is a class or the name of a source. The label is the column that lacks most, and numbers that
// are the same in all rows are no features.
func TestLookAtWordsForNone(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(int) string { return words[rng.IntN(len(words))] } }
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 900, columnOf{"severity", of("none", "mild", "severe", "unknown")}, columnOf{"region", of("NA", "EMEA", "APAC")},
		columnOf{"a", number}, columnOf{"b", number}, columnOf{"version", of("3")})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"severity"}, Target: "EMEA"}))(t)
	must.Equal(t, g.Source, "region", "source")
	must.EqualSlices(t, g.Features, []string{"a", "b"}, "features")
	must.EqualSlices(t, g.Labels[0].Missing, []string{"", "unknown"}, "words for no label")
	must.Hold(t, g.Labels[0].Type == Classes && g.Classes[0]["none"] > 0 && g.Missing[0]["unknown"] > 0, "classes %v, missing %v", g.Classes,
		g.Missing)

	// The word none is a value in a column of words, and a missing cell among numbers, days and booleans.
	writeTable(t, file, 900, columnOf{"site", of("s", "t")}, columnOf{"label", of("p", "q")}, columnOf{"light", of("none", "None", "lit", "")},
		columnOf{"smoker", of("yes", "n/a", "NA", "null", "nan", "unknown")}, columnOf{"half", of("NONE", "NONE", "on", "n/a")},
		columnOf{"a", number}, columnOf{"b", func(i int) string { return []string{number(i), "none"}[b2i(i%5 == 0)] }},
		columnOf{"day", of("2025-01-02", "2025-01-03", "none")}, columnOf{"old", of("true", "false", "none")})
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.EqualSlices(t, g.Categories, []string{"light", "half"}, "categories with none among them")
	must.EqualSlices(t, g.Features, []string{"a", "b", "old"}, "features with none among them")
	must.Hold(t, len(g.Gaps) == 2 && strings.HasPrefix(g.Gaps[0], "b (180 of 900)") && strings.HasPrefix(g.Gaps[1], "old ("),
		"cells that are missing: %q", g.Gaps)
	must.Hold(t, len(g.Others) == 2 && strings.HasPrefix(g.Others[0], "smoker (text of 1 value, ") &&
		strings.HasPrefix(g.Others[1], "day (dates"), "columns that are not used: %q", g.Others)

	// Among labels that are numbers, the word none stands for no label.
	writeTable(t, file, 900, columnOf{"site", of("s", "t")}, columnOf{"a", number},
		columnOf{"price", func(i int) string { return []string{number(i), "None"}[b2i(i%5 == 0)] }})
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"price"}}))(t)
	must.EqualSlices(t, g.Labels[0].Missing, []string{"", "None"}, "words for no label")
	must.Hold(t, g.Labels[0].Type == Number && g.Missing[0]["None"] == 180, "%s, missing %v", g.Labels[0].Type, g.Missing)
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{})
	must.Hold(t, err != nil && strings.HasSuffix(err.Error(), "with --label, such as price"), "%v", err)

	// Of two columns that could be the source, the one that is not taken is a category.
	writeTable(t, file, 900, columnOf{"label", of("p", "q")}, columnOf{"quarter", of("north", "south")}, columnOf{"kind", of("x", "y", "z")},
		columnOf{"city", of("Ulm", "Bonn")}, columnOf{"shop", of("s", "t")}, columnOf{"a", number})
	for target, want := range map[string][]string{"": {"quarter", "kind", "city"}, "Bonn": {"quarter", "kind", "shop"}} {
		g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: target}))(t)
		must.EqualSlices(t, g.Categories, want, "categories beside the source %s", g.Source)
	}
	writeTable(t, file, 900, columnOf{"label", of("p", "q")}, columnOf{"quarter", of("north", "south")}, columnOf{"kind", of("x", "y", "z")},
		columnOf{"a", number})
	must.EqualSlices(t, must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t).Categories, []string{"kind"}, "categories")

	writeTable(t, file, 900, columnOf{"region", of("NA", "EMEA", "APAC")}, columnOf{"smoker", of("yes", "yes", "no", "no", "no", "no", "")},
		columnOf{"churn", of("1", "0", "", "", "")}, columnOf{"a", number})
	for _, target := range []string{"", "EMEA"} {
		g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: target}))(t)
		must.Equal(t, g.Labels[0].Column, "churn", "label")
		must.Equal(t, g.Source, "region", "source")
		must.EqualSlices(t, g.Categories, []string{"smoker"}, "categories")
	}
}
