package columnar

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A column and its logarithm are two features, of which the logarithm alone is a factor and the column alone has a missing indicator. A
// code stands for none in both. The format and the type of the column do not matter.
func TestImportLogs(t *testing.T) {
	type row struct {
		Site string  `parquet:"site" json:"site"`
		X    *uint8  `parquet:"x,optional" json:"x"`
		Z    float64 `parquet:"z" json:"z"`
		Y    float64 `parquet:"y" json:"y"`
	}
	r, dir := testrand.New(t), t.TempDir()
	var rows []row
	csv, lines := "site,x,z,y\n", ""
	for i := range 200 + r.IntN(200) {
		x := uint8(r.IntN(100))
		of := row{Site: "ab"[i%2 : i%2+1], X: &x, Z: r.NormFloat64(), Y: float64(i)}
		switch r.IntN(10) {
		case 0:
			of.X = nil
		case 1:
			*of.X = 255 // which stands for none
		}
		cell := ""
		if of.X != nil {
			cell = fmt.Sprint(*of.X)
		}
		rows, csv = append(rows, of), csv+fmt.Sprintf("%s,%s,%v,%v\n", of.Site, cell, of.Z, of.Y)
		lines += string(must.Get(json.Marshal(of))(t)) + "\n"
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines), 0o644))
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), rows))
	var first []float32
	for _, file := range []string{"rows.csv", "rows.jsonl", "rows.parquet"} {
		out := filepath.Join(dir, file+" import")
		must.Do(t, Import(t.Context(), parse(t, dir, "files: "+file+"\ncolumns: {source: site, features: [z, \"log (x + 1)\", x], "+
			"products: true, knots: 2, fill: mean+indicator, missing: {x: 255}}\nlabels: [{column: y, type: number}]\n"), out, nil))
		set := must.Get(Open(out))(t)
		must.Do(t, set.Validate())
		c := set.Columns
		must.EqualSlices(t, c.Features[:4], []string{"z", "log (x + 1)", "x", "x is missing"}, "features")
		must.Equal(t, c.Features[len(c.Features)-1], "z × log (x + 1)", "the product")
		must.Equal(t, c.Derived.Products(), 1, "products")
		at := map[string]int{}
		for _, p := range set.Pools {
			for _, of := range rows {
				if of.Site != p.Name {
					continue
				}
				value := func(j int) float64 {
					return float64(p.F32[at[p.Name]*p.Cols+j])*c.Spread[j] + c.Centre[j]
				}
				want, missing := []float64{c.Means[1], c.Means[2]}, 1.0
				if of.X != nil && *of.X != 255 {
					want, missing = []float64{math.Log(float64(*of.X) + 1), float64(*of.X)}, 0
				}
				must.Hold(t, math.Abs(value(0)-of.Z) < 1e-5 && math.Abs(value(1)-want[0]) < 1e-5 && math.Abs(value(2)-want[1]) < 1e-4 &&
					math.Abs(value(3)-missing) < 1e-5, "%s: %v, %v, %v, %v of %+v", file, value(0), value(1), value(2), value(3), of)
				at[p.Name]++
			}
		}
		if all := set.Pools[0].F32; first == nil {
			first = all
		} else {
			must.EqualSlices(t, all, first, "features of %s", file)
		}
	}
	imported := func(features string) (*dataset.Set, error) {
		m := parse(t, dir, "files: other.csv\ncolumns: {source: site, features: ["+features+"]}\nlabels: [{column: y, type: number}]\n")
		out := filepath.Join(dir, features)
		if err := Import(t.Context(), m, out, nil); err != nil {
			return nil, err
		}
		return Open(out)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "other.csv"), []byte("site,z,log z,y\na,-1,3,1\na,2,7,2\nb,3,8,3\n"), 0o644))
	set := must.Get(imported("log z"))(t)
	must.Hold(t, len(set.Columns.Logs) == 0, "a column that is called so: %+v", set.Columns)
	set = must.Get(imported("log (z + 2)"))(t)
	must.EqualSlices(t, set.Columns.Logs, []string{"log (z + 2)"}, "logarithms")
	must.Fail(t, "the logarithm of the label", must.Err(imported("log y")),
		`expected columns that are no labels, found "log y", the logarithm of one`)
	must.Fail(t, "a column that is not there", must.Err(imported("log w")), `expected a column "log w", found`)
	must.Fail(t, "a number without a logarithm", must.Err(imported("log (z + 1)")), "other.csv: line 2, column log (z + 1): expected ",
		"a number above -1, which has a logarithm then, found -1")
}
