package table

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
)

// Missing cells of columns are gaps where a query allows them, however a format writes them, and an error that names the cell where it does
// not.
func TestGaps(t *testing.T) {
	dir := t.TempDir()
	type row struct {
		A *uint8   `parquet:"a,optional"`
		B *float64 `parquet:"b,optional"`
		C *bool    `parquet:"c,optional"`
	}
	none := math.NaN()
	of := func(a uint8, b float64) row { return row{&a, &b, new(bool)} }
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "x.parquet"), []row{of(7, 0.5), {nil, &none, nil}, of(9, -2)}))
	nan := float32(nan)
	raw := must.Get(safetensors.Encode([]safetensors.Tensor{{Name: "a", Shape: []int{3}, Data: []float32{7, nan, 9}},
		{Name: "b", Shape: []int{3}, Data: []float32{0.5, nan, -2}}, {Name: "c", Shape: []int{3}, Data: []float32{0, nan, 0}}}, nil))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "x.safetensors"), raw, 0o644))
	for name, text := range map[string]string{
		"x.csv":   "a,b,c\n7,0.5,false\n,NA,?\n9,-2,False\n",
		"x.tsv":   "a\tb\tc\n7\t0.5\t0\nnan\t \tnull\n9\t-2\t0\n",
		"x.jsonl": `{"a": 7, "b": 0.5, "c": false}` + "\n" + `{"a": null, "c": "NA"}` + "\n" + `{"a": 9, "b": -2, "c": false}`,
		"x.json":  `[{"a": 7, "b": 0.5, "c": false}, {"b": "", "a": "-"}, {"a": 9, "b": -2, "c": false}]`,
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, name := range []string{"x.parquet", "x.safetensors", "x.csv", "x.tsv", "x.jsonl", "x.json"} {
		for _, features := range [][]string{{"a", "b", "c"}, {"b"}} {
			tab := must.Get(Open(filepath.Join(dir, name), FormatOf(name)))(t)
			var got []any
			must.Do(t, tab.Scan(Query{Features: features, Gaps: true}, func(b *Batch) error {
				for _, x := range b.Features.F32 {
					if got = append(got, x); x != x {
						got[len(got)-1] = nil
					}
				}
				return nil
			}))
			want := "[7,0.5,0,null,null,null,9,-2,0]"
			if len(features) == 1 {
				want = "[0.5,null,-2]"
			}
			must.Equal(t, string(must.Get(json.Marshal(got))(t)), want, "%s of %s", features, name)
			err := tab.Scan(Query{Features: features}, func(*Batch) error { return nil })
			must.Fail(t, name, err, name, "expected a number, found ")
			_, is := errors.AsType[*MissingError](err)
			must.Hold(t, is, "%s: %v is of no missing cell", name, err)
			must.Do(t, tab.Close())
		}
	}
}

// Within a list no element may be missing, and no list may be missing itself.
func TestGapsInLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	for text, want := range map[string]string{
		"x\n\"[1, NaN]\"\n":   "line 2, column x, element 1: expected a finite number",
		"x\n\"[1, 2]\"\nNA\n": `line 3, column x: expected a vector, found "NA"`,
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		tab := must.Get(Open(path, CSV))(t)
		err := tab.Scan(Query{Features: []string{"x"}, Gaps: true}, func(*Batch) error { return nil })
		must.Fail(t, text, err, want)
		must.Do(t, tab.Close())
	}
}

// Where gaps are allowed, a key that no row has is missing in all. A file that has no feature at all is refused, as is one without the
// key where gaps are not allowed.
func TestGapsOfAbsentKeys(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"x.jsonl": `{"a": 7, "c": 1}` + "\n" + `{"c": 2}` + "\n", "x.json": `[{"a": 7, "c": 1}, {"c": 2}]`,
	} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
		tab := must.Get(Open(path, FormatOf(name)))(t)
		var got []float32
		must.Do(t, tab.Scan(Query{Features: []string{"a", "b", "c"}, Gaps: true}, func(b *Batch) error {
			must.Equal(t, b.Features.Width, 3, "width")
			got = append(got, b.Features.F32...)
			return nil
		}))
		for i, want := range []float32{7, -1, 1, -1, -1, 2} { // -1 is missing
			must.Hold(t, got[i] == want || want < 0 && got[i] != got[i], "%s: %v", name, got)
		}
		for _, q := range []Query{{Features: []string{"a", "b", "c"}}, {Features: []string{"b", "d"}, Gaps: true}} {
			must.Fail(t, name, tab.Scan(q, func(*Batch) error { return nil }), `expected a column "b", found a, c`)
		}
		must.Do(t, tab.Close())
	}
}
