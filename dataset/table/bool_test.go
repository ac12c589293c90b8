package table

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
)

// Booleans are features of 0 and 1, however a format writes them.
func TestBooleanFeatures(t *testing.T) {
	dir := t.TempDir()
	type row struct {
		A bool    `parquet:"a"`
		B *bool   `parquet:"b,optional"`
		X float32 `parquet:"x"`
		L []bool  `parquet:"l,list"`
	}
	yes, no := true, false
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"),
		[]row{{true, &no, 0.5, []bool{true, false}}, {false, &no, 1, []bool{false, false}}, {true, &yes, -2, []bool{true, true}}}))
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "gap.parquet"), []row{{A: true, B: &no}, {}}))
	for name, text := range map[string]string{
		"rows.csv": "a,b,x\nTrue,False,0.5\nFalse,False,1\nTrue,True,-2\n",
		"r.csv":    "a,b,x\nTRUE,FALSE,0.5\nFALSE,FALSE,1\nTRUE,TRUE,-2\n",
		"list.csv": "x\n\"[True, False, 0.5]\"\n\"[False, False, 1]\"\n\"[True, True, -2]\"\n",
		"rows.jsonl": `{"a": true, "b": false, "x": 0.5}
{"a": false, "b": false, "x": 1}
{"a": true, "b": true, "x": -2}`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, name := range []string{"rows.parquet", "rows.csv", "r.csv", "rows.jsonl", "list.csv"} {
		features := []string{"a", "b", "x"}
		if name == "list.csv" {
			features = []string{"x"}
		}
		got := read(t, filepath.Join(dir, name), nil, features).Vectors
		for i, want := range [][]float64{{1, 0, 0.5}, {0, 0, 1}, {1, 1, -2}} {
			must.EqualSlices(t, got[i], want, "%s, row %d", name, i)
		}
	}
	for i, want := range [][]float64{{1, 0}, {0, 0}, {1, 1}} {
		must.EqualSlices(t, read(t, filepath.Join(dir, "rows.parquet"), nil, []string{"l"}).Vectors[i], want, "a list of booleans, row %d", i)
	}
	tab := must.Get(Open(filepath.Join(dir, "gap.parquet"), Parquet))(t)
	defer tab.Close()
	err := tab.Scan(Query{Features: []string{"a", "b"}}, func(*Batch) error { return nil })
	must.Fail(t, "a missing boolean", err, "gap.parquet: row 1, column b: expected a number, found none")
	must.Do(t, os.WriteFile(filepath.Join(dir, "yes.csv"), []byte("a\nyes\n"), 0o644))
	words := must.Get(Open(filepath.Join(dir, "yes.csv"), CSV))(t)
	defer words.Close()
	err = words.Scan(Query{Features: []string{"a"}}, func(*Batch) error { return nil })
	must.Fail(t, "a word", err, "line 2", `column a: expected a number, found "yes"`)
}
