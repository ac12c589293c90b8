package table

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The rows that a query picks are read as in a scan of all rows, in each format, whatever is passed over between them.
func TestScanPassesOver(t *testing.T) {
	rng, dir := testrand.New(t), t.TempDir()
	rows := 1 + rng.IntN(9000)
	type record struct {
		A *string `parquet:"a,optional"`
		B int64   `parquet:"b"`
		C *bool   `parquet:"c,optional"`
		D string  `parquet:"d,dict"`
	}
	var records []record
	var csvRows, lines strings.Builder
	csvRows.WriteString("a,b,c,d\r\n")
	numbers := npy.FormatHeader("|u1", rows)
	for i := range rows {
		a, c := fmt.Sprintf("%d %d", i, rng.Uint64()), rng.IntN(2) == 0
		r := record{A: &a, B: int64(i), D: fmt.Sprint("w", rng.IntN(4))}
		if rng.IntN(3) > 0 {
			r.C = &c
		}
		if rng.IntN(5) == 0 {
			r.A = nil
		}
		records = append(records, r)
		long := strings.Repeat("long", rng.IntN(3000)*rng.IntN(2))
		cell := []string{`x`, `"two` + "\n" + `lines"`, `"""quoted"",` + "\r\n\r\n" + `"`, `""`, long}[rng.IntN(5)]
		fmt.Fprintf(&csvRows, "%s,%d,%q,w%s", cell, i, fmt.Sprint("c ", i), []string{"\n", "\r\n", "\n\n", "\r\n\r\n"}[rng.IntN(4)])
		fmt.Fprintf(&lines, `{"b": %d, "a": %q, "c": null, "d": "\""}%s`, i, cell, []string{"\n", "\n \n"}[rng.IntN(2)])
		numbers = append(numbers, byte(rng.Uint32()))
	}
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	objects := strings.Split(strings.TrimSpace(strings.ReplaceAll(lines.String(), "\n \n", "\n")), "\n")
	paths := []string{file("a.csv", csvRows.String()), file("unended.csv", strings.TrimSpace(csvRows.String())),
		file("a.jsonl", lines.String()), file("a.json", "["+strings.Join(objects, ",")+"]"), file("a.npy", string(numbers))}
	for _, version := range []int{1, 2} {
		path := filepath.Join(dir, fmt.Sprintf("%d.parquet", version))
		f := must.Get(os.Create(path))(t)
		w := parquet.NewGenericWriter[record](f, parquet.PageBufferSize(1+rng.IntN(2000)), parquet.DataPageVersion(version),
			parquet.MaxRowsPerRowGroup(int64(1+rng.IntN(2*rows))), parquet.Compression(&parquet.Snappy))
		must.Get(w.Write(records))(t)
		must.Do(t, w.Close())
		must.Do(t, f.Close())
		paths = append(paths, path)
	}
	for _, path := range paths {
		table := must.Get(Open(path, FormatOf(path)))(t)
		var q Query
		for _, c := range table.Columns() {
			q.Scalars = append(q.Scalars, c.Name)
		}
		var all []string
		show := func(b *Batch, i int) string {
			line := b.Where(i)
			for j := range b.Scalars {
				line += fmt.Sprintf("; %t %s", b.Scalars[j].IsMissing(i), b.Scalars[j].Name(i))
			}
			return line
		}
		must.Do(t, table.Scan(q, func(b *Batch) error {
			for i := range b.Rows {
				all = append(all, show(b, i))
			}
			return nil
		}))
		must.Equal(t, len(all), rows, "%s: rows", path)
		pick, picked := make([]bool, rows), 0
		often := []int{1, 2, 50, 3000}[rng.IntN(4)]
		for i := range pick {
			if pick[i] = rng.IntN(often) == 0; pick[i] {
				picked++
			}
		}
		q.Next = func(row int64) int64 {
			for row < int64(rows) && !pick[row] {
				row++
			}
			return row
		}
		must.Do(t, table.Scan(q, func(b *Batch) error {
			must.Hold(t, b.Rows == 1 && pick[b.First], "%s: %d rows from %d on", path, b.Rows, b.First)
			must.Equal(t, show(b, 0), all[b.First], "%s: row %d", path, b.First)
			picked--
			return nil
		}))
		must.Equal(t, picked, 0, "%s: rows that were not read", path)
		must.Do(t, table.Close())
	}
}
