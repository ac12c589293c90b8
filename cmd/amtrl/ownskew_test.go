package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// Of skewed columns a model learns effects of their logarithms and of their values, as data init sets it up; either costs little where the
// other is true.
func TestOwnTableSkewed(t *testing.T) {
	seeds := must.Long(4, 3)
	dir := ownFolder(t)
	for _, logs := range []bool{true, false} {
		var fresh, stated [2]float64
		for seed := range uint64(seeds) {
			work, rng := filepath.Join(dir, fmt.Sprint(logs, seed)), rand.New(rand.NewPCG(seed, 14))
			writeAround(t, filepath.Join(work, "towns.csv"), "town", "people,area,rain,heat,spends", [4]float64{1, 1, 0.5, 0}, rng,
				func(w [4]float64) (row string) {
					y := 0.5 * rng.NormFloat64()
					for j := range w {
						z := rng.NormFloat64()
						x := z
						if j < 2 {
							x = math.Exp(2 * z)
							if !logs {
								z = x / 54
							}
						}
						y += w[j] * z
						row += fmt.Sprintf("%.5g,", x)
					}
					return row + fmt.Sprintf("%.4f", y)
				})
			amtrl(t, work, "data", "init", "towns.csv", "--label", "spends", "--target", "new town").Prints(t, 0,
				"features  people, log (people + 0.", ", area, log (area + 0.", ", rain, heat")
			raw := string(must.Get(os.ReadFile(filepath.Join(work, "dataset.yaml")))(t))
			plain := regexp.MustCompile(`"log \([a-z]+ \+ [0-9.]+\)", `).ReplaceAllString(raw, "")
			must.Hold(t, !strings.Contains(plain, "log (") && plain != raw, "%s", plain)
			must.Do(t, os.WriteFile(filepath.Join(work, "plain.yaml"), []byte(plain), 0o644))
			for at, manifest := range []string{"dataset", "plain"} {
				errs, states := runOnFresh(t, work, manifest, withoutTrees(!logs || seed > 0)...)
				fresh[at], stated[at] = fresh[at]+errs/float64(seeds), stated[at]+states/float64(seeds)
			}
		}
		t.Logf("effects of logarithms %-5v: with logarithms %.3g on fresh rows (%.3g stated), without %.3g (%.3g stated)", logs, fresh[0],
			stated[0], fresh[1], stated[1])
		most := 1.1
		if logs {
			most = 0.95
		}
		must.Hold(t, fresh[0] < most*fresh[1], "with logarithms amtrl errs %g, without %g", fresh[0], fresh[1])
	}
	work := filepath.Join(dir, "true 0")
	read := func(name string) string { return string(must.Get(os.ReadFile(filepath.Join(work, name)))(t)) }
	other := strings.Replace(read("fresh.csv"), "people,area,rain,heat", "t1,t2,t3,t4", 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "other.csv"), []byte(other), 0o644))
	succeed(t, work, "predict", "dataset", "other.csv", "--features", "t1,t2,t3,t4", "--out", "other-out.csv", "--quiet")
	must.Equal(t, read("other-out.csv"), read("dataset.csv"), "predictions from columns of other names")
	name := regexp.MustCompile(`log \(people \+ [0-9.]+\)`).FindString(read("dataset.yaml"))
	misleading := strings.Replace(strings.ReplaceAll(read("fresh.csv"), "\n", ",7\n"), "spends,7", "spends,"+name, 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "misleading.csv"), []byte(misleading), 0o644))
	succeed(t, work, "predict", "dataset", "misleading.csv", "--out", "misleading-out.csv", "--quiet")
	must.Equal(t, read("misleading-out.csv"), read("dataset.csv"), "predictions beside a column with the name of a logarithm")
	succeed(t, work, "predict", "dataset", "fresh.csv", "--features", "people,"+name+",area,rain,heat", "--out", "named-out.csv", "--quiet")
	must.Equal(t, read("named-out.csv"), read("dataset.csv"), "predictions where a logarithm is named too")
	amtrl(t, work, "predict", "dataset", "other.csv", "--features", "t1,t2,t3", "--out", "few.csv").Complains(t, 1,
		"expected 4 columns of features, those of the run, found 3 from t1 on")
	must.Do(t, os.WriteFile(filepath.Join(work, "none.csv"), []byte("people,area,rain,heat\n0,3,1,1\n-1,3,1,1\n"), 0o644))
	amtrl(t, work, "predict", "dataset", "none.csv", "--out", "none-out.csv").Complains(t, 1, "none.csv: line 3, column log (people + 0.",
		": expected a number above -0.", ", which has a logarithm then, found -1")
	must.Absent(t, filepath.Join(work, "none-out.csv"))
	succeed(t, work, "report", "dataset", "--out", "page.html", "--quiet")
	must.Hold(t, strings.Contains(read("page.html"), "log (people + "), "the page has no logarithm")
	amtrl(t, work, "data", "check", "dataset.yaml").Prints(t, 0, "nothing is odd")
}
