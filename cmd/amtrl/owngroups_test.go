package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/runs"
)

// writeVisits writes visits of patients of seven clinics, the last of which is new and has 12 patients with 5 visits
// each. Each patient has a shift of their own in all measurements and in the outcome. In clinics 0 to 2 the outcome
// depends on the measurements as it does in the new one. The file fresh.csv holds visits of 200 other patients of the
// new clinic.
func writeVisits(t *testing.T, dir string) {
	t.Helper()
	const d = 20
	must.Do(t, os.MkdirAll(dir, 0o755))
	rng, out := rand.New(rand.NewPCG(7, 8)), strings.Builder{}
	normals := func() []float64 {
		v := make([]float64, d)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	header := "visit,clinic,patient,outcome"
	for j := range d {
		header += fmt.Sprint(",m", j)
	}
	out.WriteString(header)
	like, visit := normals(), 0
	for clinic := range 8 {
		name, patients, w := fmt.Sprint("clinic ", clinic), 100, like
		switch {
		case clinic > 5:
			name, patients = "new clinic", 12
		case clinic > 2:
			w = normals()
		}
		if clinic == 7 {
			must.Do(t, os.WriteFile(filepath.Join(dir, "visits.csv"), []byte(out.String()+"\n"), 0o644))
			out.Reset()
			out.WriteString(header)
			patients = 200
		}
		for p := range patients {
			shift, own := normals(), rng.NormFloat64()
			for range 5 {
				y, x := own+0.5*rng.NormFloat64(), normals()
				for j := range x {
					x[j] = 0.5*x[j] + shift[j]
					y += w[j] * x[j] / math.Sqrt(d)
				}
				fmt.Fprintf(&out, "\n%d,%s,p%d-%d,%.4f", visit, name, clinic, p, y)
				for _, v := range x {
					fmt.Fprintf(&out, ",%.4f", v)
				}
				visit++
			}
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "fresh.csv"), []byte(out.String()+"\n"), 0o644))
}

// The visits of a patient are left out together, and all outputs say so. Without the group column the stated error is
// only a fraction of the right one.
func TestOwnGroups(t *testing.T) {
	work := filepath.Join(ownFolder(t), "visits")
	writeVisits(t, work)
	amtrl(t, work, "data", "init", "visits.csv", "--label", "outcome", "--target", "new clinic", "--out", "without.yaml").
		Prints(t, 0, "patient (text of many values; where its rows belong together, --group patient)")
	amtrl(t, work, "data", "init", "visits.csv", "--label", "outcome", "--target", "new clinic", "--group", "patient").
		Prints(t, 0, "group     patient", "new clinic (60 of 60 rows labelled), beside 6 sources",
			"wrote dataset.yaml: read it, then amtrl data check dataset.yaml")
	amtrl(t, work, "data", "check", "dataset.yaml").
		Prints(t, 0, "in groups", "new clinic (target)    60        60         12", "nothing is odd")
	amtrl(t, work, "data", "check", "without.yaml").
		Prints(t, 0, "of column patient are there more than once", "write group: patient under columns")
	run := amtrl(t, work, "run", "--data", "dataset.yaml", "--out", "run")
	run.Prints(t, 0, " over 60 rows in 12 groups)", "60 samples in 12 groups, left out together, count as 12")
	run.Complains(t, 0, "scores leave one group out")
	const hint = "of column patient are there more than once: where its rows belong together, write group: patient under columns, or the error"
	must.Hold(t, !strings.Contains(run.Stderr, "belong together"), "a run with groups says %s", run.Stderr)
	amtrl(t, work, "run", "--data", "without.yaml", "--out", "without").Complains(t, 0, hint)
	manifest := string(must.Get(os.ReadFile(filepath.Join(work, "dataset.yaml")))(t))
	must.Hold(t, !strings.Contains(manifest, "products"), "groups and products:\n%s", manifest)
	manifest = strings.Replace(manifest, "  knots: 5", "  products: true\n  knots: 5", 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "products.yaml"), []byte(manifest), 0o644))
	succeed(t, work, "run", "--data", "products.yaml", "--out", "products", "--quiet")
	var with, without runs.Result
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(work, "run", "result.json")))(t), &with))
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(work, "without", "result.json")))(t), &without))
	must.Hold(t, with.Groups == 12 && with.CountAs == 12 && with.Methods[0].Groups == 12 && with.Comparisons[0].Groups == 12 &&
		without.Groups == 0, "groups of a result: %+v", with)
	for i, m := range with.Methods[:3] {
		must.Hold(t, m.Score.Value > 1.5*without.Methods[i].Score.Value, "%s states %g, without groups %g", m.Method, m.Score.Value,
			without.Methods[i].Score.Value)
	}
	fresh := map[string]float64{}
	for _, run := range []string{"run", "without", "products"} {
		var e []runs.Evaluation
		out := succeed(t, work, "predict", run, "fresh.csv", "--out", run+".csv", "--json")
		must.Do(t, json.Unmarshal([]byte(out.Stdout), &e))
		fresh[run] = e[0].Numbers.MSE
	}
	m, n := with.Method(with.Recommended), without.Method(without.Recommended)
	t.Logf("with the column %s states %.3g (95 %% interval %.2g to %.3g) and errs %.3g on other patients", m.Method, m.Score.Value,
		m.Interval[0], m.Interval[1], fresh["run"])
	t.Logf("with products, which data init does not write beside groups, it errs %.3g", fresh["products"])
	t.Logf("without %s states %.2g (%.2g to %.2g), target %.2g, and errs %.3g", n.Method, n.Score.Value, n.Interval[0], n.Interval[1],
		without.Method("target").Score.Value, fresh["without"])
	honest := m.Interval[0] < fresh["run"] && fresh["run"] < m.Interval[1] && n.Interval[1] < fresh["without"]
	must.Hold(t, fresh["run"] < fresh["without"] && honest,
		"fresh patients are predicted with errors %v, stated are %v and %v", fresh, *m.Interval, *n.Interval)
	succeed(t, work, "report", "run", "--out", "page.html", "--quiet")
	page := string(must.Get(os.ReadFile(filepath.Join(work, "page.html")))(t))
	for _, part := range []string{"60 samples in 12 groups, each group left out in turn", "which count as"} {
		must.Hold(t, strings.Contains(page, part), "the page lacks %q", part)
	}
	amtrl(t, work, "run", "--data", "without.yaml", "--out", "run").ComplainsLast(t, 1, "the data are")
	// Folds hold out whole patients, and a split that divides a patient is refused.
	text := string(must.Get(os.ReadFile(filepath.Join(work, "dataset.yaml")))(t))
	folds := strings.Replace(text, "target: {source: new clinic}", "target: {source: new clinic, folds: 5}", 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "folds.yaml"), []byte(folds), 0o644))
	amtrl(t, work, "run", "--data", "folds.yaml", "--out", "folds").Prints(t, 0, " over 10 rows in 2 groups)")
	visits := strings.Split(string(must.Get(os.ReadFile(filepath.Join(work, "visits.csv")))(t)), "\n")
	for i, line := range visits {
		visits[i] += map[bool]string{true: ",split", false: []string{",train", ",test"}[i%2]}[i == 0]
		if line == "" {
			visits[i] = ""
		}
	}
	must.Do(t, os.WriteFile(filepath.Join(work, "split.csv"), []byte(strings.Join(visits, "\n")), 0o644))
	split := strings.Replace(strings.Replace(text, "visits.csv", "split.csv", 1), "  group:", "  split: split\n  group:", 1)
	must.Do(t, os.WriteFile(filepath.Join(work, "split.yaml"), []byte(split), 0o644))
	amtrl(t, work, "data", "check", "split.yaml").Prints(t, 1, "30 rows for tests, of 30, are of a group with rows to draw from")
	amtrl(t, work, "run", "--data", "split.yaml", "--out", "split").
		ComplainsLast(t, 1, "expected all rows of a group on one side of the split")
}

// A study also leaves the visits of a patient of the target out together, and its status says so.
func TestStudyOfGroups(t *testing.T) {
	work := filepath.Join(ownFolder(t), "visits")
	writeVisits(t, work)
	succeed(t, work, "data", "init", "visits.csv", "--label", "outcome", "--target", "new clinic", "--group", "patient", "--quiet")
	succeed(t, work, "study", "new", "campaign", "--data", "dataset.yaml", "--budget", "300", "--epochs", "2", "--k", "6", "--quiet")
	for range 2 {
		succeed(t, work, "study", "fit", "campaign", "--quiet")
	}
	amtrl(t, work, "study", "status", "campaign").
		Prints(t, 0, "and 60 of the target in 12 groups:", ", each group of the target's samples left out")
	succeed(t, work, "study", "verify", "campaign")
}
