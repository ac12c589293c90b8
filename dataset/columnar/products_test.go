package columnar

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Behind all other features are the products of each pair of columns, less their means over the rows that have both, in a unit in which
// their variances add up to a quarter of those of the columns. A missing cell has the mean. A constant column has no products.
func TestImportProducts(t *testing.T) {
	rng := testrand.New(t)
	for range 4 {
		columns, rows := 2+rng.IntN(4), 100+rng.IntN(200)
		cells, csv := make([][]float64, rows), "site,none"
		for j := range columns {
			csv += fmt.Sprint(",x", j)
		}
		csv += ",shift,y\n"
		for i := range rows {
			csv += "ab"[i*2/rows:i*2/rows+1] + ",7"
			for range columns {
				x := math.Exp(rng.NormFloat64())
				if rng.IntN(20) == 0 {
					x = math.NaN()
				}
				cells[i] = append(cells[i], x)
				csv += "," + strings.Replace(strconv.FormatFloat(x, 'g', -1, 64), "NaN", "", 1)
			}
			csv += "," + []string{"day", "night"}[rng.IntN(2)] + ",1\n"
		}
		dir, knots := t.TempDir(), []string{"", ", knots: 3"}[rng.IntN(2)]
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
		m := parse(t, dir, "files: rows.csv\ncolumns: {source: site, features: [none, x*], categories: [shift], fill: mean, products: true"+knots+
			"}\nlabels: [{column: y, type: number}]\n")
		must.Do(t, Import(t.Context(), m, filepath.Join(dir, "out"), nil))
		set := must.Get(Open(filepath.Join(dir, "out")))(t)
		must.Do(t, set.Validate())
		c := set.Columns
		must.Equal(t, len(c.Derived.Factors), columns, "factors")
		must.Hold(t, (c.Derived.Knots.Count() > 0) == (knots != ""), "knots %v", c.Derived.Knots)
		at := len(c.Features) - columns*(columns-1)/2
		total := 0.0
		for i, f := range c.Derived.Factors {
			for _, g := range c.Derived.Factors[i+1:] {
				must.Equal(t, c.Features[at], c.Features[f.Feature]+" × "+c.Features[g.Feature], "name")
				var want []float64
				n, sum, squares, variance := 0.0, 0.0, 0.0, 0.0
				for _, row := range cells {
					x, y := row[f.Feature-1], row[g.Feature-1]
					v := (max(f.Low, min(f.High, x)) - f.Mean) / f.Spread * (max(g.Low, min(g.High, y)) - g.Mean) / g.Spread
					if want = append(want, v); v == v {
						n, sum, squares = n+1, sum+v, squares+v*v
					}
				}
				mean := sum / n
				unit := math.Sqrt(squares/n-mean*mean) * math.Sqrt(float64(2*(columns-1)))
				row := 0
				for _, p := range set.Pools {
					for i := range p.Rows {
						w := 0.0
						if v := want[row]; v == v {
							w = (v - mean) / unit
						}
						got := float64(p.F32[i*p.Cols+at])
						must.Hold(t, math.Abs(got-w) < 1e-4, "%s of row %d is %g, want %g", c.Features[at], row, got, w)
						variance += got * got / n
						row++
					}
				}
				total += variance
				at++
			}
		}
		must.Hold(t, math.Abs(total-float64(columns)/4) < 1e-3, "products of %d columns vary by %g", columns, total)
	}
}

// Fewer columns than two and more than can be multiplied are refused, and products of columns that do not vary are none.
func TestImportProductsOfMany(t *testing.T) {
	for n, want := range map[int]string{
		2: "", maxFactors: "", 1: "products: expected 2 to 64 columns of features, found 1", maxFactors + 1: "2 to 64 columns of features, found",
	} {
		dir, csv := t.TempDir(), "site"
		for j := range n {
			csv += fmt.Sprint(",x", j)
		}
		csv += ",y\n" + strings.Repeat("a"+strings.Repeat(",5", n)+",1\n", 3)
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
		m := parse(t, dir, "files: rows.csv\ncolumns: {source: site, features: x*, products: true}\nlabels: [{column: y, type: number}]\n")
		err := Import(t.Context(), m, filepath.Join(dir, "out"), nil)
		if want != "" {
			must.Fail(t, "many", err, want)
			continue
		}
		must.Do(t, err)
		must.Equal(t, len(must.Get(Open(filepath.Join(dir, "out")))(t).Columns.Features), n, "features")
	}
}

// Columns that no row has both of have a product of 0.
func TestImportProductsOfColumnsApart(t *testing.T) {
	dir := t.TempDir()
	csv := "site,a,b,y\n" + strings.Repeat("s,1,,1\ns,2,,2\nt,,5,3\nt,,7,4\n", 3)
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
	m := parse(t, dir, "files: rows.csv\ncolumns: {source: site, features: [a, b], products: true, fill: mean}\n"+
		"labels: [{column: y, type: number}]\n")
	must.Do(t, Import(t.Context(), m, filepath.Join(dir, "out"), nil))
	set := must.Get(Open(filepath.Join(dir, "out")))(t)
	must.Do(t, set.Validate())
	for _, p := range set.Pools {
		for i := range p.Rows {
			must.Equal(t, p.F32[3*i+2], 0, "a product")
		}
	}
}
