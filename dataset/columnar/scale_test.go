package columnar

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// importRows imports a table with a row for each number of x, which is feature t beside a feature u of few digits, and returns the folder.
func importRows(t *testing.T, x []float64, keys string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	csv := "domain,kind,t,u\n"
	for i, v := range x {
		csv += fmt.Sprintf("s%d,%d,%v,%v\n", i%3, i%2, v, float64(i%10)/10)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
	text := `{files: rows.csv, columns: {source: domain, features: [t, u]` + keys + `}, labels: [{column: kind}]}`
	return filepath.Join(dir, "out"), Import(t.Context(), parse(t, dir, text), filepath.Join(dir, "out"), nil)
}

// A single column is scaled as several are, however far from zero its values lie. A list is not scaled.
func TestImportScalesOneColumn(t *testing.T) {
	const far = 1_700_000_000
	for features, scaled := range map[string]bool{"t": true, "v": false} {
		dir, lines := t.TempDir(), ""
		for i := range 60 {
			lines += fmt.Sprintf(`{"domain": "s%d", "kind": "k%d", "t": %d, "v": [%d, 7]}`+"\n", i%3, i%2, far+i, i)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines), 0o644))
		text := `{files: rows.jsonl, columns: {source: domain, features: ` + features + `}, labels: [{column: kind}]}`
		must.Do(t, Import(t.Context(), parse(t, dir, text), filepath.Join(dir, "out"), nil))
		set := must.Get(Open(filepath.Join(dir, "out")))(t)
		if !scaled {
			must.Hold(t, set.Pools[0].F32[2] == 3, "found %v", set.Pools[0].F32[:4])
			continue
		}
		var x []float64
		for _, p := range set.Pools {
			for _, v := range p.F32 {
				x = append(x, float64(v))
			}
		}
		mean, variance := stat.PopMeanVariance(x, nil)
		must.Equal(t, len(x), 60, "rows")
		must.Hold(t, math.Abs(mean) < 1e-6 && math.Abs(variance-1) < 1e-5, "mean %g and variance %g", mean, variance)
	}
}

// A feature with values far from zero, such as seconds since 1970, is scaled as it would be without this offset, although float32 rounds
// it. Features whose differences float32 keeps are scaled as float32 holds them.
func TestImportFromAfar(t *testing.T) {
	rng := testrand.New(t)
	const far = 1_700_000_000
	var near, moved []float64
	for range 3000 {
		x := float64(rng.IntN(300*16)) / 16
		near, moved = append(near, x), append(moved, far+x)
	}
	scaled := func(x []float64, keys string) (features []float32, c *dataset.Columns) {
		set := must.Get(Open(must.Get(importRows(t, x, keys))(t)))(t)
		must.Do(t, set.Validate())
		for _, p := range set.Pools {
			features = append(features, p.F32...)
		}
		return features, set.Columns
	}
	want, from := scaled(near, "")
	for _, keys := range []string{"", ", fill: mean"} {
		got, c := scaled(moved, keys)
		must.Hold(t, math.Abs(c.Centre[0]-from.Centre[0]-far) < 1e-6 && math.Abs(c.Spread[0]-from.Spread[0]) < 1e-6,
			"centre %v and spread %v, measured from near %v and %v", c.Centre[0], c.Spread[0], from.Centre[0], from.Spread[0])
		must.Hold(t, keys == "" || slices.Equal(c.Means, c.Centre), "means %v, centres %v", c.Means, c.Centre)
		for i, x := range got {
			row := i / 2 // pools are sorted by source, and the three sources take turns
			row = row%1000*3 + row/1000
			must.Hold(t, i%2 == 1 || math.Abs(float64(x-want[i])) < 1e-6, "%v is scaled to %v, %v to %v", moved[row], x, near[row], want[i])
			u := (float64(float32(row%10)/10) - c.Centre[1]) / c.Spread[1]
			must.Hold(t, i%2 == 0 || x == want[i] && x == float32(u), "row %d of u is scaled to %v, expected %v", row, x, float32(u))
		}
	}
}

// Features that stay in their units are refused where float32 does not hold their differences, as labels are.
func TestImportRefusesFromAfar(t *testing.T) {
	x := []float64{1.7e9, 1.7e9 + 7, 1.7e9 + 50, 1.7e9 + 3}
	out, err := importRows(t, x, ", scale: none")
	must.Fail(t, "seconds in their units", err, "columns: features: t: expected numbers that float32 can tell apart, "+
		"found 1.7e+09 to 1.70000005e+09: measure them from another zero or in another unit, or write scale: feature under columns")
	must.Absent(t, out)
	for _, ok := range [][]float64{{1.7e9, 1.7e9, 1.7e9}, {0.1, 0.2, 0.3}, {1.7e9, 0, 5}, {16777217, 16777217}} {
		must.Get(importRows(t, ok, ", scale: none"))(t)
	}
	dir := t.TempDir()
	csv := "domain,kind,v\n" + strings.Repeat("s,a,\"[1, 1700000001]\"\ns,b,\"[2, 1700000002]\"\n", 3)
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
	text := `{files: rows.csv, columns: {source: domain, features: v}, labels: [{column: kind}]}`
	err = Import(t.Context(), parse(t, dir, text), filepath.Join(dir, "out"), nil)
	must.Fail(t, "lists", err, "features: v, element 1: expected numbers that float32 can tell apart")
}
