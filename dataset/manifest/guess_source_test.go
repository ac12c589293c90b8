package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where files hold several sources each, the source is the column that names them, even if the first file holds only one. Where
// each file has a single one of these, that is the name of the source too; a column with another name is left out.
func TestLookWithinFiles(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, machines := range []int{1, 3, 2} {
		file := filepath.Join(dir, fmt.Sprintf("plant-%c.csv", 'a'+i))
		files = append(files, file)
		writeTable(t, file, 120, columnOf{"machine", func(row int) string { return fmt.Sprintf("press-%d%d", i, row%machines) }},
			columnOf{"x", func(row int) string { return fmt.Sprint(row * row % 17) }}, columnOf{"label", func(row int) string {
				return []string{"good", "bad", ""}[row%3]
			}})
	}
	for _, target := range []string{"", "press-21"} {
		g := must.Get(Look(t.Context(), "m.yaml", files, Known{Target: target}))(t)
		must.Hold(t, g.Source == "machine" && len(g.SourceCounts) == 6 && g.MaybeSource == FromFile, "source %s of %v", g.Source, g.SourceCounts)
	}
	byFile := must.Get(Look(t.Context(), "m.yaml", files, Known{Target: "plant-c"}))(t)
	must.Equal(t, byFile.Source, FromFile, "the source of a target that is a file")
	one := must.Get(Look(t.Context(), "m.yaml", files[:1], Known{Source: FromFile}))(t)
	must.Equal(t, one.Source, FromFile, "the source of one file")
	for name, want := range map[string]string{"machine": "machine", "place": FromFile} {
		for i, file := range files {
			writeTable(t, file, 120, columnOf{name, func(int) string { return fmt.Sprint("press-", i) }},
				columnOf{"x", func(row int) string { return fmt.Sprint(row * row % 17) }}, columnOf{"label", func(row int) string {
					return []string{"good", "bad", ""}[row%3]
				}})
		}
		g := must.Get(Look(t.Context(), "m.yaml", files, Known{}))(t)
		must.Hold(t, g.Source == want && len(g.Categories) == 0, "the source of files with one %s each: %s, categories %q", name, g.Source,
			g.Categories)
	}
	for i, file := range files {
		devices := []string{"phone", "tablet", "web", "tv"}[:1+3*min(i, 1)]
		writeTable(t, file, 120, columnOf{"device", func(row int) string { return devices[row%len(devices)] }},
			columnOf{"x", func(row int) string { return fmt.Sprint(row * row % 17) }}, columnOf{"label", func(row int) string {
				return []string{"good", "bad", ""}[row%3]
			}})
	}
	must.Equal(t, must.Get(Look(t.Context(), "m.yaml", files, Known{}))(t).Source, FromFile, "the source of files with the same devices")
}

// A column of words that would be the source but for a few blank cells is named beside the one that is taken.
func TestLookNamesSourceWithBlanks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	const rows = 400
	for blanks, want := range map[int]string{0: "", 3: "hospital", 100: ""} {
		writeTable(t, file, rows, columnOf{"hospital", func(i int) string {
			if i < blanks {
				return ""
			}
			return fmt.Sprint("h", i%6)
		}}, columnOf{"ward", func(i int) string { return []string{"heart", "eye", "skin"}[i%3] }},
			columnOf{"x", func(i int) string { return fmt.Sprint(i * i % 17) }},
			columnOf{"outcome", func(i int) string { return []string{"good", "bad", ""}[i%7%3] }})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{}))(t)
		must.Hold(t, g.MaybeSource == want && g.Source == map[bool]string{true: "hospital", false: "ward"}[blanks == 0],
			"%d blanks: the source is %s, or %q", blanks, g.Source, g.MaybeSource)
	}
}

// A file or a folder with the name of the target is a source although a column has the name of one, unless a column has the target.
func TestTargetIsAFile(t *testing.T) {
	rng := testrand.New(t)
	for name, want := range must.Ordered(map[string]string{"%s.csv": FromFile, "%s/rows.csv": FromFolder}) {
		dir := t.TempDir()
		var files []string
		for i, country := range []string{"AT", "CZ", "SE"} {
			file := filepath.Join(dir, fmt.Sprintf(name, country))
			must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
			writeTable(t, file, 200, columnOf{"shop", func(i int) string { return []string{"Agra", "Bolt", "Crux"}[i%3] }},
				columnOf{"year", func(int) string { return fmt.Sprint(2000 + rng.IntN(20)) }},
				columnOf{"price", func(row int) string {
					if i == 1 && row > 40 {
						return ""
					}
					return fmt.Sprint(rng.ExpFloat64())
				}})
			files = append(files, file)
		}
		for target, source := range map[string]string{"CZ": want, "Bolt": "shop"} {
			g := must.Get(Look(t.Context(), "m.yaml", files, Known{Target: target, Labels: []string{"price"}}))(t)
			must.Equal(t, g.Source, source, "the source of target %s in %s", target, name)
		}
	}
}

// A file of the target alone is refused with a line that says so, and not as one of other sources.
func TestLookAtTheTargetAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 120, columnOf{"site", func(int) string { return "north" }},
		columnOf{"oil", func(i int) string { return []string{"old", "new"}[i%2] }},
		columnOf{"x", func(i int) string { return fmt.Sprint(i * i % 17) }}, columnOf{"label", func(i int) string { return fmt.Sprint(i % 3) }})
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{Target: "north"})
	must.Fail(t, "the target alone", err, file+`: expected rows of sources beside those of the target, found "north" alone in column site`)
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{Target: "south"})
	must.Fail(t, "another target", err, "expected one of the sources old, new of column oil")
}

// The source is the column that has the target among its values, or without a target a column of words, although a column of days comes
// first and divides the rows too.
func TestLookFindsTheSourceByTheTarget(t *testing.T) {
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	file := filepath.Join(t.TempDir(), "rows.csv")
	writeTable(t, file, 60, columnOf{"date", of("2013-01-01", "2013-01-02")}, columnOf{"label", of("p", "q")},
		columnOf{"line", of("UA", "AA", "DL")}, columnOf{"to", of("SEA", "BOS")}, columnOf{"gate", of("3", "4", "5", "6")},
		columnOf{"wind", func(i int) string { return fmt.Sprint(1.5 * float64(i)) }})
	for target, want := range map[string]string{"SEA": "to", "DL": "line", "5": "gate", "2013-01-02": "date", "": "line"} {
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: target}))(t)
		must.Equal(t, g.Source, want, "source of target %q", target)
	}
	// The target's rows may all be among those that are not looked at.
	last := func(word string, others ...string) func(int) string {
		return func(i int) string {
			if unseen(i) {
				return word
			}
			return others[i%len(others)]
		}
	}
	writeTable(t, file, unseenRows, columnOf{"date", last("2013-01-01", "2013-01-01", "2013-01-02")},
		columnOf{"label", of("p", "q")}, columnOf{"line", of("UA", "AA", "DL")}, columnOf{"to", last("95", "11", "12", "13")},
		columnOf{"gate", last("g", "3", "4")}, columnOf{"wing", last("g", "a", "b")},
		columnOf{"wind", func(i int) string { return fmt.Sprint(1.5*float64(i) + 0.25) }})
	g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: "95"}))(t)
	must.Equal(t, g.Source, "to", "source of a target that comes late")
	_, err := Look(t.Context(), "m.yaml", []string{file}, Known{Target: "q"})
	must.Fail(t, "a label is no source", err, `target: expected one of the sources AA, DL, UA of column line, found "q"`)
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{Target: "g"})
	must.Fail(t, "two columns have the target", err, `found "g", which column gate has: say which is the source with --source`)
	inOrder := func(i int) string { return []string{"a", "b", "late"}[i/(inspectRows+20)] }
	writeTable(t, file, 3*inspectRows, columnOf{"region", of("n", "s")}, columnOf{"place", inOrder}, columnOf{"label", of("p", "q")},
		columnOf{"wind", func(i int) string { return fmt.Sprint(1.5*float64(i) + 0.25) }})
	g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Target: "late"}))(t)
	must.Equal(t, g.Source, "place", "source of rows in the order of sources")
}

// Where no file has the name of the target, files are not the sources, however many rows they have, but a column that has it is.
func TestLookFindsTheSourceInParts(t *testing.T) {
	dir := t.TempDir()
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	write := func(name string, rows int, forums ...string) string {
		file := filepath.Join(dir, name)
		writeTable(t, file, rows, columnOf{"forum", of(forums...)}, columnOf{"label", of("p", "q", "q")},
			columnOf{"wind", func(i int) string { return fmt.Sprint(0.5*float64(i) + 0.25) }})
		return file
	}
	parts := []string{write("part-0.csv", 90, "x", "y", "new"), write("part-1.csv", 90, "x", "z", "new")}
	for target, want := range map[string]string{"new": "forum", "part-1": FromFile, "": FromFile} {
		must.Equal(t, must.Get(Look(t.Context(), "m.yaml", parts, Known{Target: target}))(t).Source, want, "source of target %q", target)
	}
	parts = append([]string{write("big.csv", countRows+1, "x", "y", "new")}, parts...)
	_, err := Look(t.Context(), "m.yaml", parts, Known{Source: FromFile, Target: "new"})
	must.Fail(t, "no file is the target", err, `target: expected one of the sources big, found "new", which column forum has`)
	for target, want := range map[string]string{"new": "forum", "part-1": FromFile} {
		must.Equal(t, must.Get(Look(t.Context(), "m.yaml", parts, Known{Target: target}))(t).Source, want, "source of target %q", target)
	}
}

// The source is a column of words of which one lacks most labels, as the target does, rather than a column with a name that features have
// too.
func TestLookFindsTheSourceByTheLabels(t *testing.T) {
	rng := testrand.New(t)
	of := func(words ...string) func(int) string { return func(i int) string { return words[i%len(words)] } }
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	price := func(i int) string {
		if i%5 == 2 && rng.IntN(8) > 0 {
			return ""
		}
		return number(i)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	for name, want := range map[string]string{"brand": "market (brand)", "model": "market (model)", "shop": "shop ()"} {
		writeTable(t, file, 900, columnOf{name, of("u", "v", "w")}, columnOf{"market", of("CZ", "ES", "SK", "FR", "PL")}, columnOf{"age", number},
			columnOf{"price", price})
		g := must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"price"}}))(t)
		must.Equal(t, fmt.Sprintf("%s (%s)", g.Source, g.MaybeSource), want, "source beside %s, and what else it could be", name)
		must.Equal(t, strings.Contains(g.Text(), "or is it "+name+"?"), g.MaybeSource != "", "the manifest:\n%s", g.Text())
		must.Hold(t, g.MaybeSource == "" || g.Target.Source == "SK" && slices.Contains(g.Categories, name), "target %v, categories %q", g.Target,
			g.Categories)
		g = must.Get(Look(t.Context(), "m.yaml", []string{file}, Known{Labels: []string{"price"}, Target: "v"}))(t)
		must.Equal(t, g.Source, name, "source of the target v")
	}
}
