package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// writeTowns writes households of towns, a fifth of whose incomes and debts is missing. If tells is set, high values
// are mostly the missing ones; otherwise cells are missing at random.
func writeTowns(t *testing.T, dir string, seed uint64, tells bool) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	writeAround(t, filepath.Join(dir, "towns.csv"), "town", "income,debt,age,rooms,spends", [4]float64{1, -1, 0.5, 1}, rng,
		func(w [4]float64) (row string) {
			y := 0.5 * rng.NormFloat64()
			for j, u := range [][2]float64{{30_000, 8_000}, {10_000, 4_000}, {45, 12}, {4, 1}} {
				z := rng.NormFloat64()
				y += w[j] * z
				missing := rng.Float64() < 0.2
				if tells {
					missing = rng.Float64() < 0.05 || z > 1 && rng.Float64() < 0.9
				}
				if !missing || j >= 2 {
					row += fmt.Sprintf("%.3f", u[0]+u[1]*z)
				}
				row += ","
			}
			return row + fmt.Sprintf("%.4f", y)
		})
}

// A model learns from the fact that a cell is missing, as data init sets it up; if this fact says nothing, learning it
// costs little. The stated error agrees with the error on fresh rows.
func TestOwnTableGaps(t *testing.T) {
	seeds := must.Long(4, 2)
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
				errs, states := runOnFresh(t, work, manifest, withoutTrees(!tells || seed > 0)...)
				fresh[at], stated[at] = fresh[at]+errs/float64(seeds), stated[at]+states/float64(seeds)
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
	read := func(dir, name string) string { return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)) }
	wrong := strings.Replace(read(work, "dataset.yaml"), "  fill:", "  missing: {age: 0}\n  fill:", 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "wrong.yaml"), []byte(wrong), 0o644))
	amtrl(t, work, "data", "check", "wrong.yaml").Prints(t, 0, "no cell of column age is missing, though missing has [0] for it")
	// Codes for missing values give the same results as empty cells, in the data and in new rows, under other column
	// names and in Python too.
	coded := filepath.Join(work, "coded")
	must.Do(t, os.MkdirAll(coded, 0o755))
	for _, name := range []string{"towns.csv", "fresh.csv"} {
		must.Do(t, os.WriteFile(filepath.Join(coded, name), []byte(withCodes(read(work, name))), 0o644))
	}
	manifest := strings.Replace(read(work, "dataset.yaml"), "  fill:", "  missing: {income: [-999, 99], debt: -1}\n  fill:", 1)
	must.Do(t, os.WriteFile(filepath.Join(coded, "dataset.yaml"), []byte(manifest), 0o644))
	succeed(t, coded, "run", "--data", "dataset.yaml", "--out", "dataset", "--quiet")
	succeed(t, coded, "predict", "dataset", "fresh.csv", "--out", "dataset.csv", "--quiet")
	must.Equal(t, read(coded, "dataset/rows.csv"), read(work, "dataset/rows.csv"), "what is drawn with codes")
	for _, dir := range []string{work, coded} {
		must.Equal(t, read(dir, "dataset.csv"), read(work, "dataset.csv"), "predictions with codes")
		for name, header := range map[string]string{"t[1-4]": "t1,t2,t3,t4", "x*": "x_a,x_b,x_c,x_d", "[a-d]?": "a1,b1,c1,d1"} {
			other := strings.Replace(read(dir, "fresh.csv"), "income,debt,age,rooms", header, 1)
			must.Do(t, os.WriteFile(filepath.Join(dir, "other.csv"), []byte(other), 0o644))
			succeed(t, dir, "predict", "dataset", "other.csv", "--features", name, "--out", header+".csv", "--quiet")
			must.Equal(t, read(dir, header+".csv"), read(work, "dataset.csv"), "predictions by %s", name)
		}
	}
	amtrl(t, coded, "predict", "dataset", "fresh.csv", "--features", "income,debt,age", "--out", "few.csv").
		Complains(t, 1, "expected 4 columns of features, those of the run, found 3 from income on")
	must.Do(t, os.WriteFile(filepath.Join(coded, "none.csv"), []byte("income,debt,age,rooms\n-999,1,2,3\n,NA,2,3\n"), 0o644))
	amtrl(t, coded, "predict", "dataset", "none.csv", "--out", "none-out.csv").Complains(t, 0,
		"all rows lack what some rows of the data of the run have: income\n")
	t.Run("python", func(t *testing.T) {
		rows := "import csv\nrows = list(csv.DictReader(open('fresh.csv')))\nimport numpy as np\n" +
			"X = np.array([[float(r[c] or 'nan') for c in ('income', 'debt', 'age', 'rooms')] for r in rows])\n"
		must.Do(t, os.Rename(filepath.Join(coded, "dataset"), filepath.Join(coded, "run")))
		want := readTable(t, filepath.Join(coded, "dataset.csv"))[1:]
		for i, line := range strings.Fields(runPage(t, coded, "predict.md", "numpy, safetensors", rows, "\nfor y in labels: print(y[0])\n")) {
			x, y := must.Get(strconv.ParseFloat(line, 64))(t), must.Get(strconv.ParseFloat(want[i][1], 64))(t)
			must.Hold(t, math.Abs(x-y) < 1e-4, "row %d is %g in Python, %g of amtrl", i, x, y)
		}
	})
}

// withCodes returns a table of towns with -999 for each missing income and -1 for each missing debt.
func withCodes(table string) string {
	rows := strings.Split(table, "\n")
	for i, row := range rows {
		cells := strings.Split(row, ",")
		for j, code := range []string{"-999", "-1"} {
			if len(cells) > 2 && cells[1+j] == "" {
				cells[1+j] = code
			}
		}
		rows[i] = strings.Join(cells, ",")
	}
	return strings.Join(rows, "\n")
}
