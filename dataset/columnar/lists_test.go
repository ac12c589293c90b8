package columnar

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
)

// Lists beside numbers and words are features of these names, also behind a Parquet file without rows, which does not tell their length.
func TestListsBesideColumns(t *testing.T) {
	type row struct {
		Site string  `parquet:"site"`
		V    []int32 `parquet:"v,list"`
		X    float64 `parquet:"x"`
		Kind string  `parquet:"kind"`
		Y    float64 `parquet:"y"`
	}
	dir := t.TempDir()
	var rows []row
	for i := range 40 {
		rows = append(rows, row{[]string{"a", "b"}[i%2], []int32{int32(i), int32(i * i % 7)}, float64(i % 9), []string{"p", "q"}[i/2%2],
			float64(i)})
	}
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "0.parquet"), rows[:0]))
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "1.parquet"), rows))
	out := filepath.Join(dir, "out")
	const text = "{files: [%s1.parquet], columns: {source: site, features: [v, x], categories: kind, knots: 2}, " +
		"labels: [{column: y, type: number}]}"
	must.Do(t, Import(t.Context(), parse(t, dir, fmt.Sprintf(text, "0.parquet, ")), out, nil))
	must.EqualSlices(t, must.Get(Open(out))(t).Columns.Features,
		[]string{"v.0", "v.1", "x", "kind=p", "kind=q", "|x - 3|", "|x - 5|"}, "features")
	rows[30].V = rows[30].V[:1]
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "1.parquet"), rows))
	err := Import(t.Context(), parse(t, dir, fmt.Sprintf(text, "")), filepath.Join(dir, "short"), nil)
	must.Fail(t, "a short list", err, "1.parquet: row 30, column v: expected 2 elements, found 1")
}
