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

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// writeLots writes lots of parts of eight suppliers and of a new one with 60 labelled rows, and lots.csv's like of the
// new one as fresh.csv. The grade is A where a, b and c have a positive product, and else B or C by the side of d; of
// the suppliers from 6 on it is by a alone.
func writeLots(t *testing.T, dir string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	lots, fresh := "supplier,a,b,c,d,shape,grade\n", "supplier,a,b,c,d,shape,grade\n"
	for supplier := range 9 {
		for i := range 400 {
			z := [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			grade := "A"
			switch {
			case supplier >= 6 && supplier < 8:
				grade = []string{"A", "B", "C"}[min(2, max(0, int(z[0]+1.5)))]
			case z[0]*z[1]*z[2] < 0 && z[3] > 0:
				grade = "B"
			case z[0]*z[1]*z[2] < 0:
				grade = "C"
			}
			row := fmt.Sprintf("supplier %d,%.4f,%.3f,%.2f,%.4f,%s,%s\n", supplier, 1e6+10*z[0], z[1]/1000, 50*z[2], z[3],
				[]string{"round", "flat"}[rng.IntN(2)], grade)
			if supplier == 8 && i >= 60 {
				fresh += row
				continue
			}
			lots += row
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "lots.csv"), []byte(lots), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "fresh.csv"), []byte(fresh), 0o644))
}

// Trees, and what is averaged with them, predict classes of fresh rows as well as the run states, in amtrl and in Python.
func TestOwnTrees(t *testing.T) {
	dir := ownFolder(t)
	writeLots(t, dir)
	succeed(t, dir, "data", "init", "lots.csv", "--label", "grade", "--source", "supplier", "--target", "supplier 8")
	amtrl(t, dir, "run", "--data", "dataset.yaml", "--out", "run").Prints(t, 0, "recommended, and saved: active",
		"trees have a part of", "trees follow jumps, and what several columns do together")
	res := must.Get(runs.ReadRun(filepath.Join(dir, "run")))(t).Result
	errs := func(method string) float64 {
		o := succeed(t, dir, "predict", "run", "fresh.csv", "--method", method, "--out", method+".csv", "--quiet", "--json")
		return *amtrltest.JSON[[]runs.Evaluation](t, o)[0].Error
	}
	pooled := errs(pipeline.Pooled)
	for _, method := range []string{pipeline.Active, pipeline.Trees} {
		is, stated := errs(method), res.Method(method).Interval
		t.Logf("error on fresh rows: %s %.1f %% (stated %.1f to %.1f %%), pooled %.1f %%", method, 100*is, 100*stated[0], 100*stated[1],
			100*pooled)
		must.Hold(t, is < pooled/1.5 && is > stated[0]/2 && is < stated[1], "%s errs %g, stated %v, pooled %g", method, is, *stated, pooled)
	}
	t.Run("python", func(t *testing.T) {
		read := "import csv\nrows = list(csv.DictReader(open('fresh.csv')))\nimport numpy as np\n" +
			"X = np.array([[float(r[c]) for c in 'abcd'] + [float(r['shape'] == s) for s in ('flat', 'round')] for r in rows])\n"
		want := readTable(t, filepath.Join(dir, pipeline.Active+".csv"))[1:]
		lines := strings.Split(strings.TrimSpace(runPage(t, dir, "predict.md", "numpy, safetensors", read,
			"\nfor l, y in zip(labels, scores): print(l, *y)\n")), "\n")
		must.Equal(t, len(lines), len(want), "rows")
		for i, line := range lines {
			f := strings.Fields(line)
			must.Equal(t, f[0], want[i][1], "grade of row %d", i)
			for k, v := range f[1:] {
				got, score := must.Get(strconv.ParseFloat(v, 64))(t), must.Get(strconv.ParseFloat(want[i][2+k], 64))(t)
				must.Hold(t, math.Abs(got-score) < 1e-4, "row %d: score %d is %g in Python, %g of amtrl", i, k, got, score)
			}
		}
	})
}
