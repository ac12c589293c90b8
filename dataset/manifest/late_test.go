package manifest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A column of numbers or words that rows have only with their label is not guessed to be a feature, but is one where the user names it. A
// column that lacks as many cells in other rows is a feature, and so is one that a source without labels lacks.
func TestLookForLateColumns(t *testing.T) {
	rng := testrand.New(t)
	for turn := range 12 {
		var has, odd [1000]bool
		for i := range has {
			has[i], odd[i] = rng.IntN(12) > 0, rng.IntN(4) == 0
		}
		site := func(i int) string { return []string{"north", "east", "south", "east"}[i%4] }
		labelled := func(i int) bool { return has[i] && site(i) != "east" }
		given := func(there func(int) bool, value string) func(int) string {
			return func(i int) string {
				if there(i) {
					return value
				}
				return ""
			}
		}
		number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
		late := number
		if turn%2 == 1 {
			late = func(int) string { return []string{"good", "bad", "fair"}[rng.IntN(3)] }
		}
		when := func(there func(int) bool, value func(int) string) func(int) string {
			return func(i int) string { return given(there, value(i))(i) }
		}
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, len(has), columnOf{"site", site}, columnOf{"age", number},
			columnOf{"gaps", when(func(i int) bool { return !odd[i] }, number)},
			columnOf{"sensor", when(func(i int) bool { return site(i) != "east" }, number)},
			columnOf{"opinion", when(func(i int) bool { return labelled(i) || i < 3 }, late)},
			columnOf{"y", when(labelled, func(int) string { return []string{"p", "q"}[rng.IntN(2)] })})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"y"}, Target: "north"}))(t)
		must.EqualSlices(t, slices.Concat(g.Features, g.Categories), []string{"age", "gaps", "sensor"}, "features")
		why := regexp.MustCompile(`^opinion \(known with the label: \d+ of \d+ rows without one lack it\)$`)
		must.Hold(t, len(g.Others) == 1 && why.MatchString(g.Others[0]), "not used: %q", g.Others)
		known := Known{Labels: []string{"y"}, Target: "north", Features: []string{"age", "opinion"}}
		if turn%2 == 1 {
			known.Features, known.Categories = []string{"age"}, []string{"opinion"}
		}
		g = must.Get(Look(t.Context(), "m.yaml", []string{file}, known))(t)
		must.EqualSlices(t, slices.Concat(g.Features, g.Categories), []string{"age", "opinion"}, "features that are said")
	}
}

// Features with the name of a label are named where the user says which column is the label, but not where the manifest asks about them
// anyway.
func TestLookForNamesOfLabels(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(int) string { return words[rng.IntN(len(words))] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 200, columnOf{"site", of("north", "south")},
		columnOf{"age", func(int) string { return fmt.Sprint(rng.NormFloat64()) }},
		columnOf{"crowd_label", of("p", "q")}, columnOf{"class", of("1", "2", "3")}, columnOf{"vehicle_class", of("1", "2")},
		columnOf{"expert_label", of("p", "q", "")})
	for label, like := range map[string][]string{"expert_label": {"crowd_label", "class"}, "class": {"crowd_label", "expert_label"}} {
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{label}}))(t)
		must.EqualSlices(t, g.Like, like, "like labels, beside %s", label)
	}
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
	must.Hold(t, !slices.ContainsFunc(g.Like, func(name string) bool { return slices.Contains(g.Maybe, name) }), "%v and %v", g.Like, g.Maybe)
}

// A column that is missing in a source with few labels is a feature, however many rows of other sources have labels.
func TestLookForLateColumnsOfOneSource(t *testing.T) {
	rng := testrand.New(t)
	north := func(i int) bool { return i%4 == 0 }
	labelled := func(i int) bool { return north(i) == (i%50 == 0) }
	file := filepath.Join(t.TempDir(), "rows.csv")
	number := func(is func(int) bool) func(int) string {
		return func(i int) string {
			if is(i) {
				return fmt.Sprint(rng.NormFloat64())
			}
			return ""
		}
	}
	writeTable(t, file, 1000, columnOf{"site", func(i int) string { return []string{"south", "north"}[b2i(north(i))] }},
		columnOf{"age", number(func(int) bool { return true })}, columnOf{"sensor", number(func(i int) bool { return !north(i) })},
		columnOf{"y", func(i int) string { return []string{"", []string{"p", "q"}[rng.IntN(2)]}[b2i(labelled(i))] }})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"y"}, Target: "north"}))(t)
	must.EqualSlices(t, g.Features, []string{"age", "sensor"}, "features")
}
