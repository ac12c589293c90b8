package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The same finding about more than three sources is one row of the table, at the place of the first of them.
func TestOddTable(t *testing.T) {
	rows := oddTable([]dataset.Oddity{{Pool: "a", Found: "f", Advice: "x"}, {Pool: "b", Found: "g", Advice: "x"},
		{Pool: "b", Found: "f", Advice: "x"}, {Pool: "c", Found: "f", Advice: "x"}, {Pool: "c", Found: "g", Advice: "x"},
		{Pool: "d", Found: "f", Advice: "x"}, {Found: "f", Advice: "x"}}).Rows
	want := [][]string{{"a, b, c and 1 more", "f", "x"}, {"b", "g", "x"}, {"c", "g", "x"}, {"(all)", "f", "x"}}
	must.Equal(t, len(rows), len(want), "rows")
	for i := range want {
		must.EqualSlices(t, rows[i], want[i], "row %d", i)
	}
}

// An error about data without labels of the target names the data by the name given on the command line, and the
// command that asks for labels.
func TestCheckWithoutLabels(t *testing.T) {
	dir := ownFolder(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("source,y,x\ns,a,1\ns,b,2\nt,,4\n"), 0o644))
	made := "files: rows.csv\ncolumns: {source: source, features: x}\nlabels: [{column: y, classes: [a, b]}]\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.yaml"), []byte(made+"target: {source: t}\n"), 0o644))
	amtrl(t, dir, "data", "check", "rows.yaml").Complains(t, 1, "amtrl: rows.yaml: the target t has no labelled rows: a study asks for "+
		"labels: amtrl study new STUDY --data rows.yaml --round-budget N --target-samples N")
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("source,y,x\ns,,1\ns,,2\nt,,4\n"), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "any.yaml"), []byte(made), 0o644))
	amtrl(t, dir, "data", "check", "any.yaml").Complains(t, 1, "any.yaml: no source has labelled rows", "--target SOURCE")
}

// If one feature alone tells the label, a run says so in the words of data check.
func TestRunNamesTellingFeature(t *testing.T) {
	dir := ownFolder(t)
	var rows strings.Builder
	rows.WriteString("source,y,x,refund\n")
	for i := range 200 {
		refund := 0
		if i%3 == 0 {
			refund = 10 + i%7
		}
		fmt.Fprintf(&rows, "s%d,%t,%d,%d\n", i%4, i%3 == 0, i*i%11, refund)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows.String()), 0o644))
	made := "files: rows.csv\ncolumns: {source: source, features: [x, refund]}\nlabels: [{column: y, type: binary}]\ntarget: {source: s0}\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.yaml"), []byte(made), 0o644))
	says := "the feature in column refund tells the label y alone"
	amtrl(t, dir, "data", "check", "rows.yaml").Prints(t, 0, says)
	out := filepath.Join(dir, "out")
	amtrl(t, dir, "run", "--data", "rows.yaml", "--out", out).Complains(t, 0, "note: "+says+": leave it out")
	amtrl(t, dir, "report", out, "--format", "markdown", "--out", "-").Prints(t, 0, "Of the data: "+says)
	amtrl(t, dir, "run", "--data", "rows.yaml", "--out", out).Complains(t, 0, "already complete")
}

// Numbers some of which are given as "<4.5" are taken for classes. data init says so, with what to do, and so do data check and a run.
func TestNumbersTakenForClasses(t *testing.T) {
	dir := ownFolder(t)
	var rows strings.Builder
	rows.WriteString("source,activity,x\n")
	for i := range 400 {
		activity := fmt.Sprintf("%.1f", 4.5+float64(i*7%41)/10)
		if i%4 == 3 {
			activity = "<4.5"
		}
		fmt.Fprintf(&rows, "s%d,%s,%d.5\n", i/100, activity, i*i%211)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows.String()), 0o644))
	const do = "where it is a quantity, write the others as numbers, leave them empty or list them under missing, and say type: number"
	amtrl(t, dir, "data", "init", "rows.csv", "--label", "activity", "--target", "s0", "--out", "rows.yaml").Prints(t, 0,
		"a number?  activity: 300 of 400 labels are numbers; 100 are not, the first \"<4.5\": "+do)
	const found = "300 of 400 labels of activity are numbers; 100 are not, the first \"<4.5\" in "
	amtrl(t, dir, "data", "check", "rows.yaml").Prints(t, 0, found+"rows.csv: line 5", do)
	succeed(t, dir, "run", "--data", "rows.yaml", "--out", "out").Complains(t, 0, "note: "+found+"rows.csv: line 5: "+do)
	path := filepath.Join(dir, "rows.yaml")
	text := string(must.Get(os.ReadFile(path))(t))
	text = strings.Replace(strings.Replace(text, "type: classes", "type: number", 1), `missing: [""]`, `missing: ["", "<4.5"]`, 1)
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	as := succeed(t, dir, "data", "check", "rows.yaml").Stdout
	must.Hold(t, strings.Contains(as, "activity 4.5 to 8.5") && !strings.Contains(as, "quantity"), "as numbers:\n%s", as)
}

// A warning of a run names the file and the line. The result stores it in a form that does not depend on where the data
// are; once finished, it does not change.
func TestWarningsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePrices(t, dir, testrand.New(t))
	path := filepath.Join(dir, "shops.csv")
	text := strings.Split(string(must.Get(os.ReadFile(path))(t)), "\n")
	cells := strings.Split(text[7], ",")
	cells[7] = "1e6"
	text[7] = strings.Join(cells, ",")
	must.Do(t, os.WriteFile(path, []byte(strings.Join(text, "\n")), 0o644))
	manifestOf(t, dir, "dataset.yaml", "logs", "")
	elsewhere := t.TempDir()
	result := func(dir string) string {
		return string(must.Get(os.ReadFile(filepath.Join(dir, "out", "result.json")))(t))
	}
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "out").Complains(t, 0, "the first 1e+06 in shops.csv: line 8")
	kept := result(dir)
	must.Hold(t, strings.Contains(kept, "the first 1e+06 in row ") && !strings.Contains(kept, dir), "%s", kept)
	manifest := filepath.Join(dir, "dataset.yaml")
	succeed(t, elsewhere, "run", "--data", manifest, "--out", "out")
	must.Equal(t, result(elsewhere), kept, "the result of data elsewhere")
	succeed(t, elsewhere, "run", "--data", manifest, "--out", filepath.Join(dir, "out")).Complains(t, 0, "already complete")
	must.Equal(t, result(dir), kept, "the finished result")
}
