package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
)

// writePrices writes prices of shops, which range over orders of magnitude, their logarithms and an id for each row.
func writePrices(t *testing.T, dir string, rng *rand.Rand) {
	t.Helper()
	id := 0
	writeAround(t, filepath.Join(dir, "shops.csv"), "shop", "id,a,b,c,d,price,logs", [4]float64{1, 2, -1, 0}, rng, func(w [4]float64) string {
		z := [4]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		y := 6 + 0.3*rng.NormFloat64()
		for j, v := range z {
			y += w[j] * v
		}
		id++
		return fmt.Sprintf("r%d,%g,%g,%g,%g,%g,%g", id, z[0], z[1], z[2], z[3], math.Exp(y), float32(math.Log(float64(float32(math.Exp(y))))))
	})
}

// hideLabels empties a column of shops.csv except for the new shop, and returns all its values by id.
func hideLabels(t *testing.T, dir string, column int) map[string]string {
	t.Helper()
	labels, hidden, path := map[string]string{}, "", filepath.Join(dir, "shops.csv")
	for i, row := range readTable(t, path) {
		if labels[row[1]] = row[column]; i > 0 && row[0] != "new shop" {
			row[column] = ""
		}
		hidden += strings.Join(row, ",") + "\n"
	}
	must.Do(t, os.WriteFile(path, []byte(hidden), 0o644))
	return labels
}

// manifestOf writes a manifest of the shops with one column of labels and a further line below it.
func manifestOf(t *testing.T, dir, name, column, line string) {
	t.Helper()
	text := "files: shops.csv\ncolumns:\n  id: id\n  source: shop\n  features: [a, b, c, d]\nlabels:\n  - column: " + column +
		"\n    type: number\n" + line + "target: {source: new shop}\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// numbersOf returns the numbers of a column of a CSV file.
func numbersOf(t *testing.T, path, column string) (out []float64) {
	t.Helper()
	rows := readTable(t, path)
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			if name == column {
				out = append(out, must.Get(strconv.ParseFloat(row[i], 64))(t))
			}
		}
	}
	return out
}

// With log: true a run has the same errors as on a column of the logarithms, and predicts the exponentials.
func TestLogOfLabels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePrices(t, dir, testrand.New(t))
	manifestOf(t, dir, "price.yaml", "price", "    log: true\n")
	manifestOf(t, dir, "logs.yaml", "logs", "")
	succeed(t, dir, "data", "info", "price.yaml").Prints(t, 0, "log price ")
	run := succeed(t, dir, "run", "--data", "price.yaml", "--out", "price")
	run.Complains(t, 0, "errors are of log price; predict writes price")
	succeed(t, dir, "run", "--data", "logs.yaml", "--out", "logs")
	of, plain := must.Get(runs.ReadRun(filepath.Join(dir, "price")))(t).Result, must.Get(runs.ReadRun(filepath.Join(dir, "logs")))(t).Result
	for i, m := range of.Methods {
		must.Equal(t, m.Score.Value, plain.Methods[i].Score.Value, "the error of %s", m.Method)
	}
	told := succeed(t, dir, "predict", "price", "fresh.csv", "--out", "price.csv").Stdout
	number := regexp.MustCompile(`\d+\.\d+`)
	other := succeed(t, dir, "predict", "logs", "fresh.csv", "--out", "logs.csv").Stdout
	must.Equal(t, number.ReplaceAllString(strings.Replace(told, "log price:", "logs:", 1), "#"), number.ReplaceAllString(other, "#"),
		"what is compared with the labels")
	want := number.FindAllString(other, -1)
	for i, v := range number.FindAllString(told, -1) { // logarithms of what was rounded as an exponential
		got, want := must.Get(strconv.ParseFloat(v, 64))(t), must.Get(strconv.ParseFloat(want[i], 64))(t)
		must.Hold(t, math.Abs(got-want) < 1e-4+2e-3*want, "number %d is %g, expected %g", i, got, want)
	}
	logs := numbersOf(t, filepath.Join(dir, "logs.csv"), "number")
	for i, v := range numbersOf(t, filepath.Join(dir, "price.csv"), "number") {
		must.Hold(t, math.Abs(v/math.Exp(logs[i])-1) < 1e-5, "row %d: %g, the exponential of %g expected", i, v, logs[i])
	}
}

// Labels of 0 have a logarithm after a constant is added to all labels; predictions subtract the constant again.
func TestLogOfCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePrices(t, dir, testrand.New(t))
	for _, name := range []string{"shops.csv", "fresh.csv"} {
		path := filepath.Join(dir, name)
		text := ""
		for i, row := range readTable(t, path) {
			if i > 0 {
				price := must.Get(strconv.ParseFloat(row[6], 64))(t)
				price = math.Floor(price / 100)
				row[6], row[7] = fmt.Sprint(price), fmt.Sprint(float32(math.Log(price+2.5)))
			}
			text += strings.Join(row, ",") + "\n"
		}
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	}
	manifestOf(t, dir, "price.yaml", "price", "    log: true\n    plus: 2.5\n")
	manifestOf(t, dir, "logs.yaml", "logs", "")
	succeed(t, dir, "run", "--data", "price.yaml", "--out", "price").Complains(t, 0, "errors are of log (price + 2.5); predict writes price")
	succeed(t, dir, "run", "--data", "logs.yaml", "--out", "logs")
	told := succeed(t, dir, "predict", "price", "fresh.csv", "--out", "price.csv").Stdout
	must.Equal(t, strings.Replace(told, "log (price + 2.5):", "logs:", 1),
		succeed(t, dir, "predict", "logs", "fresh.csv", "--out", "logs.csv").Stdout, "what is compared with the labels")
	logs := numbersOf(t, filepath.Join(dir, "logs.csv"), "number")
	for i, v := range numbersOf(t, filepath.Join(dir, "price.csv"), "number") {
		want := max(0, math.Exp(logs[i])-2.5)
		must.Hold(t, math.Abs(v-want) < 1e-5*(math.Abs(want)+2.5), "row %d: %g, expected %g", i, v, want)
	}
}

// A study learns the logarithms of the labels that it is told, keeps the labels themselves, and its model predicts
// fresh rows.
func TestLogOfLabelsInStudy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writePrices(t, dir, testrand.New(t))
	manifestOf(t, dir, "dataset.yaml", "price", "    log: true\n")
	price := hideLabels(t, dir, 6)
	succeed(t, dir, "study", "new", "campaign", "--data", "dataset.yaml", "--round-budget", "400")
	succeed(t, dir, "study", "ask", "campaign", "--out", "ask.csv")
	asked := readTable(t, filepath.Join(dir, "ask.csv"))
	answers := "id,price\n"
	for _, row := range asked[1:] {
		answers += row[0] + "," + price[row[0]] + "\n"
	}
	bad := filepath.Join(dir, "bad.csv")
	must.Do(t, os.WriteFile(bad, []byte("id,price\n"+asked[1][0]+",-3\n"), 0o644))
	amtrl(t, dir, "study", "tell", "campaign", "bad.csv").Complains(t, 1, "bad.csv", "column price: expected a number above 0", `"-3"`)
	must.Do(t, os.WriteFile(filepath.Join(dir, "answers.csv"), []byte(answers), 0o644))
	succeed(t, dir, "study", "tell", "campaign", "answers.csv")
	succeed(t, dir, "study", "fit", "campaign")
	succeed(t, dir, "study", "export", "campaign", "--out", "told.csv")
	for i, v := range numbersOf(t, filepath.Join(dir, "told.csv"), "price") {
		must.Hold(t, v > 0, "row %d has %g", i, v)
	}
	told := succeed(t, dir, "predict", "campaign", "fresh.csv", "--out", "fresh_price.csv").Stdout
	must.Hold(t, strings.Contains(told, "log price: 1,000 rows with a number"), "%s", told)
	square, n := 0.0, 0.0
	truth := numbersOf(t, filepath.Join(dir, "fresh.csv"), "price")
	for i, v := range numbersOf(t, filepath.Join(dir, "fresh_price.csv"), "number") {
		square, n = square+math.Pow(math.Log(v/truth[i]), 2), n+1
	}
	must.Hold(t, n == 1000 && square/n < 0.5, "mean squared error of the logarithms %g of %g rows", square/n, n)
}

// Labels without a logarithm are refused with their place in the file, and so is log for classes.
func TestLogOfNoNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const rows = "shop,id,a,b,c,d,price\nx,r1,1,2,3,4,5\nx,r2,2,2,3,4,0\nnew shop,r3,1,2,3,4,5\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "shops.csv"), []byte(rows), 0o644))
	manifestOf(t, dir, "dataset.yaml", "price", "    log: true\n")
	amtrl(t, dir, "data", "info", "dataset.yaml").Complains(t, 1, "shops.csv: line 3, column price: expected a number above 0", `"0"`)
	for line, want := range map[string]string{"    log: yes\n": "true or false", "    log: 10\n": "true or false"} {
		manifestOf(t, dir, "dataset.yaml", "price", line)
		amtrl(t, dir, "data", "info", "dataset.yaml").Complains(t, 1, "dataset.yaml", want)
	}
	for line, want := range map[string]string{
		"    log: true\n    plus: 0\n":  "a number above 0 that is added",
		"    log: true\n    plus: -1\n": "a number above 0 that is added",
		"    plus: 1\n":                 "beside log: true",
	} {
		manifestOf(t, dir, "dataset.yaml", "price", line)
		amtrl(t, dir, "data", "info", "dataset.yaml").Complains(t, 1, "dataset.yaml", want)
	}
	manifestOf(t, dir, "dataset.yaml", "price", "    log: true\n    plus: 1\n")
	succeed(t, dir, "data", "info", "dataset.yaml").Prints(t, 0, "log (price + 1) ")
	must.Do(t, os.WriteFile(filepath.Join(dir, "shops.csv"), []byte(strings.Replace(rows, ",0\n", ",-1\n", 1)), 0o644))
	amtrl(t, dir, "data", "info", "dataset.yaml").Complains(t, 1, "line 3, column price: expected a number of 0 or more, whose", `"-1"`)
	manifestOf(t, dir, "dataset.yaml", "price", "    log: true\n  - column: log price\n    type: number\n")
	amtrl(t, dir, "data", "info", "dataset.yaml").Complains(t, 1, `labels: price: expected no column "log price" beside its logarithm`)
	manifestOf(t, dir, "dataset.yaml", "price", "    log: true\n")
	text := string(must.Get(os.ReadFile(filepath.Join(dir, "dataset.yaml")))(t))
	text = strings.Replace(text, "type: number\n    log", "type: classes\n    log", 1)
	must.Do(t, os.WriteFile(filepath.Join(dir, "dataset.yaml"), []byte(text), 0o644))
	amtrl(t, dir, "data", "info", "dataset.yaml").Complains(t, 1, "labels: price: expected log of type number, found it of classes")
}
