package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/testrand"
)

// writeShops writes rows of five shops, a third of them without a label, and their manifest, and returns the folder.
// The class is the sign of the first of four features.
func writeShops(t *testing.T) (dir string) {
	t.Helper()
	dir = ownFolder(t)
	rng := testrand.New(t)
	var text strings.Builder
	text.WriteString("shop,label,embedding\n")
	for i := range 600 {
		var x [4]float64
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		label := "good"
		if x[0] < 0 {
			label = "bad"
		}
		if i%3 == 0 {
			label = ""
		}
		fmt.Fprintf(&text, "shop %d,%s,\"[%g, %g, %g, %g]\"\n", i%5, label, x[0], x[1], x[2], x[3])
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "shops.csv"), []byte(text.String()), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(dir, "shops.yaml"), []byte("files: shops.csv\ncolumns: {source: shop, features: embedding}\n"+
		"labels: [{column: label}]\ntarget: {source: shop 4}\n"), 0o644))
	return dir
}

// A manifest is imported once, into the user's cache, and a run on it has the same result as a run on the folder that
// data import writes.
func TestRunOnManifest(t *testing.T) {
	dir := writeShops(t)
	run := func(data, out string) outcome {
		return succeed(t, dir, "run", "--data", data, "--target-samples", "20", "--k", "2", "--budget", "200", "--floor", "5", "--out", out)
	}
	first := run("shops.yaml", "a")
	first.Complains(t, 0, "importing shops.yaml into ")
	first.Prints(t, 0, "target shop 4 of shops")
	if again := run("shops.yaml", "b"); strings.Contains(again.Stderr, "importing") {
		t.Errorf("imported again:\n%s", again.Stderr)
	}
	succeed(t, dir, "data", "import", "shops.yaml", "--out", "folder")
	run("folder", "c")
	want := must.Get(os.ReadFile(filepath.Join(dir, "a", "result.json")))(t)
	for _, out := range []string{"b", "c"} {
		if got := must.Get(os.ReadFile(filepath.Join(dir, out, "result.json")))(t); string(got) != string(want) {
			t.Errorf("run %s has another result:\n%s\n%s", out, got, want)
		}
	}
	amtrl(t, dir, "run", "--data", "shops.csv").ComplainsOnce(t, 1, "amtrl data init shops.csv makes one")
}

// A run needs no settings: it chooses settings that suit a small target, and says why. A setting that a flag gives is
// not chosen.
func TestRunFitsTheData(t *testing.T) {
	dir := writeShops(t)
	amtrl(t, dir, "run", "--data", "shops.yaml", "--out", "plain").Complains(t, 0,
		"chose target-samples 80: all labelled rows of the target", "chose k 4: ", "chose schedule budget 160: half of", "chose floor ",
		"chose scaling global: features have one unit")
	if !strings.Contains(string(must.Get(os.ReadFile(filepath.Join(dir, "plain", "result.json")))(t)), `"leave_one_out": true`) {
		t.Error("the score is not marked as leave-one-out")
	}
	o := succeed(t, dir, "run", "--data", "shops.yaml", "--out", "given",
		"--target-samples", "50", "--k", "2", "--budget", "100", "--floor", "3", "--scaling", "global")
	if strings.Contains(o.Stderr, "chose") {
		t.Errorf("what is given is chosen:\n%s", o.Stderr)
	}
	for _, more := range [][]string{nil, {"--dry-run"}} {
		amtrl(t, dir, append([]string{"run", "--data", "shops.yaml", "--target-samples", "81", "--quiet"}, more...)...).
			ComplainsOnce(t, 1, "has 80 rows to draw from")
	}
}

// run and sweep name a width that a representation cannot have, or for which minnorm has no solution.
func TestWidthIsNoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := []string{"--data", "synthetic:sparse", "--dim", "10", "--rank", "3", "--sources", "7", "--rows", "500", "--preset", "paper",
		"--floor", "2", "--target-samples", "30", "--iterations", "5", "--dry-run"}
	run := func(more ...string) outcome {
		return succeed(t, dir, append(append([]string{"run", "--budget", "100"}, data...), more...)...)
	}
	const rows, outputs = "is more than the 10 numbers of a row", "is more than the 7 outputs of the sources: no nu solves W nu = w"
	run("--k", "11").Complains(t, 0, "note: --k 11 "+rows, "note: --k 11 "+outputs)
	for _, o := range []outcome{run("--k", "7"), run("--k", "8", "--relevance", "ridge")} {
		must.Hold(t, !strings.Contains(o.Stderr, "is more than"), "%s", o.Stderr)
	}
	sweep := append([]string{"sweep", "--budgets", "100", "--targets", "target", "--k", "8"}, data...)
	succeed(t, dir, sweep...).Complains(t, 0, "note: --k 8 "+outputs)
}

// run, its report and data check name the classes of which the target has no sample.
func TestRunNotesUnseenClasses(t *testing.T) {
	dir := writeShops(t)
	dry := []string{"run", "--data", "shops.yaml", "--dry-run"}
	o := succeed(t, dir, dry...)
	must.Hold(t, !strings.Contains(o.Stderr, "note:"), "all classes are there:\n%s", o.Stderr)
	amtrl(t, dir, append(dry, "--target-samples", "1")...).Complains(t, 0, "note: shop 4: it has 1 sample, none of class ",
		"from the sources alone\n")
	path := filepath.Join(dir, "shops.csv")
	text := string(must.Get(os.ReadFile(path))(t))
	must.Do(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "shop 4,bad", "shop 4,")), 0o644))
	amtrl(t, dir, dry...).Complains(t, 0, `samples, none of class "bad" of label: `+
		"what the model knows of that is from the sources alone, and the stated error counts no such row")
	amtrl(t, dir, append(dry, "--head-loss", "squared")...).Complains(t, 0,
		"of label: a class without a sample is never predicted, and the stated error counts")
	succeed(t, dir, "run", "--data", "shops.yaml", "--out", "few")
	const says = `none of class "bad" of label: what the model knows of that is from the sources alone`
	amtrl(t, dir, "report", "few", "--format", "markdown").Prints(t, 0, "Of the data: shop 4: it has ", says)
	amtrl(t, dir, "data", "check", "shops.yaml").Prints(t, 0, `no labelled sample is of class "bad" of label, which sources have`)
}

// data check names what is odd, and fails if a run would fail.
func TestDataCheck(t *testing.T) {
	dir := writeShops(t)
	amtrl(t, dir, "data", "check", "shops.yaml").Prints(t, 0, "nothing is odd", "shop 4 (target)")
	amtrl(t, dir, "data", "check", "shops.yaml", "--json").Prints(t, 0, `"oddities": []`)
	path := filepath.Join(dir, "shops.csv")
	text := string(must.Get(os.ReadFile(path))(t))
	last := text[strings.LastIndex(text[:len(text)-1], "\n")+1:] // a row of shop 4
	must.Do(t, os.WriteFile(path, []byte(text+strings.Replace(last, "shop 4", "shop 2", 1)), 0o644))
	got := amtrltest.JSON[checkResult](t, succeed(t, dir, "data", "check", "shops.yaml", "--json"))
	if len(got.Oddities) != 1 || got.Oddities[0].Pool != "shop 2" ||
		!strings.Contains(got.Oddities[0].Found,
			"1 of 121 rows has the features of a row of the target: shops.csv: line 602, like shops.csv: line 601") {
		t.Errorf("found %+v", got.Oddities)
	}
	alone := strings.ReplaceAll(string(must.Get(os.ReadFile(filepath.Join(dir, "shops.yaml")))(t))+"sources: {include: [shop 4]}\n", "\t", "")
	must.Do(t, os.WriteFile(filepath.Join(dir, "alone.yaml"), []byte(alone), 0o644))
	for _, more := range [][]string{nil, {"--json"}} {
		amtrl(t, dir, append([]string{"data", "check", "alone.yaml"}, more...)...).Complains(t, 1,
			"a run would be refused: ", "expected at least one source beside the target")
	}
}

// data init guesses what the manifest of the shops says, and does not overwrite a file.
func TestDataInit(t *testing.T) {
	dir := writeShops(t)
	amtrl(t, dir, "data", "init", "shops.csv", "--target", "shop 4").Prints(t, 0,
		"source    shop", "features  embedding", "label     label (binary)", "wrote dataset.yaml")
	guess := string(must.Get(os.ReadFile(filepath.Join(dir, "dataset.yaml")))(t))
	must.Do(t, os.WriteFile(filepath.Join(dir, "classes.yaml"), []byte(strings.Replace(guess, "type: binary", "type: classes", 1)), 0o644))
	if a, b := describeJSON(t, dir, "classes.yaml"), describeJSON(t, dir, "shops.yaml"); a.SHA256 != b.SHA256 || len(a.Tasks) != 10 {
		t.Errorf("the guess is %+v, the manifest %+v", a, b)
	}
	amtrl(t, dir, "data", "info", "shops.yaml").Prints(t, 0, "shop 4 (target)", "labelled")
	for _, p := range describeJSON(t, dir, "shops.yaml").Pools {
		if p.Rows != 120 || p.Labelled != 80 || p.Cost != 1 || p.Target != (p.Name == "shop 4") {
			t.Errorf("unexpected pool %+v", p)
		}
	}
	if d := describeJSON(t, dir, "dataset.yaml"); len(d.Tasks) != 5 {
		t.Errorf("%d tasks of a binary label in five shops", len(d.Tasks))
	}
	amtrl(t, dir, "data", "init", "shops.csv").Complains(t, 1, "dataset.yaml: expected no such file")
	for range 2 { // nothing is there that a second one would overwrite
		o := amtrl(t, dir, "data", "init", "shops.csv", "--target", "shop 4", "--out", "-").Succeeds(t)
		must.Equal(t, o.Stdout, guess, "the manifest on standard output")
		must.Hold(t, strings.Contains(o.Stderr, "label (binary)") && !strings.Contains(o.Stderr, "wrote"), "%s", o.Stderr)
	}
	must.Absent(t, filepath.Join(dir, "-"))
	amtrl(t, dir, "data", "init").Complains(t, 2)
}

// A row that has labels in several columns counts once.
func TestDescribeCountsRows(t *testing.T) {
	set := &dataset.Set{Name: "own", Binary: true, Pools: []*dataset.Pool{{Name: "a", Rows: 6, Cols: 1, Scale: 1, F32: make([]float32, 6)}}}
	for _, rows := range []struct{ train, test []int32 }{{[]int32{0, 1}, []int32{2}}, {[]int32{1, 3, 4}, []int32{2, 5}}} {
		set.Tasks = append(set.Tasks, dataset.Task{Output: dataset.Output{Name: fmt.Sprint("column ", len(set.Tasks)), Class: "x"},
			Labels: make([]float32, 6), Train: rows.train, Test: rows.test})
	}
	p := set.Describe().Pools[0]
	must.Hold(t, p.Train == 4 && p.Test == 2 && p.Labelled == 6, "%+v", p)
}

// If there are several columns of labels, the table puts the column's name before each class.
func TestTableNamesColumns(t *testing.T) {
	dir := t.TempDir()
	rows := "place,a,b,x\n"
	for i := range 12 {
		rows += fmt.Sprintf("%c,%s,%s,%d\n", 'p'+i%2, []string{"yes", "no"}[i/2%2], []string{"no", "yes"}[i/3%2], i)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o644))
	for labels, want := range map[string]string{"[{column: a}, {column: b}]": "a: no ", "[{column: a}]": " no "} {
		manifest := "{files: rows.csv, columns: {source: place, features: x}, labels: " + labels + "}"
		must.Do(t, os.WriteFile(filepath.Join(dir, "d.yaml"), []byte(manifest), 0o644))
		found := succeed(t, dir, "data", "check", "d.yaml").Stdout
		must.Hold(t, strings.Contains(found, want) && strings.Contains(found, "a: ") == (want[0] == 'a'), "labels %s:\n%s", labels, found)
	}
}

// In a folder JSON files are the data if they are alone; beside tables or arrays they describe these. A JSON file given
// as --data is a manifest.
func TestFolderWithJSON(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, want string }{{"a.json", "a.json"}, {"b.npy", "b.npy"}, {"c.csv", "c.csv"}} {
		must.Do(t, os.WriteFile(filepath.Join(dir, c.name), []byte("{}"), 0o644))
		must.EqualSlices(t, must.Get(expandFolders([]string{dir}))(t), []string{filepath.Join(dir, c.want)}, "tables with %s", c.name)
	}
	work := writeShops(t)
	must.Do(t, os.WriteFile(filepath.Join(work, "shops.json"), []byte(`{"files": "shops.csv", "columns": {"source": "shop",
		"features": "embedding"}, "labels": [{"column": "label"}]}`), 0o644))
	succeed(t, work, "data", "check", "shops.json")
	must.Do(t, os.WriteFile(filepath.Join(work, "rows.json"), []byte(`[{"shop": "a"}]`), 0o644))
	amtrl(t, work, "data", "check", "rows.json").ComplainsOnce(t, 1, "rows.json: line 1: expected a manifest with the keys ", "found a list")
}

// In a folder each table may have its vectors in an array of its name. Where one table has none, the arrays are said not to be used.
func TestFolderWithArrays(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		rows := "camera,label\n" + strings.Repeat(fmt.Sprintf("c%d,ok\nc%d,hole\n", i, i), 10)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.csv", i)), []byte(rows), 0o644))
		raw := append(npy.FormatHeader("|u1", 20, 4, 6), make([]byte, 20*24)...)
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.npy", i)), raw, 0o644))
	}
	out := succeed(t, dir, "data", "init", ".", "--out", "-").Stdout
	must.Hold(t, strings.Contains(out, "features: {file: [0.npy, 1.npy, 2.npy], join: row}"), "manifest:\n%s", out)
	must.Do(t, os.Remove(filepath.Join(dir, "1.npy")))
	r := amtrl(t, dir, "data", "init", ".", "--out", "-")
	must.Hold(t, strings.Contains(r.Stderr, "note: 0.npy, 2.npy are not used, since no array is named like 1.csv"), "stderr:\n%s", r.Stderr)
}

// In a folder of data the folders of runs and studies hold results, which are no data.
func TestFolderWithResults(t *testing.T) {
	work := writeShops(t)
	text := string(must.Get(os.ReadFile(filepath.Join(work, "shops.csv")))(t))
	lines := strings.Split(text, "\n")
	for i := range lines[:len(lines)-1] {
		lines[i] = map[bool]string{true: "id", false: fmt.Sprint("r", i)}[i == 0] + "," + lines[i]
	}
	manifest := "files: shops.csv\ncolumns: {id: id, source: shop, features: embedding}\nlabels: [{column: label}]\ntarget: {source: shop 4}\n"
	must.Do(t, os.WriteFile(filepath.Join(work, "shops.csv"), []byte(strings.Join(lines, "\n")), 0o644))
	must.Do(t, os.WriteFile(filepath.Join(work, "shops.yaml"), []byte(manifest), 0o644))
	succeed(t, work, "run", "--data", "shops.yaml", "--out", "run", "--methods", "uniform,target", "--k", "2", "--quiet")
	succeed(t, work, "study", "new", "S", "--data", "shops.yaml", "--round-budget", "20", "--k", "2", "--quiet")
	succeed(t, work, "study", "ask", "S", "--quiet")
	must.EqualSlices(t, must.Get(expandFolders([]string{work}))(t), []string{filepath.Join(work, "shops.csv")}, "tables beside results")
	amtrl(t, work, "predict", "run", "shops.csv", "--out", "p.xyz").Complains(t, 2, "--out: p.xyz: expected a name that ends in one of ")
}

// A spreadsheet in place of a table or a manifest is refused with a message that calls it one, wherever it is named.
func TestSpreadsheetsAreRefused(t *testing.T) {
	dir := writeShops(t)
	write := func(name, content string) {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	write("book.xlsx", "PK\x03\x04")
	write("books/notes.txt", "none")
	write("books/book.ods", "PK\x03\x04")
	write("book.yaml", "{files: book.xlsx, columns: {source: a, features: b}, labels: [{column: c}]}")
	want := "book.xlsx: expected a table, found an Excel workbook (.xlsx): export it to CSV or Parquet"
	for _, args := range [][]string{{"data", "init", "book.xlsx"}, {"data", "check", "book.yaml"}, {"data", "check", "book.xlsx"},
		{"run", "--data", "book.xlsx", "--out", "run"}, {"study", "new", "S", "--data", "book.xlsx", "--round-budget", "9"}} {
		amtrl(t, dir, args...).Complains(t, 1, want)
	}
	amtrl(t, dir, "data", "init", "books").Complains(t, 1, "book.ods: expected a table, found an OpenDocument spreadsheet (.ods)")
}
