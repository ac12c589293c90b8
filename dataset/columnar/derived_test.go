package columnar

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/parquet-go/parquet-go"
)

const knotManifest = `files: rows.csv
columns: {source: site, features: [age, flag, size], categories: [shift], knots: 3, fill: mean}
labels: [{column: y, type: number}]
sources: {exclude: left}
`

// Behind all columns that are read, each column has its distances from its knots, less their means over the rows that have it, in a unit in
// which their variances add up to a quarter of a column's. A missing cell has the means. Columns of two values have no knots, and a column
// with its sign changed has the same features.
func TestImportKnots(t *testing.T) {
	rng := testrand.New(t)
	sign := []float64{1, -1}[rng.IntN(2)]
	var rows [][]string
	for i := range 600 + rng.IntN(600) {
		row := []string{[]string{"a", "b", "left"}[rng.IntN(3)], "", fmt.Sprint(rng.IntN(2)), fmt.Sprint(max(0, rng.IntN(9)-4)),
			[]string{"day", "night"}[rng.IntN(2)], fmt.Sprint(i)}
		if rng.IntN(5) > 0 {
			row[1] = fmt.Sprint(rng.NormFloat64())
		}
		if row[0] == "left" {
			row[1] = "1000"
		}
		rows = append(rows, row)
	}
	open := func(sign float64) *dataset.Set {
		dir := t.TempDir()
		csv := "site,age,flag,size,shift,y\n"
		for _, row := range rows {
			row = slices.Clone(row)
			if x, err := strconv.ParseFloat(row[1], 64); err == nil {
				row[1] = fmt.Sprint(sign * x)
			}
			csv += strings.Join(row, ",") + "\n"
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
		must.Do(t, Import(t.Context(), parse(t, dir, knotManifest), filepath.Join(dir, "out"), nil))
		set := must.Get(Open(filepath.Join(dir, "out")))(t)
		must.Do(t, set.Validate())
		return set
	}
	set, other := open(1), open(sign)
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[0] == "left" })
	slices.SortStableFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	names := []string{"age", "flag", "size", "shift=day", "shift=night"}
	var values [3][]float64
	for _, row := range rows {
		for j, cell := range row[1:4] {
			if x, err := strconv.ParseFloat(cell, 64); err == nil {
				values[j] = append(values[j], x)
			}
		}
	}
	for j := range values {
		knots := table.KnotsOf(slices.Clone(values[j]), 3)
		must.EqualSlices(t, set.Columns.Derived.Knots[j], knots, "knots of %s", names[j])
		must.Hold(t, len(knots) > 0 == (j != 1), "knots %v of %s", knots, names[j])
		of := table.Derived{Knots: table.Knots{knots}}
		names = append(names, of.Names(names[j:])...)
	}
	must.EqualSlices(t, set.Columns.Features, names, "features")
	must.EqualSlices(t, set.Columns.Filled, append([]int64{int64(len(rows) - len(values[0]))}, make([]int64, len(names)-1)...), "filled cells")
	at := 5
	for j := range values {
		for _, k := range set.Columns.Derived.Knots[j] {
			mean, square := 0.0, 0.0
			for _, x := range values[j] {
				mean += math.Abs(x-k) / float64(len(values[j]))
			}
			for _, x := range values[j] {
				square += math.Pow(math.Abs(x-k)-mean, 2) / float64(len(values[j]))
			}
			unit := 2 * math.Sqrt(float64(len(set.Columns.Derived.Knots[j]))*square)
			row := 0
			for _, p := range set.Pools {
				for i := range p.Rows {
					want := 0.0
					if x, err := strconv.ParseFloat(rows[row][1+j], 64); err == nil {
						want = (math.Abs(x-k) - mean) / unit
					}
					got := float64(p.F32[i*p.Cols+at])
					must.Hold(t, math.Abs(got-want) < 1e-5, "%s of row %d is %g, want %g", names[at], row, got, want)
					row++
				}
			}
			at++
		}
	}
	must.Equal(t, at, len(names), "features of knots")
	for i, p := range set.Pools {
		n := len(set.Columns.Derived.Knots[0])
		for r := range p.Rows {
			for j := range n {
				k := j
				if sign < 0 {
					k = n - 1 - j
				}
				x, y := p.F32[r*p.Cols+5+j], other.Pools[i].F32[r*p.Cols+5+k]
				must.Hold(t, math.Abs(float64(x-y)) < 1e-5, "row %d has %g of knot %d, with the sign %g %g", r, x, j, sign, y)
			}
		}
	}
	for _, o := range set.Oddities() {
		must.Hold(t, !strings.Contains(o.Found, "|"), "%s", o.Found)
	}
}

// Where there are more rows than the sample holds, each is equally likely to be in it.
func TestRowSample(t *testing.T) {
	const rows = 4 * sampledRows
	k, v := newRowSample(), &table.Vectors{Width: 1, F32: make([]float32, rows)}
	for i := range rows {
		v.F32[i] = float32(i)
		k.add(v, i)
	}
	must.Equal(t, len(k.rows), sampledRows, "rows")
	var tenths [10]int
	for _, row := range k.rows {
		tenths[int(row[0])*10/rows]++
	}
	for i, n := range tenths {
		must.Hold(t, math.Abs(float64(n)-sampledRows/10) < 6*math.Sqrt(sampledRows/10), "%d of the rows of tenth %d", n, i)
	}
}

// Knots that cannot be, and features that cannot have knots, are refused with their place.
func TestImportRefusesKnots(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"knots: 3", "knots: 0"}:                    "line 2: expected a number of knots from 1 to 50, found",
		{"knots: 3", "knots: many"}:                 "line 2: expected a number of knots from 1 to 50, found",
		{"knots: 3", "knots: 3, scale: none"}:       "columns: knots: expected columns that are brought to one unit, found scale: none",
		{"features: [age, flag, size], ", ""}:       "columns: knots: expected features that are a column each, found none",
		{"knots: 3", "products: yes"}:               "line 2: expected true or false, found",
		{"knots: 3", "products: true, scale: none"}: "columns: products: expected columns that are brought to one unit",
	} {
		must.Fail(t, change[1], must.Err(manifest.Parse("m.yaml", []byte(strings.Replace(knotManifest, change[0], change[1], 1)))), want)
	}
	products := strings.NewReplacer("features: [age, flag, size], ", "", "knots: 3", "products: true").Replace(knotManifest)
	must.Fail(t, "of nothing", must.Err(manifest.Parse("m.yaml", []byte(products))), "columns: products: expected features that are a column")
	for text, want := range map[string]string{
		`{"site": "a", "v": [1, 2], "y": 1}`: "columns: knots: expected features that are a column each, found lists in column v",
		`{"site": "a", "v": null, "y": 1}`:   "fill: mean+indicator under columns of",
	} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(text+"\n"), 0o644))
		m := parse(t, dir, "files: rows.jsonl\ncolumns: {source: site, features: v, knots: 2}\nlabels: [{column: y, type: number}]\n")
		must.Fail(t, text, Import(t.Context(), m, filepath.Join(dir, "out"), nil), want)
		if m.Knots, m.Products = 0, true; strings.Contains(text, "null") { // a single column
			want = "columns: products: expected 2 to 64 columns of features, found 1"
		}
		must.Fail(t, text, Import(t.Context(), m, filepath.Join(dir, "out"), nil), strings.Replace(want, "knots", "products", 1))
		must.Absent(t, filepath.Join(dir, "out"))
	}
}

// A single column that has knots is brought to one unit, as several columns are.
func TestImportKnotsOfOneColumn(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("site,x,y\na,10,1\nb,20,2\na,40,3\n"), 0o644))
	m := parse(t, dir, "files: rows.csv\ncolumns: {source: site, features: x, knots: 2}\nlabels: [{column: y, type: number}]\n")
	must.Do(t, Import(t.Context(), m, filepath.Join(dir, "out"), nil))
	c := must.Get(Open(filepath.Join(dir, "out")))(t).Columns
	must.EqualSlices(t, c.Features, []string{"x", "|x - 20|"}, "features")
	must.Equal(t, len(c.Spread), 2, "spreads")
	raw := must.Get(os.ReadFile(filepath.Join(dir, "out", headerFile)))(t)
	for old, other := range map[string]string{"20\n": "21\n", "[\n      20\n    ]": "[20, 30]", "|x - 20|": "|x - 2|"} {
		damaged := strings.Replace(string(raw), old, other, 1)
		must.Hold(t, damaged != string(raw), "%q is not in %s", old, raw)
		must.Do(t, os.WriteFile(filepath.Join(dir, "out", headerFile), []byte(damaged), 0o644))
		must.Hold(t, must.Err(Open(filepath.Join(dir, "out"))) != nil, "%q for %q is not seen", other, old)
	}
}

// Columns of bytes have the same features of knots and products as the same numbers in CSV, also where no column has a knot.
func TestImportKnotsOfBytes(t *testing.T) {
	type row struct {
		Site string  `parquet:"site"`
		A    uint8   `parquet:"a"`
		B    uint8   `parquet:"b"`
		Y    float64 `parquet:"y"`
	}
	rng := testrand.New(t)
	for _, c := range []struct {
		most int
		keys string
	}{{200, "knots: 4, products: true"}, {2, "knots: 4"}, {200, "products: true"}} {
		most := c.most
		dir := t.TempDir()
		csv, rows := "site,a,b,y\n", []row{}
		for i := range 50 {
			r := row{string(rune('a' + i%2)), uint8(rng.IntN(most)), uint8(rng.IntN(most)), rng.NormFloat64()}
			rows, csv = append(rows, r), csv+fmt.Sprintf("%s,%d,%d,%g\n", r.Site, r.A, r.B, r.Y)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
		must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), rows))
		var sets []*dataset.Set
		for _, name := range []string{"rows.csv", "rows.parquet"} {
			m := parse(t, dir, "files: "+name+"\ncolumns: {source: site, features: [a, b], "+c.keys+"}\n"+
				"labels: [{column: y, type: number}]\n")
			must.Do(t, Import(t.Context(), m, filepath.Join(dir, "of-"+name), nil))
			sets = append(sets, must.Get(Open(filepath.Join(dir, "of-"+name)))(t))
		}
		must.EqualSlices(t, sets[1].Columns.Features, sets[0].Columns.Features, "features")
		must.Hold(t, (len(sets[0].Columns.Features) > 2) == (most > 2), "features %v", sets[0].Columns.Features)
		for i, p := range sets[0].Pools {
			must.EqualSlices(t, sets[1].Pools[i].F32, p.F32, "features of %s", p.Name)
		}
	}
}

// The sample of a wide table has fewer rows.
func TestRowSampleOfWideRows(t *testing.T) {
	const width, rows = 1 << 14, 300
	k, v := newRowSample(), &table.Vectors{Width: width, F32: make([]float32, width)}
	for range rows {
		k.add(v, 0)
	}
	must.Equal(t, len(k.rows), sampledCells/width, "rows of %d", width)
}
