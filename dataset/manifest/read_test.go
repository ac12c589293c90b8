package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

const full = `# all there is
files: [a/*.parquet, "b.csv"]
format: csv
columns:
  id: key
  source: domain
  features: [f_*, extra]
  scale: none
  split: fold
  cost: price
labels:
  - column: kind
    type: classes
    classes: [good, bad]
    missing: ["", "?"]
  - column: flag
    type: binary
target: {source: shop, folds: 4}
sources:
  include: ["shop*"]
  exclude: shop-9
  cost: {shop-1: 2, shop-2: 0.5}
`

func TestParse(t *testing.T) {
	got := must.Get(Parse("dir/data.yaml", []byte(full)))(t)
	want := &Manifest{
		Path: "dir/data.yaml", Files: []string{"a/*.parquet", "b.csv"}, Format: "csv",
		ID: "key", Source: "domain", Split: "fold", Cost: "price", Features: []string{"f_*", "extra"}, Scale: "none",
		Labels: []Label{
			{Column: "kind", Type: Classes, Classes: []string{"good", "bad"}, Missing: []string{"", "?"}},
			{Column: "flag", Type: Binary, Missing: []string{""}},
		},
		Target: Target{Source: "shop", Folds: 4},
		Sources: Sources{Include: []string{"shop*"}, Exclude: []string{"shop-9"}, Cost: map[string]float64{"shop-1": 2,
			"shop-2": .5}},
	}
	must.Hold(t, reflect.DeepEqual(got, want), "%+v, want %+v", got, want)
	filled := must.Get(Parse("dir/data.yaml", []byte(strings.Replace(full, "scale: none", "fill: mean", 1))))(t)
	must.Hold(t, filled.Fill == FillMean && filled.Scale == "", "%+v", filled)
	must.Equal(t, got.Name(), "data", "name")
	for source, takes := range map[string]bool{"shop": true, "shop-1": true, "shop/1": true, "shop-9": false, "mall": false} {
		must.Equal(t, got.Takes(source), takes, "%s takes part", source)
	}
}

func TestParseVectors(t *testing.T) {
	codes := "missing: {extra: -999, f_1: [0, 9.5]}\n  fill: mean"
	coded := must.Get(Parse("m.yaml", []byte(strings.Replace(full, "scale: none", codes, 1))))(t)
	must.Equal(t, fmt.Sprint(coded.Codes), "[{extra [-999]} {f_1 [0 9.5]}]", "codes")
	for text, want := range map[string]Vectors{
		"{file: x.npy}": {[]string{"x.npy"}, "row", ""},
		"{file: [\"a-*.safetensors\", b.safetensors], join: id, column: emb}": {[]string{"a-*.safetensors", "b.safetensors"}, "id", "emb"},
	} {
		m := must.Get(Parse("m.yaml", []byte(strings.Replace(full, "[f_*, extra]", text, 1))))(t)
		if m.Features != nil || !reflect.DeepEqual(*m.Vectors, want) {
			t.Errorf("%s: %v, %+v", text, m.Features, m.Vectors)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(full, old) {
			t.Fatalf("no %q in the manifest", old)
		}
		return strings.Replace(full, old, new, 1)
	}
	for _, c := range []struct{ text, want string }{
		{"", "m.yaml: expected a manifest, found an empty file"},
		{"- a", "line 1: expected a manifest with the keys files, format, encoding, columns, labels, target, sources, found a list"},
		{"files: [", "m.yaml: "},
		{full + "---\na: 1\n", "expected one YAML document, found more"},
		{change("format:", "fmt:"),
			`line 3: expected for a manifest one of the keys files, format, encoding, columns, labels, target, sources, found "fmt"`},
		{change("format: csv", "format: xlsx"), `line 3: expected one of parquet, csv, tsv, jsonl, json, npy, safetensors, found`},
		{change("  id: key", "  ids: key"),
			"line 5: expected for columns one of the keys id, source, features, categories, knots, products, scale, fill, missing, absent, split, " +
				`cost, group, found "ids"`},
		{change("  id: key", "  id: key\n  id: key"), "line 6: the key id is there twice"},
		{change("  id: key", "  id: [a]"), "line 5: expected the name of a column, found a list"},
		{change("  id: key", "  id: *a"), "m.yaml: "},
		{change("  id: key", "  id: \"a\\nb\""), `line 5: expected the name of a column, found "a b"`},
		{change("  source: domain\n", ""), "columns: expected source"},
		{change("  features: [f_*, extra]\n", ""), "columns: expected features"},
		{change("[f_*, extra]", "{}"), "line 7: expected features with the key file, found keys"},
		{strings.Replace(change("[f_*, extra]", "{file: x.npy}"), "scale: none", "fill: mean", 1),
			"columns: fill: expected features that are a column each, found them in a file of their own"},
		{change("scale: none", "fill: median"), `line 8: expected one of mean, mean+indicator, found "median"`},
		{change("scale: none", "missing: {extra: -999}"), "columns: missing: expected fill beside it"},
		{change("scale: none", "fill: mean\n  missing: -999"), "line 9: expected columns of features, each with the number"},
		{change("scale: none", "fill: mean\n  missing: {extra: none}"), `line 9: expected a number that stands for none, found "none"`},
		{change("scale: none", "fill: mean\n  missing: {extra: .nan}"), `line 9: expected a number that stands for none, found ".nan"`},
		{change("scale: none", "fill: mean\n  missing: {extra: [1, [2]]}"), "line 9: expected a number that stands for none, found a list"},
		{change("scale: none", "fill: mean\n  missing: {extra: []}"), "line 9: expected columns of features, each with"},
		{change("scale: none", "fill: mean\n  missing: {extra: 1, extra: 2}"), `line 9: the column "extra" is there twice`},
		{change("[f_*, extra]", "{file: x.npy, join: name}"), `line 7: expected one of row, id, found "name"`},
		{change("[f_*, extra]", "{files: x.npy}"), "line 7: expected for features in a file of their own one of the keys file, join, column"},
		{strings.Replace(change("[f_*, extra]", "{file: x.npy, join: id}"), "  id: key\n", "", 1), "columns: expected id, the column to join"},
		{change("[f_*, extra]", "[f_*, f_*]"), `line 7: "f_*" is there twice`},
		{change("type: classes", "type: class"), `line 13: expected one of classes, binary, number, found "class"`},
		{change("  - column: kind\n    type", "  - type"), "line 12: expected a label with a column, found keys"},
		{change("column: flag", "column: kind"), `labels: column "kind" is there twice`},
		{change("type: binary", "type: number"),
			"expected classes or numbers everywhere, found classes for kind and number for flag: write one manifest for each"},
		{change("type: binary", "type: binary\n    classes: [a]"), "labels: flag: expected two classes of a binary label, found 1"},
		{change("exclude: shop-9", "exclude: shop"), `sources: exclude: expected sources beside the target, found the target, "shop"`},
		{change("folds: 4", "folds: 1"), `expected a number of folds from 2 to 1000, found "1"`},
		{change("shop-1: 2", "shop-1: 0"), `expected a cost from 1e-18 to 1e+18, found "0"`},
		{change("shop-2: 0.5", "shop-1: 0.5"), `the source "shop-1" is there twice`},
		{change("shop-2: 0.5", "shop-2: .nan"), `expected a cost from 1e-18 to 1e+18, found ".nan"`},
		{"files: []\n" + full[strings.Index(full, "format"):], "files: expected the name of a file or a list of names, found none"},
	} {
		_, err := Parse("m.yaml", []byte(c.text))
		must.Fail(t, c.want, err, "m.yaml", c.want)
	}
}

// Whatever the text, the result is a consistent manifest or an error of one line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(strings.Replace(full, "[f_*, extra]", "{file: v.npy, join: id, column: a}", 1)))
	f.Add([]byte("files: &a [*a]"))
	f.Add([]byte("a: &x [1,1]\nb: &y [*x,*x]\nc: [*y,*y]"))
	f.Add([]byte("files: a\ncolumns: {source: (file), features: x}\nlabels: [{column: y, type: number}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse("m.yaml", text)
		if err != nil {
			must.Fail(t, "a manifest", err, "m.yaml: ")
			return
		}
		if len(m.Files) == 0 || m.Source == "" || (len(m.Features) == 0) == (m.Vectors == nil) || len(m.Labels) == 0 ||
			m.Target.Folds == 1 || m.Target.Folds < 0 {
			t.Errorf("%+v of %q", m, text)
		}
	})
}

// The name of a manifest's folder may look like a pattern, but is not read as one. The names of files in it are.
func TestInputsOfAnyFolder(t *testing.T) {
	for _, folder := range []string{"plain", "run [1]", "a*b", "what?", `back\\slash`, "[", "]"} {
		if filepath.Separator == '\\' && strings.ContainsAny(folder, `*?\`) {
			continue // no folder can have this name there
		}
		dir := filepath.Join(t.TempDir(), folder)
		must.Do(t, os.MkdirAll(filepath.Join(dir, "more"), 0o755))
		for _, name := range []string{"a.csv", "b[0].csv", "more/c.csv"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
		}
		for pattern, want := range map[string]int{"*.csv": 2, "a.csv": 1, "b[0].csv": 1, "?.csv": 1, "*/*.csv": 1, "../*/[ab]*.csv": 2} {
			m := &Manifest{Path: filepath.Join(dir, "data.yaml"), Files: []string{pattern}}
			if found, err := m.Inputs(); err != nil || len(found) != want {
				t.Errorf("%s in %s: %d files, %v; expected %d", pattern, folder, len(found), err, want)
			}
		}
	}
}

// A pattern with ** is refused, since it would take the files of one depth alone; the name of a file may have it.
func TestPatternOfAllDepths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b/a.csv", "b/c/a.csv", "x**y.csv"} {
		writeTable(t, filepath.Join(dir, name), 3, columnOf{"x", func(int) string { return "1" }})
	}
	inputs := func(files ...string) ([]Input, error) {
		return (&Manifest{Path: filepath.Join(dir, "m.yaml"), Files: files}).Inputs()
	}
	for _, pattern := range []string{"**/*.csv", "**.csv", "b/**", filepath.Join(dir, "**", "a.csv")} {
		_, err := inputs("a.csv", pattern)
		must.Fail(t, pattern, err, "m.yaml: files: pattern "+strconv.Quote(pattern)+": expected a * for each folder", "found **")
	}
	must.Equal(t, len(must.Get(inputs("a.csv", "*/*.csv", "*/*/*.csv", "x**y.csv"))(t)), 4, "files")
}
