package table

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
)

// Features keep the digits that float32 rounds away, in each format, in columns and in lists, and in each batch. Their float32 values are
// rounded as usual.
func TestWide(t *testing.T) {
	const rows = 5000
	type record struct {
		Key  int64     `parquet:"key"`
		Day  int64     `parquet:"day"`
		X    float64   `parquet:"x"`
		Bare float32   `parquet:"bare"`
		List []float64 `parquet:"list"`
	}
	var records []record
	var array []float64
	csv, jsonl := "key,day,x,bare,list\n", ""
	for i := range rows {
		r := record{int64(i), 1_700_000_000 + int64(i), 0.1 * float64(i%7), 0.1, []float64{1e9 + float64(i)/4, 2}}
		records, array = append(records, r), append(array, r.List...)
		list := fmt.Sprintf("[%.2f, 2]", r.List[0])
		csv += fmt.Sprintf("%d,%d,%v,%v,\"%s\"\n", i, r.Day, r.X, r.Bare, list)
		jsonl += fmt.Sprintf(`{"key":%d,"day":%d,"x":%v,"bare":%v,"list":%s}`+"\n", i, r.Day, r.X, r.Bare, list)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must.Do(t, os.WriteFile(path("rows.csv"), []byte(csv), 0o644))
	must.Do(t, os.WriteFile(path("rows.jsonl"), []byte(jsonl), 0o644))
	must.Do(t, parquet.WriteFile(path("rows.parquet"), records))
	writeNPY(t, path("list.npy"), "<f8", array, rows, 2)

	check := func(name string, tab Table, features []string, want func(i, j int) float64) {
		t.Helper()
		defer tab.Close()
		seen := 0
		must.Do(t, tab.Scan(Query{Scalars: []string{"key"}, Features: features}, func(b *Batch) error {
			for i := range b.Features.F32 {
				row, j := seen+i/b.Features.Width, i%b.Features.Width
				got, x := b.Features.Wide(i), want(row, j)
				if got != x || b.Features.F32[i] != float32(x) {
					return fmt.Errorf("row %d, feature %d: %v and %v, expected %v", row, j, got, b.Features.F32[i], x)
				}
			}
			seen += b.Rows
			return nil
		}))
		must.Equal(t, seen, rows, "rows of %s", name)
	}
	column := func(i, j int) float64 {
		bare := float64(float32(0.1))
		return []float64{records[i].X, float64(records[i].Day), bare}[j]
	}
	list := func(i, j int) float64 { return records[i].List[j] }
	for _, name := range []string{"rows.csv", "rows.jsonl", "rows.parquet"} {
		open := func() Table { return must.Get(Open(path(name), FormatOf(name)))(t) }
		columns := []string{"x", "day"}
		if name == "rows.parquet" {
			columns = append(columns, "bare")
		}
		check(name, open(), columns, column)
		check(name+", lists", open(), []string{"list"}, list)
	}
	for _, join := range []string{JoinRow, JoinID} {
		v := VectorFile{Path: path("list.npy"), Format: NPY, Join: join, ID: "key"}
		name := "rows.csv"
		if join == JoinID { // the rows are in another order, so that vectors are read one by one
			backwards := "key\n"
			for i := range rows {
				backwards += fmt.Sprintln(rows - 1 - i)
			}
			name = "backwards.csv"
			must.Do(t, os.WriteFile(path(name), []byte(backwards), 0o644))
		}
		tab := must.Get(OpenJoined(path(name), CSV, v))(t)
		columns := tab.Columns()
		check(join, tab, []string{columns[len(columns)-1].Name}, func(i, j int) float64 {
			if join == JoinID {
				i = rows - 1 - i
			}
			return list(i, j)
		})
	}
}
