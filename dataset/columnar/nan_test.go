package columnar

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// NaN in a column of numbers is no value, as a null is, whatever the column says of a row: both are refused in the same words, or both give
// the same data.
func TestImportNaN(t *testing.T) {
	type row struct {
		ID     *float64 `parquet:"id,optional"`
		Source *float64 `parquet:"site,optional"`
		Group  *float64 `parquet:"who,optional"`
		Split  *float64 `parquet:"fold,optional"`
		X      float64  `parquet:"x"`
		Y      float64  `parquet:"y"`
	}
	rng := testrand.New(t)
	none, of := math.NaN(), func(x int) *float64 { return new(float64(x)) }
	columns := map[string]func(*row) **float64{"id": func(r *row) **float64 { return &r.ID },
		"site": func(r *row) **float64 { return &r.Source }, "who": func(r *row) **float64 { return &r.Group },
		"fold": func(r *row) **float64 { return &r.Split }}
	for column, cell := range must.Ordered(columns) {
		var said [2]string
		at := rng.IntN(40)
		for k, empty := range []*float64{nil, &none} {
			dir := t.TempDir()
			var rows []row
			for i := range 40 {
				r := row{ID: of(20_250_000 + i), Source: of(i % 2), Group: of(i / 4), X: float64(i % 7), Y: float64(i % 3)}
				if k == 1 {
					r.Split = empty // of no split
				}
				rows = append(rows, r)
			}
			*cell(&rows[at]) = empty
			must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), rows))
			m := must.Get(manifest.Parse(filepath.Join(dir, "m.yaml"), []byte("{files: [rows.parquet], columns: {id: id, source: site, group: who, "+
				"split: fold, features: x}, labels: [{column: y, type: number}]}")))(t)
			out := filepath.Join(dir, "out")
			err := Import(t.Context(), m, out, nil)
			if said[k] = strings.TrimPrefix(fmt.Sprint(err), dir); err == nil {
				said[k] = must.Get(Digest(out))(t)
			}
			must.Equal(t, err != nil, column == "id" || column == "site", "a row without %s is refused", column)
		}
		must.Equal(t, said[1], said[0], "NaN in column %s", column)
	}
}

// A missing vector is refused by the import, with the number of the others.
func TestImportCountsMissingVectors(t *testing.T) {
	dir := t.TempDir()
	type row struct {
		Source string    `parquet:"site"`
		X      []float64 `parquet:"x,list,optional"`
		Y      float64   `parquet:"y"`
	}
	rows := make([]row, 40)
	for i := range rows {
		rows[i] = row{Source: []string{"a", "b"}[i%2], X: []float64{1, float64(i)}, Y: float64(i % 3)}
	}
	rows[3].X, rows[7].X, rows[30].X[1] = nil, nil, math.Inf(1)
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), rows))
	m := must.Get(manifest.Parse(filepath.Join(dir, "m.yaml"), []byte("{files: rows.parquet, columns: {source: site, features: x}, "+
		"labels: [{column: y, type: number}]}")))(t)
	must.Fail(t, "missing vectors", Import(t.Context(), m, filepath.Join(dir, "out"), nil),
		"rows.parquet: row 3, column x: expected a vector, found none; 2 other rows of the file have no whole vector either: take these rows ")
}
