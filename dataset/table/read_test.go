package table

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// content is what a table holds: for each column of single values their names, nil for a missing value, and vectors as numbers.
type content struct {
	Scalars  map[string][]*string
	Features []string
	Vectors  [][]float64
}

// python runs a script of testdata with a folder and a seed, and skips the test where its packages are not installed.
func python(t *testing.T, script, packages, dir string) {
	t.Helper()
	python := cmp.Or(os.Getenv("AMTRL_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import "+packages).Run(); err != nil {
		t.Skipf("no %s: %s -c 'import %s': %v", packages, python, packages, err)
	}
	seed := strconv.FormatUint(uint64(testrand.New(t).Uint32()), 10)
	if msg, err := exec.Command(python, filepath.Join("testdata", script), dir, seed).CombinedOutput(); err != nil {
		t.Fatalf("%s with seed %s: %v: %s", script, seed, err, msg)
	}
}

// read returns the given scalars and features of a file.
func read(t *testing.T, path string, scalars, features []string) content {
	t.Helper()
	tab := must.Get(Open(path, FormatOf(path)))(t)
	defer tab.Close()
	out := content{Scalars: map[string][]*string{}, Features: features}
	rows := int64(0)
	must.Do(t, tab.Scan(Query{Scalars: scalars, Features: features}, func(b *Batch) error {
		must.Equal(t, b.First, rows, "%s: the first row of a batch", path)
		rows += int64(b.Rows)
		for i, name := range scalars {
			for r := range b.Rows {
				var v *string
				if !b.Scalars[i].IsMissing(r) {
					s := b.Scalars[i].Name(r)
					v = &s
				}
				out.Scalars[name] = append(out.Scalars[name], v)
			}
		}
		w := b.Features.Width
		if len(features) > 0 && b.Features.Len() != b.Rows*w {
			t.Fatalf("%s: %d elements of %d rows of width %d", path, b.Features.Len(), b.Rows, w)
		}
		for r := range b.Rows {
			var v []float64
			for i := r * w; i < (r+1)*w; i++ {
				switch {
				case len(b.Features.U8) > 0:
					v = append(v, float64(b.Features.U8[i]))
				case len(b.Features.F16) > 0:
					v = append(v, float64(float16.Frombits(b.Features.F16[i]).Float32()))
				default:
					v = append(v, float64(b.Features.F32[i]))
				}
			}
			out.Vectors = append(out.Vectors, v)
		}
		return nil
	}))
	if n := tab.Rows(); n >= 0 && n != rows {
		t.Errorf("%s: %d rows, expected %d", path, rows, n)
	}
	return out
}

// compareFiles reads every file that has a .json file with its content beside it, and compares the two.
func compareFiles(t *testing.T, dir string) {
	for _, expected := range must.Get(filepath.Glob(filepath.Join(dir, "*.json")))(t) {
		var want content
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(expected))(t), &want))
		path := strings.TrimSuffix(expected, ".json")
		if FormatOf(path) == "" {
			path += ".parquet"
		}
		var names []string
		for name := range want.Scalars {
			names = append(names, name)
		}
		slices.Sort(names)
		got := read(t, path, names, want.Features)
		for _, name := range names {
			if len(got.Scalars[name]) != len(want.Scalars[name]) {
				t.Errorf("%s, %s: %d rows, want %d", path, name, len(got.Scalars[name]), len(want.Scalars[name]))
				continue
			}
			for i, w := range want.Scalars[name] {
				g := got.Scalars[name][i]
				if (g == nil) != (w == nil) || g != nil && *g != *w {
					t.Errorf("%s, row %d of %s: %v, want %v", path, i, name, show(g), show(w))
					break
				}
			}
		}
		if len(got.Vectors) != len(want.Vectors) {
			t.Errorf("%s: %d vectors, want %d", path, len(got.Vectors), len(want.Vectors))
			continue
		}
		for i, w := range want.Vectors {
			if !slices.Equal(got.Vectors[i], w) {
				t.Errorf("%s, vector %d: %v, want %v", path, i, got.Vectors[i], w)
				break
			}
		}
	}
}

func show(s *string) string {
	if s == nil {
		return "none"
	}
	return strconv.Quote(*s)
}

// What pyarrow writes, in every type, encoding and compression, is read as it is.
func TestParquetOfPyarrow(t *testing.T) {
	dir := t.TempDir()
	python(t, "parquet.py", "pyarrow, numpy", dir)
	compareFiles(t, dir)
	must.Fail(t, "two columns of one name", must.Err(Open(filepath.Join(dir, "twice.parquet"), Parquet)), "twice.parquet",
		`expected a name of its own for each column, found "x" for column 3`)
}

// What pandas writes as text is read as it is: quotes, line ends, byte order
// marks, compression.
func TestTextOfPandas(t *testing.T) {
	dir := t.TempDir()
	python(t, "text.py", "pandas, numpy", dir)
	compareFiles(t, dir)
}

// What NumPy and the Python package safetensors write is read as it is.
func TestArraysOfPython(t *testing.T) {
	dir := t.TempDir()
	python(t, "arrays.py", "numpy, safetensors", dir)
	compareFiles(t, dir)
}

// The columns of JSON Lines are the keys in the order in which they first occur. The first value of a key that is not null says what the
// column holds.
func TestKeysOfJSONLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	lines := []string{`{"v": null, "a": 1}`, `{"b": {}, "v": [1, 2], "a": "x"}`, `{"c": [1], "v": null}`}
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644))
	tab := must.Get(Open(path, JSONL))(t)
	defer tab.Close()
	var names []string
	var kinds []Kind
	for _, c := range tab.Columns() {
		names, kinds = append(names, c.Name), append(kinds, c.Kind)
	}
	must.EqualSlices(t, names, []string{"v", "a", "b", "c"}, "keys")
	must.EqualSlices(t, kinds, []Kind{Vector, Text, Other, Vector}, "what they hold")
}

// All lists of a column have the length of the first.
func TestListsOfOtherLengths(t *testing.T) {
	for _, second := range []string{"[3]", "[3, 4, 5]", "[]"} {
		for name, rows := range map[string]string{
			"rows.csv":   "id,list\n1,\"[1, 2]\"\n2,\"" + second + "\"\n",
			"rows.jsonl": `{"id": 1, "list": [1, 2]}` + "\n" + `{"id": 2, "list": ` + second + "}\n",
		} {
			path := filepath.Join(t.TempDir(), name)
			must.Do(t, os.WriteFile(path, []byte(rows), 0o644))
			tab := must.Get(Open(path, FormatOf(name)))(t)
			defer tab.Close()
			err := tab.Scan(Query{Features: []string{"list"}}, func(*Batch) error { return nil })
			must.Fail(t, name+" with "+second, err, name, "column list", "expected 2 elements, found ")
		}
	}
}
