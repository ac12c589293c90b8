package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
)

// writeLines writes the rows of a CSV file as JSON Lines.
func writeLines(t *testing.T, from, to string) {
	t.Helper()
	var out []byte
	rows := readTable(t, from)
	for _, row := range rows[1:] {
		of := map[string]any{}
		for j, name := range rows[0] {
			if of[name] = row[j]; json.Valid([]byte(row[j])) {
				of[name] = json.RawMessage(row[j])
			}
		}
		out = append(append(out, must.Get(json.Marshal(of))(t)...), '\n')
	}
	must.Do(t, os.WriteFile(to, out, 0o644))
}

// Predictions go to standard output as to a file, and what they say of labels to standard error. Of rows that the run has learned from, a
// note says so, by whatever name the file goes.
func TestPredictOnStandardOutput(t *testing.T) {
	dir, rng := ownFolder(t), rand.New(rand.NewPCG(1, 13))
	writeAround(t, filepath.Join(dir, "sites.csv"), "site", "a,b,c,d,yield", [4]float64{1, 1, 0, 0}, rng, sumOfColumns(rng, 0.5))
	succeed(t, dir, "data", "init", "sites.csv", "--label", "yield", "--target", "new site")
	succeed(t, dir, "run", "--data", "dataset.yaml", "--out", "run", "--quiet")
	const own = "is a file of the run's own data"
	told := succeed(t, dir, "predict", "run", "fresh.csv", "--out", "fresh-out.csv")
	must.Hold(t, !strings.Contains(told.Stderr, own) && strings.Contains(told.Stdout, "mean squared error"), "%s%s", told.Stdout, told.Stderr)
	piped := succeed(t, dir, "predict", "run", "fresh.csv", "--out", "-")
	must.Equal(t, piped.Stdout, string(must.Get(os.ReadFile(filepath.Join(dir, "fresh-out.csv")))(t)), "standard output")
	must.Hold(t, strings.Contains(piped.Stderr, "mean squared error") && !strings.Contains(piped.Stderr, "wrote"), "%s", piped.Stderr)
	for _, out := range []string{"-", "twice.parquet"} {
		both := succeed(t, dir, "predict", "run", "fresh.csv", "--out", out, "--also", "twice.csv")
		must.Hold(t, strings.Contains(both.Stderr, "wrote twice.csv"), "%s", both.Stderr)
		must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "twice.csv")))(t)), piped.Stdout, "another file")
		must.Equal(t, both.Stdout, map[string]string{"-": piped.Stdout, "twice.parquet": told.Stdout}[out], "standard output")
		must.Do(t, os.Remove(filepath.Join(dir, "twice.csv")))
	}
	succeed(t, dir, "predict", "run", "fresh.csv", "--out", "once.parquet")
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "twice.parquet")))(t)),
		string(must.Get(os.ReadFile(filepath.Join(dir, "once.parquet")))(t)), "two files at once")
	amtrl(t, dir, "predict", "run", "fresh.csv", "--out", "a.csv", "--also", filepath.Join(dir, "a.csv")).
		Complains(t, 2, "expected another file")
	amtrl(t, dir, "predict", "run", "fresh.csv", "--out", "a.csv", "--also", "a.xls").Complains(t, 2, "--also: a.xls: expected a name")
	amtrl(t, dir, "predict", "run", "fresh.csv", "--out", "a.csv", "--also", "once.parquet").Complains(t, 1, "once.parquet: expected no such")
	must.Absent(t, filepath.Join(dir, "a.csv"))
	amtrl(t, dir, "predict", "run", "fresh.csv", "--out", "-", "--json").Complains(t, 2, "--json and --out - both print on standard output")
	for _, name := range []string{"fresh.csv", "fresh.jsonl"} {
		in := filepath.Join(dir, name)
		if name == "fresh.jsonl" {
			writeLines(t, filepath.Join(dir, "fresh.csv"), in)
		}
		cmd := command(dir, "predict", "run", "-", "--out", "-")
		cmd.Stdin = must.Get(os.Open(in))(t)
		must.Equal(t, start(t, cmd).Succeeds(t).Stdout, piped.Stdout, "predictions of standard input, %s", name)
	}
	cmd := command(dir, "predict", "run", "-", "--out", "-")
	cmd.Env, cmd.Stdin = append(cmd.Env, "TMPDIR="+t.TempDir()), strings.NewReader("a,b,c,d\n1,2,3,4\n1,2,x,4\n")
	start(t, cmd).ComplainsLast(t, 1, `amtrl: standard input: line 3, column c: expected a number, found "x"`)
	left := must.Get(os.ReadDir(strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "TMPDIR=")))(t)
	must.Equal(t, len(left), 0, "files that are left of standard input")
	amtrl(t, dir, "predict", "run", "-", "-", "--out", "-").Complains(t, 1, "expected - for standard input once")
	must.Do(t, os.Link(filepath.Join(dir, "sites.csv"), filepath.Join(dir, "other name.csv")))
	amtrl(t, dir, "predict", "run", "fresh.csv", "other name.csv", "--out", "own-out.csv").Complains(t, 0, "other name.csv "+own)
	must.Do(t, os.Remove(filepath.Join(dir, "dataset.yaml")))
	succeed(t, dir, "predict", "run", "sites.csv", "--out", "again.csv")
}

// What is odd about rows is said: vectors of zeros, rows that are blank, without an id or with that of another row, and no rows.
func TestPredictSaysWhatIsOdd(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "run"), 0o755))
	model := func(columns string, width int, centre []float32) {
		weight := make([]float32, width)
		raw := must.Get(safetensors.Encode([]safetensors.Tensor{
			{Name: "representation.weight", Shape: []int{1, width}, Data: weight},
			{Name: "representation.centre", Shape: []int{width}, Data: centre},
			{Name: "representation.scale", Shape: []int{1}, Data: []float32{2}},
			{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{2}},
		}, map[string]string{"features": columns, "labels": `[{"column":"z","heads":1}]`, "id": "id", "means": "[1,1]"}))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, "run", "model.safetensors"), raw, 0o644))
	}
	predict := func(name, rows, said string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(rows), 0o644))
		amtrl(t, dir, "predict", "run", name, "--out", "-").Complains(t, 0, said)
	}
	model(`["v"]`, 2, []float32{1, 2})
	predict("zeros.csv", "id,v\n"+strings.Repeat("p,\"[0, 0]\"\n", 12), "the vectors of these rows are all zeros")
	predict("small.csv", "id,v\n"+strings.Repeat("p,\"[0.1, 0]\"\n", 12), "the vectors of these rows are 0.02774 times as large as those")
	model(`["x","y"]`, 2, []float32{1, 2})
	predict("none.csv", "id,x,y\n", "0 rows to predict: what is written has the columns alone")
	predict("blank.csv", "id,x,y\np,1,2\n,,\n", "1 row is blank, the first blank.csv: line 3: predicted as if all")
	predict("nameless.csv", "id,x,y\n,1,2\n,1,\n", "2 rows have no id, the first nameless.csv: line 2: the number of the row, from 0,")
	predict("bare.csv", "id,x,y\np,,\nq,,\n,1,2\n", "2 rows have none of the features, the first bare.csv: line 2: predicted as if")
	predict("again.csv", "id,x,y\np,1,2\nq,1,2\np,1,2\n", `1 row has the id of an earlier row, the first "p"`)
}
