package columnar

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

const wordManifest = `files: rows.csv
columns: {source: site, features: [age], categories: [shift, zone], fill: mean, scale: %s}
labels: [{column: y, type: number}]
sources: {exclude: left}
`

// A column of categories has a feature for each of its words, 1 in the rows that have the word and 0 in the others. Where features are
// scaled, the words of a column, less their means, share one unit, in which their variances add up to 1.
func TestImportWords(t *testing.T) {
	rng := testrand.New(t)
	dir := t.TempDir()
	var csv strings.Builder
	csv.WriteString("site,age,shift,zone,y\n")
	var shifts, zones []string
	for i := range 1000 + rng.IntN(1000) {
		site := []string{"a", "b", "left"}[rng.IntN(3)]
		shift := []string{"day", "day", "night", "none", "", "NA"}[rng.IntN(6)]
		zone := []string{"10", "9", "9", "9"}[rng.IntN(4)]
		if site == "left" {
			shift = "elsewhere"
		} else {
			shifts, zones = append(shifts, site+shift), append(zones, site+zone)
		}
		fmt.Fprintf(&csv, "%s,%d,%s,%s,%d\n", site, rng.IntN(80), shift, zone, i)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(csv.String()), 0o644))
	features := []string{"age", "shift=day", "shift=night", "shift=none", "zone=9", "zone=10"}
	slices.SortStableFunc(shifts, func(a, b string) int { return strings.Compare(a[:1], b[:1]) }) // rows are in the order of their sources
	slices.SortStableFunc(zones, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
	n := float64(len(shifts))
	part := func(of []string, word string) (p float64) {
		for _, v := range of {
			if v[1:] == word {
				p += 1 / n
			}
		}
		return p
	}
	unit := func(of []string, words ...string) float64 {
		sum := 0.0
		for _, w := range words {
			sum += part(of, w) * (1 - part(of, w))
		}
		return math.Sqrt(sum)
	}
	for _, scale := range []string{"none", "feature"} {
		out := filepath.Join(dir, scale)
		must.Do(t, Import(t.Context(), parse(t, dir, fmt.Sprintf(wordManifest, scale)), out, nil))
		set := must.Get(Open(out))(t)
		must.Do(t, set.Validate())
		must.EqualSlices(t, set.Columns.Features, features, "features")
		must.Equal(t, fmt.Sprint(set.Columns.Words), "[{shift [day night none]} {zone [9 10]}]", "words")
		at := 0
		for _, p := range set.Pools {
			for i := range p.Rows {
				for j, name := range features[1:] {
					column, word, _ := strings.Cut(name, "=")
					of, u := shifts, unit(shifts, "none", "day", "night")
					if column == "zone" {
						of, u = zones, unit(zones, "9", "10")
					}
					want := 0.0
					if of[at+i][1:] == word {
						want = 1
					}
					if scale == "feature" {
						want = (want - part(of, word)) / u
					}
					got := float64(p.F32[i*p.Cols+j+1])
					must.Hold(t, math.Abs(got-want) < 1e-6, "%s: %s of row %d of %s is %g, want %g", scale, name, i, p.Name, got, want)
				}
			}
			at += p.Rows
		}
		must.Equal(t, at, len(shifts), "rows")
	}
}

// Columns that are no categories are refused with their place.
func TestImportRefusesWords(t *testing.T) {
	of := func(cells func(i int) string) string {
		var csv strings.Builder
		csv.WriteString("site,age,shift,zone,y\n")
		for i := range 1200 {
			fmt.Fprintf(&csv, "a,%s,%d\n", cells(i), i)
		}
		return csv.String()
	}
	for name, c := range map[string]struct{ csv, want string }{
		"many":    {of(func(i int) string { return fmt.Sprintf("1,w%d,x", i) }), "line 1002, column shift: expected at most 1000 words"},
		"none":    {of(func(int) string { return "1,day,NA" }), "categories: zone: expected words, found none in 1200 rows"},
		"control": {of(func(int) string { return "1,\"a\tb\",x" }), "line 2, column shift: expected a word without control characters"},
		"latin1":  {of(func(int) string { return "1,n\xe4chtlich,x" }), "line 2, column shift: expected UTF-8, found the byte 0xe4"},
		"lists":   {of(func(int) string { return "\"[1, 2]\",day,x" }), "rows.csv"},
	} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(c.csv), 0o644))
		text := strings.Replace(fmt.Sprintf(wordManifest, "none"), "sources: {exclude: left}\n", "", 1)
		err := Import(t.Context(), parse(t, dir, text), filepath.Join(dir, "out"), nil)
		must.Fail(t, name, err, c.want)
		must.Absent(t, filepath.Join(dir, "out"))
	}
	for change, want := range map[[2]string]string{
		{"[shift, zone]", "[shift, y]"}:                                `categories: expected columns that are nothing else, found "y"`,
		{"[shift, zone]", "[site]"}:                                    `categories: expected columns that are nothing else, found "site"`,
		{"[age]", "[age, zone]"}:                                       `categories: expected columns that are nothing else, found "zone"`,
		{"[age], cat", "{file: x.npy}, cat"}:                           "categories: expected features that are a column each beside them",
		{"features: [age], categories: [shift, zone], fill: mean", ""}: "expected features, found none",
	} {
		text := strings.Replace(fmt.Sprintf(wordManifest, "none"), change[0], change[1], 1)
		if change[1] == "" {
			text = strings.Replace(text, "site, , scale", "site, scale", 1)
		} else if strings.Contains(change[1], "x.npy") {
			text = strings.Replace(text, "fill: mean, ", "", 1)
		}
		must.Fail(t, change[1], must.Err(manifest.Parse("m.yaml", []byte(text))), want)
	}
}
