package columnar

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// gapRow is a row with cells of each type, most of which may be missing.
type gapRow struct {
	Site  string   `parquet:"site" json:"site"`
	Share *float64 `parquet:"share,optional" json:"share"`
	Count *int64   `parquet:"count,optional" json:"count"`
	Flag  *bool    `parquet:"flag,optional" json:"flag"`
	Few   *float64 `parquet:"few,optional" json:"few"`
	Whole float64  `parquet:"whole" json:"whole"`
	Apart *float64 `parquet:"apart,optional" json:"apart"`
	Shift *string  `parquet:"shift,optional" json:"shift"`
	Y     float64  `parquet:"y" json:"y"`
}

const gapManifest = `files: %s
columns: {source: site, features: [share, count, flag, few, whole, apart], categories: shift, fill: mean+indicator, %s}
labels: [{column: y, type: number}]
sources: {exclude: left}
`

// Each column that enough rows of the sources that take part lack has a missing indicator behind the words: 1 in these rows and 0 in
// others, less its mean where columns are brought to one unit. The format and the type do not matter.
func TestImportIndicators(t *testing.T) {
	rng := testrand.New(t)
	some := func(i, each int) bool { return i%each != 0 }
	var rows []gapRow
	for i := range 600 + rng.IntN(600) {
		x, n, flag, shift := rng.NormFloat64(), rng.Int64N(9), rng.IntN(2) == 0, []string{"day", "night"}[rng.IntN(2)]
		r := gapRow{Site: []string{"a", "b", "left"}[i%3], Whole: x, Few: &x, Y: float64(i)}
		if rng.IntN(5) > 0 {
			r.Share = &x
		}
		if rng.IntN(9) > 0 {
			r.Count = &n
		}
		if rng.IntN(3) > 0 {
			r.Flag = &flag
		}
		if r.Site != "left" || some(i, 2) { // apart is missing only in rows that take no part
			r.Apart = &x
		}
		if i/3 < 4 { // of the rows that take part, fewer than five lack few
			r.Few = nil
		}
		if r.Site == "b" {
			r.Few = &x
		}
		if rng.IntN(4) > 0 {
			r.Shift = &shift
		}
		rows = append(rows, r)
	}
	dir := t.TempDir()
	csv, lines := "site,share,count,flag,few,whole,apart,shift,y\n", ""
	for _, r := range rows {
		raw := must.Get(json.Marshal(r))(t)
		lines += string(raw) + "\n"
		var cells map[string]any
		must.Do(t, json.Unmarshal(raw, &cells))
		var row []string
		for _, name := range strings.Split("site,share,count,flag,few,whole,apart,shift,y", ",") {
			cell := []string{"", "NA", "NaN", " "}[rng.IntN(4)]
			if name == "flag" || name == "shift" {
				cell = ""
			}
			if cells[name] != nil {
				cell = fmt.Sprint(cells[name])
			}
			row = append(row, cell)
		}
		csv += strings.Join(row, ",") + "\n"
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(lines), 0o644))
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "rows.parquet"), rows))
	rows = slices.DeleteFunc(rows, func(r gapRow) bool { return r.Site == "left" })
	slices.SortStableFunc(rows, func(a, b gapRow) int { return strings.Compare(a.Site, b.Site) })
	lacks := []func(gapRow) bool{
		func(r gapRow) bool { return r.Share == nil }, func(r gapRow) bool { return r.Count == nil },
		func(r gapRow) bool { return r.Flag == nil },
	}
	for _, scale := range []string{"scale: none", "scale: feature", "knots: 3"} {
		for _, file := range []string{"rows.csv", "rows.jsonl", "rows.parquet"} {
			out := filepath.Join(dir, file+scale)
			must.Do(t, Import(t.Context(), parse(t, dir, fmt.Sprintf(gapManifest, file, scale)), out, nil))
			set := must.Get(Open(out))(t)
			must.Do(t, set.Validate())
			c := set.Columns
			must.EqualSlices(t, c.Features[6:11], []string{"shift=day", "shift=night", "share is missing", "count is missing", "flag is missing"},
				"features of %s, %s", file, scale)
			must.Equal(t, len(c.Features), 11+c.Derived.Knots.Count(), "features of %s, %s", file, scale)
			must.Equal(t, fmt.Sprint(c.Words), "[{shift [day night]} {share []} {count []} {flag []}]", "words")
			at := 0
			for _, p := range set.Pools {
				for i := range p.Rows {
					for j, is := range lacks {
						want, got := 0.0, float64(p.F32[i*p.Cols+8+j])
						if is(rows[at]) {
							want = 1
						}
						if len(c.Spread) > 0 {
							must.Equal(t, c.Spread[8+j], 1, "unit")
							got += c.Centre[8+j]
						}
						must.Hold(t, math.Abs(got-want) < 1e-6, "%s, %s: %s of row %d of %s is %g, not %g", file, scale,
							c.Features[8+j], i, p.Name, got, want)
					}
					at++
				}
			}
		}
	}
}

func TestImportRefusesCodes(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("site,a,y\ns,1,2\nt,2,3\n"), 0o644))
	text := "files: rows.csv\ncolumns: {source: site, features: a, fill: mean, missing: {b: -999}}\nlabels: [{column: y, type: number}]\n"
	err := Import(t.Context(), parse(t, dir, text), filepath.Join(dir, "out"), nil)
	must.Fail(t, "codes of no feature", err, "m.yaml: columns: missing: expected one of the features, found b")
	err = Import(t.Context(), parse(t, dir, strings.Replace(text, "{b:", `{"b*":`, 1)), filepath.Join(dir, "out"), nil)
	must.Fail(t, "a pattern of no feature", err, "m.yaml: columns: missing: expected one of the features, found b*")
}

// A pattern under missing stands for the columns that it matches, whose names the data have.
func TestImportMatchesCodes(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("site,B1,B2,c,y\ns,1,-9999,-9999,2\nt,-9999,5,4,3\ns,3,7,6,3\n"), 0o644))
	text := "files: rows.csv\ncolumns: {source: site, features: [B1, B2, c], fill: mean, missing: {\"B*\": -9999}}\n" +
		"labels: [{column: y, type: number}]\n"
	out := filepath.Join(dir, "out")
	must.Do(t, Import(t.Context(), parse(t, dir, text), out, nil))
	set := must.Get(Open(out))(t)
	must.Equal(t, fmt.Sprint(set.Columns.Codes, set.Columns.Filled), "[{B1 [-9999]} {B2 [-9999]}] [1 1 0]", "codes, and cells filled")
}
