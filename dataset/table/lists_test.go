package table

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
)

// Lists beside numbers are read as a column for each element, in any format. Numbers may be missing where the query allows it, lists and
// their elements not, and all lists of a column are as long as the first.
func TestLists(t *testing.T) {
	dir := t.TempDir()
	type row struct {
		V []float32 `parquet:"v,list"`
		X *float64  `parquet:"x,optional"`
		B []bool    `parquet:"b,list"`
	}
	x := []float64{0.5, 7}
	write := func(csv, jsonl string, rows ...row) {
		for name, content := range map[string]string{"rows.csv": "v,x,b\n" + csv, "rows.jsonl": jsonl} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
		}
		must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), rows))
	}
	scan := func(name string, features []string) (all string, err error) {
		plain := must.Get(Open(filepath.Join(dir, name), FormatOf(name)))(t)
		defer plain.Close()
		tab, err := WithLists(plain, name, features)
		if err != nil {
			return "", err
		}
		spread := Spread(tab.Columns(), features)
		err = tab.Scan(Query{Features: spread, Gaps: true}, func(b *Batch) error {
			for i := range b.Features.Len() {
				all += fmt.Sprint(" ", b.Features.Element(i))
			}
			return nil
		})
		return strings.Join(spread, " ") + ":" + all, err
	}
	good := []row{{[]float32{1, 2, 0.25}, &x[0], []bool{true, false}}, {[]float32{3, 4, 5}, nil, []bool{false, true}}}
	write("\"[1, 2, 0.25]\",0.5,\"[True, False]\"\n[3 4 5],,[False True]\n",
		`{"v": [1, 2, 0.25], "x": 0.5, "b": [true, false]}`+"\n"+`{"v": [3, 4, 5], "x": null, "b": [false, true]}`, good...)
	vectors := []safetensors.Tensor{{Name: "v", Shape: []int{2, 3}, Data: []float32{1, 2, 0.25, 3, 4, 5}},
		{Name: "x", Shape: []int{2}, Data: []float32{0.5, float32(nan)}}, {Name: "b", Shape: []int{2, 2}, Data: []float32{1, 0, 0, 1}}}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.safetensors"), must.Get(safetensors.Encode(vectors, nil))(t), 0o644))
	formats := []string{"rows.csv", "rows.jsonl", "rows.parquet"}
	for _, name := range append(formats, "rows.safetensors") {
		for _, features := range [][]string{{"v", "x", "b"}, {"v.0", "v.1", "v.2", "x", "b.0", "b.1"}} {
			must.Equal(t, must.Get(scan(name, features))(t), "v.0 v.1 v.2 x b.0 b.1: 1 2 0.25 0.5 1 0 3 4 5 NaN 0 1", "%s, %q", name, features)
		}
		must.Equal(t, must.Get(scan(name, []string{"b", "v"}))(t), "b.0 b.1 v.0 v.1 v.2: 1 0 1 2 0.25 0 1 3 4 5", "%s, lists alone", name)
		for _, few := range [][]string{{"v.0", "v.1", "x"}, {"v.0", "v.1", "v.2", "v.3", "x"}} {
			_, err := scan(name, few)
			must.Fail(t, name, err, "rows.", fmt.Sprintf("column v: expected %d elements, found 3", len(few)-1))
		}
	}
	for _, bad := range []struct{ csv, jsonl, want string }{
		{"[1 2],7,[1 1]", "[1, 2]", "column v: expected 3 elements, found 2"},
		{"[1 2 3 4],7,[1 1]", "[1, 2, 3, 4]", "column v: expected 3 elements, found"},
		{",7,[1 1]", "null", "column v: expected a"},
		{"[1 2 NaN],7,[1 1]", "[1, 2, null]", "2: expected a "},
		{"[1 2 1e20],7,[1 1]", "[1, 2, 1e20]", "expected a finite number of at most 1e+18 in magnitude, found"},
	} {
		var v []float32
		for _, word := range strings.Fields(strings.Trim(strings.Split(bad.csv, ",")[0], "[]")) {
			v = append(v, float32(must.Get(parseFloat(word))(t)))
		}
		const before = 40 // more rows than are read to find the lengths
		write(strings.Repeat("[1 2 3],0.5,[1 0]\n", before)+bad.csv+"\n", strings.Repeat(`{"v": [1, 2, 3], "x": 1, "b": [0, 1]}`+"\n", before)+
			`{"v": `+bad.jsonl+`, "x": 7, "b": [1, 1]}`, append(slices.Repeat(good[:1], before), row{v, &x[1], []bool{true, true}})...)
		for _, name := range formats {
			_, err := scan(name, []string{"v", "x", "b"})
			must.Fail(t, name+": "+bad.csv, err, name, bad.want)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "twice.csv"), []byte("v,x,v.1\n[1 2],3,4\n"), 0o644))
	_, err := scan("twice.csv", []string{"v", "x"})
	must.Fail(t, "a column with the name of an element", err, "twice.csv: expected no column v.1 beside the elements of v, found one")
	must.Do(t, os.WriteFile(filepath.Join(dir, "none.csv"), []byte("v,x\n"), 0o644))
	must.Equal(t, must.Get(scan("none.csv", []string{"v.0", "v.1", "x"}))(t), "v.0 v.1 x:", "a file without rows")
}

func parseFloat(word string) (float64, error) {
	x, ok := parseFeature(word)
	if !ok {
		return 0, fmt.Errorf("%q", word)
	}
	return x, nil
}
