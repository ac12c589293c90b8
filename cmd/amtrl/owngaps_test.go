package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// writeTowns writes households of nine towns, of which the last has 60 samples, and 1,000 more of that town as fresh.csv. A fifth of the
// incomes and debts is missing: mostly of the rich and of those who owe much, or whichever.
func writeTowns(t *testing.T, dir string, seed uint64, tells bool) {
	t.Helper()
	must.Do(t, os.MkdirAll(dir, 0o755))
	rng := rand.New(rand.NewPCG(seed, 11))
	header := "town,income,debt,age,rooms,spends\n"
	text := header
	for town := range 10 {
		name, rows, w := fmt.Sprint("town ", town), 400, [4]float64{1, -1, 0.5, 1}
		for j := range w {
			w[j] += 0.2 * rng.NormFloat64()
			if town >= 4 && town < 8 {
				w[j] = 2 * rng.NormFloat64()
			}
		}
		if town >= 8 {
			name, w, rows = "new town", [4]float64{1, -1, 0.5, 1}, []int{60, 1000}[town-8]
		}
		if town == 9 {
			must.Do(t, os.WriteFile(filepath.Join(dir, "towns.csv"), []byte(text), 0o644))
			text = header
		}
		for range rows {
			y, cells := 0.5*rng.NormFloat64(), []string{name}
			for j, u := range [][2]float64{{30_000, 8_000}, {10_000, 4_000}, {45, 12}, {4, 1}} {
				z := rng.NormFloat64()
				y += w[j] * z
				missing := rng.Float64() < 0.2
				if tells {
					missing = rng.Float64() < 0.05 || z > 1 && rng.Float64() < 0.9
				}
				if missing && j < 2 {
					cells = append(cells, "")
				} else {
					cells = append(cells, fmt.Sprintf("%.3f", u[0]+u[1]*z))
				}
			}
			text += strings.Join(cells, ",") + fmt.Sprintf(",%.4f\n", y)
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "fresh.csv"), []byte(text), 0o644))
}

// That a cell is missing is learned where it tells something, as data init writes it, at little cost where it tells nothing; what is stated
// is what fresh rows show.
func TestOwnTableGaps(t *testing.T) {
	const seeds = 4
	dir := ownFolder(t)
	for _, tells := range []bool{true, false} {
		var fresh, stated [2]float64
		for seed := range uint64(seeds) {
			work := filepath.Join(dir, fmt.Sprint(tells, seed))
			writeTowns(t, work, seed, tells)
			amtrl(t, work, "data", "init", "towns.csv", "--label", "spends", "--target", "new town").Prints(t, 0,
				"fill      mean of the column into missing cells, with a feature that says which were: income (")
			raw := string(must.Get(os.ReadFile(filepath.Join(work, "dataset.yaml")))(t))
			must.Do(t, os.WriteFile(filepath.Join(work, "mean.yaml"), []byte(strings.Replace(raw, "mean+indicator", "mean", 1)), 0o644))
			for at, manifest := range []string{"dataset", "mean"} {
				succeed(t, work, "run", "--data", manifest+".yaml", "--out", manifest, "--quiet")
				o := succeed(t, work, "predict", manifest, "fresh.csv", "--out", manifest+".csv", "--quiet", "--json")
				run := must.Get(runs.ReadRun(filepath.Join(work, manifest)))(t)
				fresh[at] += amtrltest.JSON[[]runs.Evaluation](t, o)[0].Numbers.MSE / seeds
				stated[at] += run.Result.Method(run.Result.Recommended).Score.Value / seeds
			}
		}
		t.Logf("what is missing tells %-5v: with indicators %.3g on fresh rows (%.3g stated), without %.3g (%.3g stated)", tells, fresh[0],
			stated[0], fresh[1], stated[1])
		if tells {
			must.Hold(t, fresh[0] < 0.85*fresh[1], "indicators err %g, the mean alone %g", fresh[0], fresh[1])
		} else {
			must.Hold(t, fresh[0] < 1.1*fresh[1], "where gaps are by chance indicators err %g, the mean alone %g", fresh[0], fresh[1])
		}
		for at := range fresh {
			must.Hold(t, stated[at] > fresh[at]/1.5 && stated[at] < 1.5*fresh[at], "%g is stated, fresh rows show %g", stated[at], fresh[at])
		}
	}
	work := filepath.Join(dir, "true 0")
	amtrl(t, work, "data", "check", "dataset.yaml").Prints(t, 0, "nothing is odd")
	succeed(t, work, "report", "dataset", "--out", "page.html", "--quiet")
	page := string(must.Get(os.ReadFile(filepath.Join(work, "page.html")))(t))
	must.Hold(t, strings.Contains(page, "income is missing") && !strings.Contains(page, "age is missing"), "what is missing, on the page")
	// Rows under other names of the columns are predicted the same.
	for name, header := range map[string]string{"t[1-4]": "t1,t2,t3,t4", "x*": "x_a,x_b,x_c,x_d"} {
		other := strings.Replace(string(must.Get(os.ReadFile(filepath.Join(work, "fresh.csv")))(t)), "income,debt,age,rooms", header, 1)
		must.Do(t, os.WriteFile(filepath.Join(work, "other.csv"), []byte(other), 0o644))
		out := header + ".csv"
		succeed(t, work, "predict", "dataset", "other.csv", "--features", name, "--out", out, "--quiet")
		must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(work, out)))(t)),
			string(must.Get(os.ReadFile(filepath.Join(work, "dataset.csv")))(t)), "predictions by %s", name)
	}
}
