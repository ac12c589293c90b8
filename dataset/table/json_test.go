package table

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
)

// A list of objects is read like the same objects on lines, even where the name of the file says the other.
func TestListOfObjects(t *testing.T) {
	dir := t.TempDir()
	var objects []string
	for i := range 3 * keyRows {
		key := "y"
		if i < 2*keyRows {
			key = "other" // y is not among the first rows
		}
		objects = append(objects, fmt.Sprintf(`{"id": "r%d", %q: %d, "x": [0.5, %d]}`, i, key, i%7, i))
	}
	of := func(name, text string) content {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		return read(t, path, []string{"id", "y"}, []string{"x"})
	}
	want := of("lines.jsonl", strings.Join(objects, "\n"))
	must.Equal(t, len(want.Vectors), len(objects), "rows")
	for name, text := range map[string]string{
		"list.json":   "[" + strings.Join(objects, ",") + "]",
		"marked.json": "\ufeff \r\n[ " + strings.Join(objects, "\n ,") + "\n]\n",
		"lines.json":  strings.Join(objects, "\n") + "\n",
		"list.jsonl":  "[\n" + strings.Join(objects, ",\n") + "\n]\n",
	} {
		must.Hold(t, reflect.DeepEqual(of(name, text), want), "%s is read as something else", name)
	}
}

// The kind of a column follows from the first values that are not null, in whichever row they are.
func TestKindsAfterNulls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	for values, want := range map[string]Kind{
		`null null`: Text, `null "a"`: Text, `null 1`: Text, `null [1]`: Vector, `null null [1,2]`: Vector, `null {"b":1}`: Other,
		`null ["a"]`: Other, `{"b":1} null`: Other, `[1] null`: Vector, `"a" [1]`: Vector, `"a" {"b":1}`: Text,
	} {
		lines := ""
		for i, v := range strings.Fields(values) {
			lines += fmt.Sprintf(`{"id": %d, "v": %s}`+"\n", i, v)
		}
		must.Do(t, os.WriteFile(path, []byte(lines), 0o644))
		tab := must.Get(Open(path, FormatOf(path)))(t)
		must.Equal(t, tab.Columns()[1].Kind, want, "the kind of %s", values)
		must.Do(t, tab.Close())
	}
}

// A fault in a list is placed at a row, counted from 0 as in all formats without lines.
func TestListOfObjectsRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.json")
	for text, want := range map[string]string{
		`[{"id": 1, "x": 2}, {"id": 2, "x": "two"}]`: `row 1: column x: expected a number, found "two"`,
		`[{"id": 1, "x": 2}, {"id": 2}]`:             "row 1: column x: expected a number, found none",
		`[{"id": 1, "x": 2}, 7]`:                     "row 1: expected a JSON object on each line, or a list of objects, such as",
		`[{"id": 1, "x": 2} {"id": 2}]`:              "row 1: expected comma after array element",
		`[{"id": 1, "x": 2}, {"id"`:                  "row 1: expected the rest of the list, found the end of the file",
		`[{"id": 1, "x": 2}`:                         "row 1: expected the rest of the list, found the end of the file",
		`[`:                                          "row 0: expected the rest of the list, found the end of the file",
		`[{"id": 1, "x": 2}] []`:                     "row 1: expected the end of the file behind the list, found more",
		`{"id": {"0": 1}, "x": {"0": 2}}`: "line 1: expected an object for each row, found one of columns: " +
			`write it by to_json(orient="records")`,
		"{\n\"id\": 1}": "line 1: expected a JSON object on each line, or a list of objects, such as",
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		tab, err := Open(path, FormatOf(path))
		if err == nil {
			err = tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil })
			must.Do(t, tab.Close())
		}
		must.Fail(t, text, err, path+": "+want)
	}
}

// A line that is not JSON is refused with the place in the line.
func TestLinesThatAreNotJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	for row, want := range map[string]string{
		`{"id": 1,`:                 `such as {"label": "good", "embedding": [0.5, 2]}, found the end of the line within an object`,
		`{"id": 1, "x": NaN}`:       `expected JSON, found "NaN}" at character 16: write null for a number that is missing`,
		`{"id": 1, "x": -Infinity}`: `expected JSON, found "Infinity}" at character 17: write null for a number that is missing`,
		`{"id": 1, "x": 2}}`:        `expected JSON, found "}" at character 18`,
		`{"id": 1, x: 2}`:           `expected JSON, found "x: 2}" at character 11`,
		`{"id": "ä", x: 2}`:         `expected JSON, found "x: 2}" at character 13`,
		`[1, 2]`:                    "expected a JSON object on each line",
	} {
		for _, first := range []int{1, 200} { // among the rows whose keys are read first, or behind them
			must.Do(t, os.WriteFile(path, []byte(strings.Repeat("{\"id\": 1, \"x\": 2}\n", first)+row+"\n"), 0o644))
			tab, err := Open(path, FormatOf(path))
			if err == nil {
				err = tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil })
				must.Do(t, tab.Close())
			}
			must.Fail(t, row, err, fmt.Sprintf("%s: line %d: ", path, first+1), want)
		}
	}
}

// A number that is too large for a feature is quoted as it stands in the file.
func TestTooLarge(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"cell.csv": {"x,y\n1,2\n3,-1e39\n", `line 3, column y: expected a finite number of at most 1e+18 in magnitude, found "-1e39"`},
		"list.csv": {"x\n\"[1, 2]\"\n\"[1, 4e38]\"\n",
			`line 3, column x: element 1: expected a finite number of at most 1e+18 in magnitude, found "4e38"`},
		"one.jsonl": {`{"x": 2350000000000000000, "y": 1}`,
			`line 1: column x: expected a finite number of at most 1e+18 in magnitude, found "2350000000000000000"`},
		"inf.csv": {"x,y\n1,inf\n", `line 2, column y: expected a finite number of at most 1e+18 in magnitude, found "inf"`},
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, []byte(c.text), 0o644))
		tab := must.Get(Open(path, FormatOf(path)))(t)
		q := Query{}
		for _, c := range tab.Columns() {
			q.Features = append(q.Features, c.Name)
		}
		must.Fail(t, name, tab.Scan(q, func(*Batch) error { return nil }), path, c.want)
		must.Do(t, tab.Close())
	}
	type row struct {
		X float64 `parquet:"x"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	must.Do(t, parquet.WriteFile(path, []row{{1}, {1e39}}))
	tab := must.Get(Open(path, Parquet))(t)
	defer tab.Close()
	err := tab.Scan(Query{Features: []string{"x"}}, func(*Batch) error { return nil })
	must.Fail(t, "Parquet", err, path, `row 1, column x: expected a finite number of at most 1e+18 in magnitude, found "1e+39"`)
}
