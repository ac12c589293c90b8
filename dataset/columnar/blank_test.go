package columnar

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
)

// A label of white space alone is missing, for classes and for numbers. A zero with a sign equals one without, as a label and as the name
// of a source, in text and in numbers.
func TestBlanksAndZeros(t *testing.T) {
	type row struct {
		Site float64 `parquet:"site"`
		Kind string  `parquet:"kind"`
		Size float64 `parquet:"size"`
		F0   float64 `parquet:"f0"`
	}
	minus := math.Copysign(0, -1)
	dir := t.TempDir()
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "x.parquet"), []row{
		{minus, "-0.0", minus, 1}, {0, "0.0", 0, 2}, {1, " ", 1, 3}, {1, "1.0", 2, 4}, {1, "", 3, 5}}))
	csv := "site,kind,size,f0\n-0,-0.0,-0,1\n0,0.0,0,2\n1,  ,1,3\n1,1.0,2,4\n1,\"\t\",3,5\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "x.csv"), []byte(csv), 0o644))
	for _, file := range []string{"x.parquet", "x.csv"} {
		for _, c := range []struct {
			label   string
			outputs []string
			labels  [][]float32
		}{
			{"{column: kind}", []string{"0.0", "1.0"}, [][]float32{{1, 1}, {0, 0}}},
			{"{column: kind, missing: [' ']}", []string{"0.0", "1.0"}, [][]float32{{1, 1}, {0, 0}}},
			{"{column: kind, classes: [-0, 1]}", []string{"-0", "1"}, [][]float32{{1, 1}, {0, 0}}},
			{"{column: size, type: number}", nil, [][]float32{{0, 0}, {1, 2, 3}}},
		} {
			out := filepath.Join(t.TempDir(), "out")
			must.Do(t, Import(t.Context(), parse(t, dir, "{files: "+file+", columns: {source: site, features: f0}, labels: ["+c.label+
				"], target: {source: '1'}}"), out, nil))
			set := must.Get(Open(out))(t)
			must.Equal(t, len(set.Pools), 2, "%s %s: sources", file, c.label)
			must.Equal(t, set.Pools[0].Name, "0", "%s %s: the first source", file, c.label)
			must.EqualSlices(t, set.Columns.Labels[0].Classes, c.outputs, "%s %s: classes", file, c.label)
			labelled := 0
			for i := range set.Tasks {
				k := set.Tasks[i].Pool
				if k == 0 {
					must.EqualSlices(t, set.Tasks[i].Labels, c.labels[0], "%s %s: %s", file, c.label, set.Tasks[i].Name)
				}
				for _, y := range set.Tasks[i].Labels {
					must.Hold(t, !math.Signbit(float64(y)), "%s %s: a label -0", file, c.label)
				}
				labelled += len(set.Tasks[i].Train)
			}
			want := 3 // three labelled rows: each source has a task for its only class
			if c.outputs == nil {
				want = 5
			}
			must.Equal(t, labelled, want, "%s %s: labelled rows", file, c.label)
		}
	}
}

// A source name of white space alone is refused like an empty one, with its place.
func TestBlankSource(t *testing.T) {
	for _, cell := range []string{"", "  ", "\t", "\u00a0"} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "x.csv"), []byte("site,kind,f0\na,x,1\n\""+cell+"\",y,2\nb,y,2\n"), 0o644))
		err := Import(t.Context(), parse(t, dir, "{files: x.csv, columns: {source: site, features: f0}, labels: [{column: kind}]}"),
			filepath.Join(dir, "out"), nil)
		must.Fail(t, "a source "+cell, err, "x.csv: line 3, column site: expected the name of a source, found none")
	}
}

// A cell without a cost is no fault: other rows of the source give the cost, and where none does it is 1. Any other cell that is no cost is
// refused.
func TestCellsWithoutCost(t *testing.T) {
	dir := t.TempDir()
	text := "files: rows.csv\ncolumns: {source: site, features: x, cost: cost, scale: none}\n" +
		"labels: [{column: y, type: number}]\ntarget: {source: t}\n"
	write := func(none string) error {
		rows := "site,x,cost,y\n"
		for i := range 24 {
			site := []string{"a", "b", "t"}[i%3]
			cost := map[string]string{"a": "2.5", "b": "4", "t": none}[site]
			if i%2 == 0 {
				cost = none
			}
			rows += fmt.Sprintf("%s,%d,%s,%d\n", site, i, cost, i%5)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
		return Import(t.Context(), parse(t, dir, text), filepath.Join(dir, fmt.Sprintf("out%q", none)), nil)
	}
	for _, none := range []string{"", "  "} {
		must.Do(t, write(none))
		for _, p := range must.Get(Open(filepath.Join(dir, fmt.Sprintf("out%q", none))))(t).Pools {
			must.Equal(t, p.Cost, map[string]float64{"a": 2.5, "b": 4, "t": 1}[p.Name], "cost of %s, where none is %q", p.Name, none)
		}
	}
	for _, none := range []string{"0", "-", "none"} {
		must.Fail(t, none, write(none), "line 2, column cost: expected a cost from", fmt.Sprintf("found %q", none))
	}
}
