package manifest

import (
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/testrand"
)

// columnOf is a column: its name, and a function that returns the cell of each row.
type columnOf struct {
	name string
	cell func(row int) string
}

func writeTable(t *testing.T, path string, rows int, columns ...columnOf) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f := must.Get(os.Create(path))(t)
	w := csv.NewWriter(f)
	for row := -1; row < rows; row++ {
		var cells []string
		for _, c := range columns {
			if row < 0 {
				cells = append(cells, c.name)
			} else {
				cells = append(cells, c.cell(row))
			}
		}
		must.Do(t, w.Write(cells))
	}
	w.Flush()
	must.Do(t, w.Error())
	must.Do(t, f.Close())
}

func TestLook(t *testing.T) {
	rng := testrand.New(t)
	number := func(int) string { return fmt.Sprint(rng.NormFloat64()) }
	words := func(w ...string) func(int) string { return func(int) string { return w[rng.IntN(len(w))] } }
	row := func(i int) string { return fmt.Sprint("r", i) }
	vector := func(int) string { return fmt.Sprintf("[%g, %g]", rng.NormFloat64(), rng.NormFloat64()) }
	shop := func(i int) string { return fmt.Sprint("shop ", i%7) }
	fewest := func(i int) string { // shop 3 has the fewest labels
		if i%7 == 3 && i > 70 || i%3 == 0 {
			return "unknown"
		}
		return []string{"good", "bad", "so, so"}[rng.IntN(3)]
	}
	for name, c := range map[string]struct {
		columns []columnOf
		known   Known
		want    Manifest
	}{
		"plain": {
			[]columnOf{{"text", row}, {"domain", shop}, {"label", fewest}, {"embedding", vector}, {"row_id",
				func(i int) string { return fmt.Sprint(i * i) }}}, Known{},
			Manifest{ID: "row_id", Source: "domain", Features: []string{"embedding"}, Labels: []Label{{Column: "label", Type: Classes,
				Missing: []string{"", "unknown"}}},
				Target: Target{Source: "shop 3"}},
		},
		"numbered": {
			[]columnOf{{"id", row}, {"site", shop}, {"split", words("train", "test")}, {"cost", words("2")}, {"y", number},
				{"f0", number}, {"f1", number},
				{"f12", number}, {"year", words("2001", "2002")}}, Known{},
			Manifest{ID: "id", Source: "site", Split: "split", Cost: "cost", Features: []string{"f0", "f1", "f12", "year"}, Knots: 5, Products: true,
				Labels: []Label{{Column: "y", Type: Number, Missing: []string{""}}}, Target: Target{Source: "shop 0"}},
		},
		"numbers of groups": {
			[]columnOf{{"message", row}, {"owner", func(i int) string { return fmt.Sprint(i % 9) }}, {"spam", words("true", "false", "")},
				{"square", func(i int) string { return fmt.Sprint(i * i) }},
				{"no", func(i int) string { return fmt.Sprint(1700 - i) }}, {"v", vector}},
			Known{Target: "2"},
			Manifest{ID: "no", Source: "owner", Features: []string{"v"},
				Labels: []Label{{Column: "spam", Type: Binary, Missing: []string{""}}}, Target: Target{Source: "2"}},
		},
		"numbered with gaps": { // f1 and f2x are not among the features, though a pattern would match them
			[]columnOf{{"id", row}, {"site", shop}, {"y", number}, {"f0", number}, {"f1", words("1.5", "", "")}, {"f2x", words("a", "b")},
				{"f3", number}, {"f12", number}}, Known{Target: "shop 0"},
			Manifest{ID: "id", Source: "site", Features: []string{"f0", "f3", "f12"}, Categories: []string{"f2x"}, Knots: 5, Products: true,
				Labels: []Label{{Column: "y", Type: Number, Missing: []string{""}}}, Target: Target{Source: "shop 0"}},
		},
		"prices": { // a price is the cost only where each source has one price
			[]columnOf{{"id", row}, {"domain", shop}, {"label", fewest}, {"price", words("1", "2", "")}, {"embedding", vector}}, Known{},
			Manifest{ID: "id", Source: "domain", Features: []string{"embedding"}, Labels: []Label{{Column: "label", Type: Classes,
				Missing: []string{"", "unknown"}}}, Target: Target{Source: "shop 3"}},
		},
		"costs": {
			[]columnOf{{"id", row}, {"domain", shop}, {"label", fewest}, {"price", func(i int) string { return fmt.Sprint(1 + i%7) }},
				{"embedding", vector}}, Known{},
			Manifest{ID: "id", Source: "domain", Cost: "price", Features: []string{"embedding"}, Labels: []Label{{Column: "label", Type: Classes,
				Missing: []string{"", "unknown"}}}, Target: Target{Source: "shop 3"}},
		},
		"two classes": {
			[]columnOf{{"a", number}, {"b", number}, {"Group", shop}, {"is_spam", words("0", "1", "")}},
			Known{Target: "shop 2"},
			Manifest{Source: "Group", Features: []string{"a", "b"}, Knots: 5, Products: true,
				Labels: []Label{{Column: "is_spam", Type: Binary, Missing: []string{""}}}, Target: Target{Source: "shop 2"}},
		},
		"known": {
			[]columnOf{{"id", row}, {"domain", shop}, {"where", shop}, {"label", fewest}, {"kind", words("x", "y")}, {"v",
				vector}, {"w", vector}},
			Known{Source: "where", Labels: []string{"kind", "label"}, Features: []string{"w"}, Target: "shop 1"},
			Manifest{ID: "id", Source: "where", Features: []string{"w"}, Labels: []Label{{Column: "kind", Type: Binary, Missing: []string{""}},
				{Column: "label", Type: Classes, Missing: []string{"", "unknown"}}}, Target: Target{Source: "shop 1"}},
		},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "in", "rows.csv")
		writeTable(t, file, 700, c.columns...)
		g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), []string{file}, c.known))(t)
		c.want.Path, c.want.Files = filepath.Join(dir, "m.yaml"), []string{"in/rows.csv"}
		if name == "numbered" {
			c.want.Target = g.Target // every source has about the same number of labels
		}
		if !reflect.DeepEqual(*g.Manifest, c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, *g.Manifest, c.want)
		}
		if again := must.Get(Parse(c.want.Path, []byte(g.Text())))(t); !reflect.DeepEqual(again, g.Manifest) {
			t.Errorf("%s: the text of the guess\n%s\nreads as %+v", name, g.Text(), again)
		}
	}
}

// The source can be the name of a file or of its folder.
func TestLookAtFolders(t *testing.T) {
	rng := testrand.New(t)
	columns := []columnOf{
		{"label", func(int) string { return []string{"a", "b", "c"}[rng.IntN(3)] }}, {"embedding",
			func(int) string { return "[1 2]" }},
	}
	dir := t.TempDir()
	var files []string
	for _, name := range []string{"paris.csv", "oslo.csv"} {
		files = append(files, filepath.Join(dir, name))
		writeTable(t, files[len(files)-1], 20, columns...)
	}
	g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), files, Known{}))(t)
	if g.Source != FromFile || len(g.SourceCounts) != 2 || g.SourceCounts[0].Name != "oslo" {
		t.Errorf("source %s, %v", g.Source, g.SourceCounts)
	}
	files = nil
	for _, name := range []string{"paris", "oslo"} {
		files = append(files, filepath.Join(dir, name, "train-0.csv"))
		writeTable(t, files[len(files)-1], 20, columns...)
	}
	g = must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), files, Known{}))(t)
	if g.Source != FromFolder || len(g.SourceCounts) != 2 || g.SourceCounts[1].Name != "paris" || g.Split != "" {
		t.Errorf("source %s, %v, split %q", g.Source, g.SourceCounts, g.Split)
	}
	test := filepath.Join(dir, "paris", "test-0.csv")
	writeTable(t, test, 20, columns...)
	g = must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), append(files, test), Known{}))(t)
	must.Hold(t, g.Source == FromFolder && g.Split == FromFile, "source %s, split %q", g.Source, g.Split)
}

// Files of arrays beside other files hold the features.
func TestLookAtVectors(t *testing.T) {
	dir, rng := t.TempDir(), testrand.New(t)
	rows := filepath.Join(dir, "rows.csv")
	writeTable(t, rows, 20, columnOf{"key", func(i int) string { return fmt.Sprint(i) }},
		columnOf{"label", func(int) string { return []string{"a", "b", "c"}[rng.IntN(3)] }},
		columnOf{"domain", func(i int) string { return fmt.Sprint("x", i%3) }})
	x, key := make([]float32, 40), make([]float32, 20)
	for i := range key {
		key[i] = float32(i)
	}
	matrix := safetensors.Tensor{Name: "x", Shape: []int{20, 2}, Data: x}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"x.npy":             {must.Get(binary.Append(npy.FormatHeader("<f4", 20, 2), binary.LittleEndian, x))(t), "row"},
		"plain.safetensors": {must.Get(safetensors.Encode([]safetensors.Tensor{matrix}, nil))(t), "row"},
		"key.safetensors": {must.Get(safetensors.Encode([]safetensors.Tensor{matrix, {Name: "key", Shape: []int{20}, Data: key}},
			nil))(t), "id"},
	} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, c.content, 0o644))
		g := must.Get(Look(t.Context(), filepath.Join(dir, "m.yaml"), []string{path, rows}, Known{ID: "key"}))(t)
		want := &Manifest{Path: filepath.Join(dir, "m.yaml"), Files: []string{"rows.csv"}, ID: "key", Source: "domain",
			Vectors: &Vectors{Files: []string{name}, Join: c.want},
			Labels:  []Label{{Column: "label", Type: Classes, Missing: []string{""}}}, Target: g.Target}
		if !reflect.DeepEqual(g.Manifest, want) || len(g.Others) > 0 {
			t.Errorf("%s: %+v, %v, want %+v", name, g.Manifest, g.Others, want)
		}
		if again := must.Get(Parse(want.Path, []byte(g.Text())))(t); !reflect.DeepEqual(again, g.Manifest) {
			t.Errorf("%s: the text of the guess\n%s\nreads as %+v", name, g.Text(), again)
		}
	}
	_, err := Look(t.Context(), filepath.Join(dir, "m.yaml"), []string{filepath.Join(dir, "x.npy")}, Known{})
	must.Fail(t, "NPY alone", err, "x.npy", "an NPY file has features alone", "MNIST-C")
}

func TestLookRefuses(t *testing.T) {
	one := func(int) string { return "1" }
	row := func(i int) string { return fmt.Sprint("r", i) }
	third := func(i int) string { return fmt.Sprint("x", i%3) }
	for want, columns := range map[string][]columnOf{
		"say which one it is with --label":  {{"domain", third}, {"v", one}},
		"with --label, such as kind":        {{"domain", third}, {"kind", func(i int) string { return fmt.Sprint(i % 2) }}, {"text", row}},
		"say which one it is with --source": {{"label", third}, {"v", one}},
		"say which with --features":         {{"label", third}, {"domain", third}, {"text", row}},
	} {
		file := filepath.Join(t.TempDir(), "rows.csv")
		writeTable(t, file, 50, columns...)
		_, err := Look(t.Context(), filepath.Join(t.TempDir(), "m.yaml"), []string{file}, Known{})
		must.Fail(t, want, err, file, want)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	comma := func(i int) string { return fmt.Sprint(i, []string{",5", ".5"}[i%2]) }
	for want, known := range map[string]Known{
		`columns a, b: expected numbers with a decimal point, found "0,5": write`: {Source: "domain"},
		"or say which columns to take with --features":                            {Labels: []string{"label"}},
		"column a: expected": {Labels: []string{"a"}, Features: []string{"x"}},
		"column b: expected": {Features: []string{"x", "b"}},
	} {
		writeTable(t, file, 50, columnOf{"domain", third}, columnOf{"a", comma}, columnOf{"b", comma}, columnOf{"x", one},
			columnOf{"label", third})
		_, err := Look(t.Context(), filepath.Join(t.TempDir(), "m.yaml"), []string{file}, known)
		must.Fail(t, want, err, file, want)
	}
	_, err := Look(t.Context(), filepath.Join(t.TempDir(), "m.yaml"), []string{file}, Known{Features: []string{"x"}})
	must.Do(t, err)
	writeTable(t, file, 0, columnOf{"label", one})
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{})
	must.Fail(t, "no rows", err, file, "expected rows, found none")
	writeTable(t, file, 9, columnOf{"label", third})
	writeTable(t, file, 40, columnOf{"label", third}, columnOf{"domain", func(i int) string { return fmt.Sprint("\xe9", i%3) }},
		columnOf{"x", one})
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"x"}})
	must.Fail(t, "Latin-1", err, file, `line 2, column domain: expected UTF-8, found the byte 0xe9 in "?0"`)
	writeTable(t, file, 9, columnOf{"label", third})
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{Source: "lable"})
	must.Fail(t, "no column", err, `expected a column "lable", found label`)
	must.Equal(t, strings.Count(err.Error(), file), 1, "how often %v names the file", err)
	writeTable(t, file, 40, columnOf{"label", third}, columnOf{"domain", third}, columnOf{"x", row})
	_, err = Look(t.Context(), "m.yaml", []string{file}, Known{Features: []string{"x", "y*"}})
	must.Fail(t, "no features", err, `expected a column "y*", found x`)
	must.Equal(t, strings.Count(err.Error(), file), 1, "how often %v names the file", err)
}

// A list is neither the label nor the source, whatever other columns lack.
func TestLookRefusesLists(t *testing.T) {
	file, lines := filepath.Join(t.TempDir(), "rows.jsonl"), ""
	for i := range 120 {
		missing := []string{"null", "1.5"}[b2i(i%3 == 0)]
		lines += fmt.Sprintf(`{"domain": "d%d", "kind": "k%d", "v": [1, %d], "x": %d, "a": %s}`+"\n", i%4, i%2, i, i%7, missing)
	}
	must.Do(t, os.WriteFile(file, []byte(lines), 0o644))
	for _, known := range []Known{
		{Labels: []string{"v"}, Features: []string{"x"}},
		{Source: "v", Labels: []string{"kind"}, Features: []string{"x"}},
		{Labels: []string{"kind", "v"}, Features: []string{"x"}},
	} {
		_, err := Look(t.Context(), filepath.Join(t.TempDir(), "m.yaml"), []string{file}, known)
		must.Fail(t, "a list", err, file, "column v: expected one value per row, found lists of numbers")
	}
}

// Names of any kind are read back from the text as they were.
func TestTextOfAnyName(t *testing.T) {
	rng := testrand.New(t)
	letters := []rune("ab ä'\"#:,[]{}&*!|>%@`-?\\~01.=/")
	seen := map[string]bool{}
	name := func() string {
		for {
			var out []rune
			for range 1 + rng.IntN(6) {
				out = append(out, letters[rng.IntN(len(letters))])
			}
			if s := string(out); !seen[s] {
				seen[s] = true
				return s
			}
		}
	}
	for range 500 {
		m := &Manifest{
			Path: "m.yaml", Files: []string{name()}, Source: name(), ID: name(), Split: name(), Cost: name(),
			Features: names(rng, name),
			Labels:   []Label{{Column: name(), Type: Classes, Missing: names(rng, name)}}, Target: Target{name(), 2 + rng.IntN(9)},
		}
		if rng.IntN(2) == 0 {
			m.Fill, m.Codes = FillIndicator, []table.Codes{{Column: name(), Values: []float64{-999}}}
		}
		if rng.IntN(2) == 0 {
			m.Labels[0].Type, m.Labels[0].Log = Number, true
		}
		if l := &m.Labels[0]; rng.IntN(2) == 0 {
			l.Type, l.Log, l.Plus = Number, true, []float64{0, 1, 0.125}[rng.IntN(3)]
		}
		g := &Guess{Manifest: m, Others: []string{name()}, Classes: []map[string]int{{name(): 1}}, Maybe: []string{name()}, MaybeSource: name(),
			Coded: []string{name()}}
		got := must.Get(Parse("m.yaml", []byte(g.Text())))(t)
		if !reflect.DeepEqual(got, m) {
			t.Fatalf("%+v came back as %+v from\n%s", m, got, g.Text())
		}
	}
}

func names(rng *rand.Rand, name func() string) []string {
	var out []string
	for range 1 + rng.IntN(3) {
		out = append(out, name())
	}
	slices.Sort(out)
	return out
}
