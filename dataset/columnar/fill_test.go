package columnar

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Missing features become the mean of their column over the rows of the sources that take part. Where features are scaled, by the spread of
// the cells that are there, this mean is 0.
func TestImportFills(t *testing.T) {
	rng := testrand.New(t)
	const cols = 5
	dir := t.TempDir()
	records := makeRecords(rng, 2000, 5, cols)
	for i := range records {
		for j := range cols {
			if rng.IntN(4+20*j) == 0 && j < cols-1 || i == 0 && j == 1 {
				records[i].features[j] = float32(math.NaN())
			}
		}
	}
	writeCSV(t, dir, records, 2)
	for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "*.csv")))(t) {
		raw := string(must.Get(os.ReadFile(name))(t))
		for _, word := range []string{",", ",NA"} { // the other cells stay NaN
			raw = regexp.MustCompile(`(?m),NaN(,|$)`).ReplaceAllStringFunc(raw, func(cell string) string {
				if rng.IntN(2) == 0 {
					return cell
				}
				return word + strings.TrimPrefix(cell, ",NaN")
			})
		}
		must.Do(t, os.WriteFile(name, []byte(raw), 0o644))
	}
	n, mean, spread := make([]float64, cols), make([]float64, cols), make([]float64, cols)
	missing := make([]int64, cols)
	of := func(f func(j int, x float64)) {
		for _, r := range records {
			for j, x := range r.features {
				if r.source != "s3" { // s3 is excluded
					f(j, float64(x))
				}
			}
		}
	}
	of(func(j int, x float64) {
		if x != x {
			missing[j]++
			return
		}
		n[j]++
		mean[j] += x
	})
	for j := range mean {
		mean[j] /= n[j]
	}
	of(func(j int, x float64) {
		if x == x {
			spread[j] += (x - mean[j]) * (x - mean[j]) / n[j]
		}
	})
	for _, scale := range []string{"none", "feature"} {
		out := filepath.Join(dir, scale)
		must.Do(t, Import(t.Context(), parse(t, dir, strings.Replace(made, "scale: none", "fill: mean, scale: "+scale, 1)), out, nil))
		set := must.Get(Open(out))(t)
		must.Do(t, set.Validate())
		must.EqualSlices(t, set.Columns.Filled, missing, "missing cells")
		for j, m := range set.Columns.Means {
			must.Hold(t, math.Abs(m-mean[j]) < 1e-9, "the mean of column %d is %g, want %g", j, m, mean[j])
		}
		for _, p := range set.Pools {
			at := 0
			for _, r := range records {
				if r.source != p.Name {
					continue
				}
				for j, x := range r.features {
					want, got := float64(x), float64(p.F32[at])
					if at++; x != x {
						want = mean[j]
					}
					if scale == "feature" {
						want = (want - mean[j]) / math.Sqrt(spread[j])
					}
					must.Hold(t, math.Abs(got-want) < 1e-5 && (scale == "none" || x == x || got == 0), "%s, %v: %g, want %g", p.Name, x, got, want)
				}
			}
		}
	}
	must.Fail(t, "without fill", Import(t.Context(), parse(t, dir, made), filepath.Join(dir, "no"), nil), ", column f",
		"expected a number, found ", ": fill: mean+indicator under columns of "+filepath.Join(dir, "m.yaml")+" puts the mean of the column there")
}

// Tables whose features differ only in their units have different hashes. Other files and another order of the rows leave the hash as it
// is.
func TestHashOfUnits(t *testing.T) {
	rng := testrand.New(t)
	var rows [][2][]float64
	for range 300 {
		rows = append(rows, [2][]float64{{rng.NormFloat64(), 5e4 * rng.NormFloat64()}, {rng.NormFloat64(), 7 + rng.Float64()}})
	}
	hash := func(unit float64, bySource bool, more string) string {
		dir := t.TempDir()
		files := [2]string{"domain,f0,f1,kind\n", "domain,f0,f1,kind\n"}
		for i, r := range rows {
			for s, x := range r {
				at := 0
				if bySource {
					at = s
				}
				files[at] += fmt.Sprintf("s%d,%v,%v,%d\n", s, unit*float64(float32(x[0])), float32(x[1]), i%2)
			}
		}
		for at, text := range files {
			must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", at)), []byte(text), 0o644))
		}
		text := `{files: "*.csv", columns: {source: domain, features: "f*"` + more + "}, labels: [{column: kind}]}"
		must.Do(t, Import(t.Context(), parse(t, dir, text), filepath.Join(dir, "out"), nil))
		return must.Get(Open(filepath.Join(dir, "out")))(t).Hash()
	}
	must.Equal(t, hash(1, true, ""), hash(1, false, ""), "the hash of another order")
	must.Hold(t, hash(1, false, "") != hash(1024, false, ""), "another unit has the same hash")
	must.Hold(t, hash(1, false, "") != hash(1, false, ", fill: mean"), "means that stand for missing features change no hash")
}
