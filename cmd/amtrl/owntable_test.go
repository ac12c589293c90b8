package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// writePlants writes measurements of seven plants. units holds a scale and an offset for each column. Half of the
// yields are missing, except in plant 6, which has 48 rows.
func writePlants(t *testing.T, path string, units [][2]float64) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f := must.Get(os.Create(path))(t)
	w := csv.NewWriter(f)
	must.Do(t, w.Write([]string{"machine_id", "conductivity", "ph", "pressure", "flow", "plant", "yield"}))
	rng := rand.New(rand.NewPCG(3, 4))
	for plant := range 7 {
		for i := range []int{150, 700, 300, 250, 500, 200, 48}[plant] {
			row, y := []string{fmt.Sprintf("%d-%d", plant, i)}, rng.NormFloat64()
			for j, u := range units {
				x := rng.NormFloat64()
				if y += x * []float64{1, -2, 3, 0.5}[j]; plant%2 == 1 {
					y += 3 * x * float64(j-1)
				}
				row = append(row, strconv.FormatFloat(u[0]*x+u[1], 'g', -1, 64))
			}
			yield := ""
			if plant == 6 || rng.IntN(2) == 0 {
				yield = strconv.FormatFloat(300+40*y, 'g', -1, 64)
			}
			must.Do(t, w.Write(append(row, fmt.Sprint("plant ", plant), yield)))
		}
	}
	w.Flush()
	must.Do(t, w.Error())
	must.Do(t, f.Close())
}

// The drawn rows and the predictions do not depend on the units or the zero points of a table's columns, and without trees,
// which put rows that are as large as a cut on one side of it, not on their direction.
func TestOwnTable(t *testing.T) {
	dir := ownFolder(t)
	var rows string
	var first [][]string
	plain, mirrored := [][2]float64{{1, 0}, {1, 0}, {1, 0}, {1, 0}}, [][2]float64{{1e-4, 3e-4}, {1, 7}, {-1e3, 1e5}, {2e5, 6e5}}
	for _, of := range []struct {
		name  string
		units [][2]float64
		trees bool
	}{
		{"plain", plain, true}, {"other", [][2]float64{{1e-4, 3e-4}, {1, 7}, {1e3, 1e5}, {2e5, 6e5}}, true},
		{"far", [][2]float64{{86, 1.7e9}, {1, 7}, {0.5, -4e8}, {1e-3, 2e4}}, true}, {"lines", plain, false}, {"mirrored", mirrored, false},
	} {
		name, units := of.name, of.units
		work := filepath.Join(dir, name, "plants")
		writePlants(t, filepath.Join(work, "plants.csv"), units)
		succeed(t, work, "data", "init", "plants.csv", "--label", "yield")
		amtrl(t, work, "data", "check", "dataset.yaml").Prints(t, 0, " yield ", ", mean 3", "nothing is odd")
		methods := "active,uniform,target,constant,pooled"
		if of.trees {
			methods += ",trees"
		}
		succeed(t, work, "run", "--data", "dataset.yaml", "--out", "run", "--methods", methods, "--quiet")
		succeed(t, work, "predict", "run", "plants.csv", "--out", "out.csv", "--quiet")
		drawn := string(must.Get(os.ReadFile(filepath.Join(work, "run", "rows.csv")))(t))
		out := readTable(t, filepath.Join(work, "out.csv"))
		if name == "other" {
			t.Run("pandas", func(t *testing.T) { runPage(t, work, "report.md", "pandas", "log = print\n", "") })
			t.Run("python", func(t *testing.T) {
				read := "import csv\nrows = csv.DictReader(open('plants.csv'))\n" +
					"import numpy as np\nX = np.array([[float(r[c]) for c in ('conductivity', 'ph', 'pressure', 'flow')] for r in rows])\n"
				for i, line := range strings.Fields(runPage(t, work, "predict.md", "numpy, safetensors", read, "\nfor y in labels: print(y[0])\n")) {
					got, want := must.Get(strconv.ParseFloat(line, 64))(t), must.Get(strconv.ParseFloat(out[i+1][1], 64))(t)
					must.Hold(t, math.Abs(got-want) < 1e-2, "row %d is %g in Python, %g of amtrl", i, got, want)
				}
			})
		}
		if units[0] == plain[0] {
			rows, first = drawn, out
			continue
		}
		if drawn != rows {
			t.Error("other units draw other rows")
		}
		for i, row := range out[1:] {
			got, want := must.Get(strconv.ParseFloat(row[1], 64))(t), must.Get(strconv.ParseFloat(first[i+1][1], 64))(t)
			if row[0] != first[i+1][0] || math.Abs(got-want) > 0.5 {
				t.Fatalf("row %s has %g, in other units %g", row[0], got, want)
			}
		}
	}
}

// predict --method gives the same predictions as that method's model in place of model.safetensors, whichever folder
// the model is kept in.
func TestOwnTableByMethod(t *testing.T) {
	dir := ownFolder(t)
	writePlants(t, filepath.Join(dir, "plants.csv"), [][2]float64{{1, 0}, {1, 7}, {1e3, 1e5}, {1, 0}})
	succeed(t, dir, "data", "init", "plants.csv", "--label", "yield")
	succeed(t, dir, "run", "--data", "dataset.yaml", "--save", "all", "--out", "run", "--quiet")
	run := filepath.Join(dir, "run")
	res := must.Get(runs.ReadRun(run))(t).Result
	must.Hold(t, res.Recommended != pipeline.Target && len(res.Methods) == 6, "recommended of %d: %s", len(res.Methods), res.Recommended)
	written := 0
	predict := func(run string, more ...string) string {
		t.Helper()
		written++
		name := fmt.Sprint(written, ".csv")
		o := succeed(t, dir, append([]string{"predict", run, "plants.csv", "--out", name, "--quiet"}, more...)...)
		return o.Stdout + string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t))
	}
	recommended, want, phi := predict("run"), map[string]string{}, map[string]string{}
	for _, m := range res.Methods {
		alone := filepath.Join(dir, m.Method)
		must.Do(t, os.CopyFS(alone, os.DirFS(run)))
		model := must.Get(os.ReadFile(filepath.Join(run, "checkpoint", m.Method+".safetensors")))(t)
		must.Do(t, os.WriteFile(filepath.Join(alone, "model.safetensors"), model, 0o644))
		must.Do(t, os.Remove(filepath.Join(alone, "result.json"))) // which lists the recommended model
		want[m.Method] = predict(m.Method)
		own := predict("run", "--method", m.Method)
		must.Hold(t, own == want[m.Method], "%s predicts other than its model in the place of the run's", m.Method)
		must.Hold(t, (own == recommended) == (m.Method == res.Recommended), "%s, where %s is recommended: the same predictions or not",
			m.Method, res.Recommended)
		phi[m.Method] = predict("run", "--method", m.Method, "--embed")
		must.Hold(t, phi[m.Method] == predict(m.Method, "--embed"), "%s has another phi than its model in the place of the run's", m.Method)
	}
	must.Hold(t, phi["active"] != phi["uniform"] && phi["active"] != phi["target"], "the phi of active is that of another")
	o := under(t, dir, []string{"AMTRL_METHOD=target"}, "predict", "run", "plants.csv", "--out", "env.csv", "--quiet").Succeeds(t)
	must.Hold(t, o.Stdout+string(must.Get(os.ReadFile(filepath.Join(dir, "env.csv")))(t)) == want["target"], "the environment's method")
	bad := []string{"predict", "run", "plants.csv", "--out", "bad.csv", "--method"}
	amtrl(t, dir, append(bad, "known")...).ComplainsLast(t, 1,
		`run: expected a method whose model is there (active, uniform, target, constant, pooled, trees), found "known"`)
	must.Do(t, os.RemoveAll(filepath.Join(run, "checkpoint")))
	must.Hold(t, predict("run", "--method", "target") == want["target"], "target predicts otherwise from models")
	must.Do(t, os.RemoveAll(filepath.Join(run, "models")))
	must.Hold(t, predict("run", "--method", res.Recommended) == recommended, "%s predicts otherwise without its own file", res.Recommended)
	amtrl(t, dir, append(bad, "target")...).ComplainsLast(t, 1,
		"run: expected a method whose model is there ("+res.Recommended+`), found "target"`)
	must.Absent(t, filepath.Join(dir, "bad.csv"))
}

// A table with missing cells needs no further settings: init fills them, info and check count them, and predict, like
// the Python code, fills them with the same means.
func TestOwnTableWithGaps(t *testing.T) {
	dir := ownFolder(t)
	path := filepath.Join(dir, "plants.csv")
	writePlants(t, path, [][2]float64{{1, 0}, {1, 7}, {1e3, 1e5}, {1, 0}})
	rows, missing := readTable(t, path), 0
	var text strings.Builder
	for i, row := range rows {
		if i%11 == 5 {
			row[3] = ""
			missing++
		}
		if y, err := strconv.ParseFloat(row[6], 64); err == nil && y > 300 {
			row[6] = "high"
		} else if err == nil {
			row[6] = "low"
		}
		text.WriteString(strings.Join(row, ",") + "\n")
	}
	must.Do(t, os.WriteFile(path, []byte(text.String()), 0o644))
	amtrl(t, dir, "data", "init", "plants.csv", "--label", "yield").Prints(t, 0, "features  conductivity, ph, pressure, flow\n",
		fmt.Sprintf("fill      mean of the column into missing cells, with a feature that says which were: pressure (%d of %d,%03d)\n", missing,
			(len(rows)-1)/1000, (len(rows)-1)%1000))
	amtrl(t, dir, "data", "info", "dataset.yaml").Prints(t, 0,
		fmt.Sprintf("missing cells, with the mean of the column: pressure %d\n", missing))
	amtrl(t, dir, "data", "check", "dataset.yaml").Prints(t, 0,
		fmt.Sprintf("\nfilled missing cells with the mean of the column: pressure %d\n", missing), "nothing is odd")
	got := amtrltest.JSON[checkResult](t, succeed(t, dir, "data", "check", "dataset.yaml", "--json"))
	must.EqualSlices(t, got.Filled, []dataset.FilledColumn{{Column: "pressure", Cells: int64(missing)}}, "filled columns")
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "run", "--quiet")
	amtrl(t, dir, "predict", "run", "plants.csv", "--out", "out.csv").Complains(t, 0,
		fmt.Sprintf("filled missing cells with the means of the run: pressure %d\n", missing))
	t.Run("python", func(t *testing.T) {
		read := "import csv\nrows = list(csv.DictReader(open('plants.csv')))\n" +
			"import numpy as np\nX = np.array([[float(r[c] or 'nan') for c in ('conductivity', 'ph', 'pressure', 'flow')] for r in rows])\n"
		script := "\nfor y in scores: print(y[-1])\n"
		want := readTable(t, filepath.Join(dir, "out.csv"))[1:]
		for i, line := range strings.Fields(runPage(t, dir, "predict.md", "numpy, safetensors", read, script)) {
			x, y := must.Get(strconv.ParseFloat(line, 64))(t), must.Get(strconv.ParseFloat(want[i][3], 64))(t)
			must.Hold(t, math.Abs(x-y) < 1e-4, "row %d is %g in Python, %g of amtrl", i, x, y)
		}
	})
}

// makePatients returns rows of six clinics, the last of them the target. Each has a list of an age, an income, a share
// and a number of visits, and an answer.
func makePatients() (rows []review) {
	rng := rand.New(rand.NewPCG(5, 6))
	for clinic := range 6 {
		for i := range []int{300, 200, 250, 300, 200, 60}[clinic] {
			r := review{ID: fmt.Sprintf("%d/%d", clinic, i), Shop: fmt.Sprint("clinic ", clinic)}
			y, answer := 0.3*rng.NormFloat64(), "no"
			for j, u := range [][2]float64{{13, 45}, {2e4, 4e4}, {0.01, 0.05}, {3, 5}} {
				x := rng.NormFloat64()
				if y += x * []float64{1, -2, 3, 0.5}[j]; clinic%2 == 0 {
					y += 3 * x * float64(j-1)
				}
				r.Embedding = append(r.Embedding, float32(u[0]*x+u[1]))
			}
			if y > 0 {
				answer = "yes"
			}
			r.Label = &answer
			rows = append(rows, r)
		}
	}
	return rows
}

// Elements of lists in different units are each scaled by their own spread, with the same results whether the run or
// the import scales them. The model takes the unscaled lists, in Python too.
func TestOwnLists(t *testing.T) {
	dir := ownFolder(t)
	rows, drawn := makePatients(), ""
	var first [][]string
	for _, imported := range []bool{false, true} {
		work := filepath.Join(dir, fmt.Sprint(imported), "patients")
		writeReviews(t, filepath.Join(work, "patients.csv"), rows)
		succeed(t, work, "data", "init", "patients.csv", "--target", "clinic 5")
		run, says := []string{"run", "--data", "dataset.yaml", "--out", "run"}, "chose scaling feature: features differ in their units"
		if path := filepath.Join(work, "dataset.yaml"); imported {
			text := string(must.Get(os.ReadFile(path))(t))
			must.Do(t, os.WriteFile(path, []byte(strings.Replace(text, "columns:\n", "columns:\n  scale: feature\n", 1)), 0o644))
			o := amtrl(t, work, append(run, "--dry-run")...)
			o.Complains(t, 0, "chose scaling global: features have one unit")
			if !regexp.MustCompile(`(?m)^scaling +global$`).MatchString(o.Stdout) {
				t.Errorf("the settings show no scaling:\n%s", o.Stdout)
			}
			run, says = append(run, "--scaling", "feature"), ""
		}
		amtrl(t, work, run...).Complains(t, 0, says)
		succeed(t, work, "predict", "run", "patients.csv", "--out", "out.csv", "--quiet")
		now := string(must.Get(os.ReadFile(filepath.Join(work, "run", "rows.csv")))(t))
		out := readTable(t, filepath.Join(work, "out.csv"))
		if !imported {
			drawn, first = now, out
			continue
		}
		t.Run("python", func(t *testing.T) { checkInPython(t, work, rows, "out.csv") })
		model := string(must.Get(os.ReadFile(filepath.Join(work, "run", "model.safetensors")))(t))
		must.Hold(t, strings.Contains(model, `"spread"`) && !strings.Contains(model, `"low"`), "elements of a list have ranges of columns")
		if drawn != now {
			t.Error("scaled features draw other rows")
		}
		for i, row := range out[1:] {
			got, want := must.Get(strconv.ParseFloat(row[3], 64))(t), must.Get(strconv.ParseFloat(first[i+1][3], 64))(t)
			if math.Abs(got-want) > 5e-3 {
				t.Fatalf("row %v, without an own scale when imported %v", row, first[i+1])
			}
		}
	}
}

// If all samples of a target have the same features, they say nothing about other rows: rounding errors must not become
// predictions.
func TestOwnTableOfSameRows(t *testing.T) {
	rng := testrand.New(t)
	for _, name := range []string{"0", "not 0"} { // in order, so that a seed repeats the test
		value := map[string]float64{"0": 0, "not 0": 0.1 + rng.Float64()}[name]
		for _, kind := range []string{"number", "classes"} {
			dir := ownFolder(t)
			rows := [][]string{{"shop", "y", "f0", "f1", "f2"}}
			for s := range 5 {
				for i := range 60 {
					row, y := []string{fmt.Sprint("shop ", s), ""}, 3*rng.NormFloat64()
					for j := range 3 {
						x := rng.NormFloat64()
						if s == 4 {
							x = value * float64(1+j)
						}
						y += x
						row = append(row, strconv.FormatFloat(x, 'g', 7, 64))
					}
					row[1] = strconv.FormatFloat(y, 'g', 7, 64)
					if kind == "classes" {
						row[1] = strconv.FormatBool(y > 0 || s == 4 && i%3 == 0)
					}
					rows = append(rows, row)
				}
			}
			f := must.Get(os.Create(filepath.Join(dir, "shops.csv")))(t)
			must.Do(t, csv.NewWriter(f).WriteAll(rows))
			must.Do(t, f.Close())
			manifest := "files: shops.csv\ncolumns: {source: shop, features: f*}\nlabels: [{column: y, type: " + kind +
				"}]\ntarget: {source: shop 4}\n"
			must.Do(t, os.WriteFile(filepath.Join(dir, "shops.yaml"), []byte(manifest), 0o644))
			succeed(t, dir, "run", "--data", "shops.yaml", "--methods", "active,target", "--relevance", "ridge", "--out", "run", "--quiet")
			succeed(t, dir, "predict", "run", "shops.csv", "--out", "out.csv", "--quiet")
			least, most := -100.0, 100.0
			if kind == "classes" {
				least, most = 1e-5, 1-1e-5
			}
			for i, row := range readTable(t, filepath.Join(dir, "out.csv"))[1:] {
				if v := must.Get(strconv.ParseFloat(row[len(row)-1], 64))(t); !(v > least && v < most) {
					t.Fatalf("%s, features %s: row %d has %v, expected a prediction between %g and %g", kind, name, i, row, least, most)
				}
			}
		}
	}
}
