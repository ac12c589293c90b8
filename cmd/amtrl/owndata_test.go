package main

import (
	le "encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/internal/amtrltest"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/runs"
)

// review is a row of a user's own data: the embedding of a text written in a shop, with or without a label.
type review struct {
	ID        string    `parquet:"id" json:"id"`
	Shop      string    `parquet:"shop" json:"shop"`
	Label     *string   `parquet:"label,optional" json:"label"`
	Embedding []float32 `parquet:"embedding,list" json:"embedding"`
}

const embeddingWidth = 384

// makeReviews returns rows of 20 shops, 50 to 20,000 each (3,000 without -v), and of a 21st, the target: 60 labelled rows and 400 without
// a label. fresh holds 1,000 further rows of the target with labels. The rows of a class lie around its centre; the
// target shares its centres with the first ten shops, while each other shop has its own.
func makeReviews(seed uint64) (data, fresh []review) {
	rng := rand.New(rand.NewPCG(seed, 1))
	classes := []string{"awful", "bad", "fair", "good", "great"}
	centres := func() [][]float64 {
		c := make([][]float64, len(classes))
		for i := range c {
			c[i] = make([]float64, embeddingWidth)
			for j := range c[i] {
				c[i][j] = rng.NormFloat64() * 0.16
			}
		}
		return c
	}
	shared := centres()
	add := func(rows *[]review, shop string, n int, c [][]float64, labelled func(i int) bool) {
		for i := range n {
			class := rng.IntN(len(classes))
			r := review{ID: fmt.Sprintf("%s/%d", shop, i), Shop: shop}
			if labelled(i) {
				r.Label = &classes[class]
			}
			for j := range embeddingWidth {
				// A multiple of 1/16 is the same number in every format.
				r.Embedding = append(r.Embedding, float32(int(16*(c[class][j]+rng.NormFloat64())))/16)
			}
			*rows = append(*rows, r)
		}
	}
	mostly := func(int) bool { return rng.IntN(5) > 0 }
	for s := range 20 {
		c := shared
		if s >= 10 {
			c = centres()
		}
		size := []int{50, must.Long(20_000, 3_000), 100, 150, 200, 300, 400, 500, 600, 700}[s%10]
		if s == 11 {
			size = 800
		}
		add(&data, fmt.Sprintf("shop %02d", s), size, c, mostly)
	}
	add(&data, "new shop", 460, shared, func(i int) bool { return i < 60 })
	add(&fresh, "new shop", 1000, shared, func(int) bool { return true })
	return data, fresh
}

// writeReviews writes rows in the format that the extension of path names.
func writeReviews(t *testing.T, path string, rows []review) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f := must.Get(os.Create(path))(t)
	switch filepath.Ext(path) {
	case ".parquet":
		must.Do(t, parquet.Write(f, rows))
	case ".jsonl":
		enc := json.NewEncoder(f)
		for _, r := range rows {
			must.Do(t, enc.Encode(r))
		}
	case ".csv":
		writeRows(t, f, rows, true)
	case ".npy": // the embeddings, with the other columns in a CSV file
		raw := npy.FormatHeader("<f4", len(rows), embeddingWidth)
		for _, r := range rows {
			raw = must.Get(le.Append(raw, le.LittleEndian, r.Embedding))(t)
		}
		must.Get(f.Write(raw))(t)
		rest := must.Get(os.Create(strings.TrimSuffix(path, ".npy") + ".csv"))(t)
		writeRows(t, rest, rows, false)
		must.Do(t, rest.Close())
	}
	must.Do(t, f.Close())
}

// writeRows writes rows as CSV, with or without their embeddings.
func writeRows(t *testing.T, f *os.File, rows []review, embeddings bool) {
	t.Helper()
	w := csv.NewWriter(f)
	columns := 3
	if embeddings {
		columns++
	}
	must.Do(t, w.Write([]string{"id", "shop", "label", "embedding"}[:columns]))
	for _, r := range rows {
		label := ""
		if r.Label != nil {
			label = *r.Label
		}
		must.Do(t, w.Write([]string{r.ID, r.Shop, label, string(must.Get(json.Marshal(r.Embedding))(t))}[:columns]))
	}
	w.Flush()
	must.Do(t, w.Error())
}

// From the user's own files to predictions, in each format: all formats give the same results, most samples come from
// the shops that are like the target, and predictions are better than those of a model of the target's labels alone.
func TestOwnData(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes and reads some hundred megabytes")
	}
	dir := ownFolder(t)
	data, fresh := makeReviews(1)
	var methods []string // those of the program where figures are printed
	if !testing.Verbose() {
		methods = []string{"--methods", "active,target," + []string{"uniform", "constant", "pooled", "kernel"}[testrand.New(t).IntN(4)]}
	}
	var first string
	for _, format := range append([]string{"parquet"}, must.Some(testrand.New(t), 2, "csv", "jsonl", "npy")...) {
		work := filepath.Join(dir, format, "reviews")
		writeReviews(t, filepath.Join(work, "reviews."+format), data)
		writeReviews(t, filepath.Join(work, "fresh."+format), fresh)
		files, rows, out := []string{"reviews." + format}, []string{"predict", "run", "fresh." + format}, "out."+format
		if format == "npy" {
			files, rows, out = append(files, "reviews.csv"), []string{"predict", "run", "fresh.csv", "--vectors", "fresh.npy"}, "out.csv"
		}
		succeed(t, work, append(append([]string{"data", "init"}, files...), "--target", "new shop")...)
		succeed(t, work, append([]string{"run", "--data", "dataset.yaml", "--target-samples", "48", "--floor", "8", "--budget", "4000",
			"--k", "8", "--save", "all", "--out", "run", "--quiet"}, methods...)...)
		if format == "npy" {
			amtrl(t, work, "predict", "run", "fresh.csv", "--out", "none.csv").Complains(t, 1,
				`fresh.csv: expected a column "vector", or the file of its vectors with --vectors, found neither`)
		}
		o := succeed(t, work, append(rows, "--out", out, "--json")...)
		table := succeed(t, work, append(rows, "--out", "out-again.csv")...).Stdout
		result := string(must.Get(os.ReadFile(filepath.Join(work, "run", "result.json")))(t))
		predicted := string(must.Get(os.ReadFile(filepath.Join(work, "out-again.csv")))(t))
		// The model and the identity contain the name of the feature column, which differs for NPY.
		hashes := amtrltest.JSON[runs.Result](t, outcome{Stdout: result})
		result = strings.NewReplacer(hashes.Files["model.safetensors"], "", hashes.Files["config.json"], "", hashes.SHA256, "").Replace(result)
		if first == "" {
			first = result + o.Stdout + predicted + table
			checkOwnData(t, work, o, fresh)
		}
		if result+o.Stdout+predicted+table != first {
			t.Errorf("%s has other results than parquet:\n%s\n%s", format, result, o.Stdout)
		}
		if format == "npy" || format == "parquet" {
			checkOtherUnits(t, work, format, fresh)
		}
	}
}

// checkOtherUnits predicts rows in the usual units and rows a thousand times as large: predict warns about the latter,
// in one line.
func checkOtherUnits(t *testing.T, work, format string, fresh []review) {
	t.Helper()
	const says = "times as large as those that the model learned from: expected the same units"
	for name, times := range map[string]float32{"usual": 1, "large": 1000} {
		rows := slices.Clone(fresh[:60])
		for i := range rows {
			rows[i].Embedding = slices.Clone(rows[i].Embedding)
			for j := range rows[i].Embedding {
				rows[i].Embedding[j] *= times
			}
		}
		writeReviews(t, filepath.Join(work, name+"."+format), rows)
		o := amtrl(t, work, "predict", "run", name+"."+format, "--out", name+"-out.csv")
		must.Hold(t, o.Code == 0 && strings.Count(o.Stderr, says) == map[string]int{"large": 1}[name], "%s, %s: %s", format, name, o.Stderr)
	}
}

func checkOwnData(t *testing.T, work string, o outcome, fresh []review) {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join(work, "run", "result.json")))(t)
	res := amtrltest.JSON[runs.Result](t, outcome{Stdout: string(raw)})
	right, all := 0, 0
	for _, s := range res.Sources {
		if all += s.Samples; s.Source < "shop 10" {
			right += s.Samples
		}
	}
	if 2*right < all {
		t.Errorf("%d of %d samples are from the shops that are like the target", right, all)
	}
	targetAlone(t, work)
	a := succeed(t, work, "predict", "alone", "fresh.parquet", "--out", "alone.csv", "--json")
	with, without := amtrltest.JSON[[]runs.Evaluation](t, o), amtrltest.JSON[[]runs.Evaluation](t, a)
	t.Logf("error with sources %.3f (%s), alone %.3f; %d of %d samples from the right shops", *with[0].Error, res.Recommended,
		*without[0].Error, right, all)
	if len(with) != 1 || with[0].Rows != len(fresh) || !(*with[0].Error < 0.7**without[0].Error) {
		t.Errorf("with sources %+v, alone %+v", with, without)
	}
	for _, r := range readTable(t, filepath.Join(work, "run", "rows.csv"))[1:] {
		if shop, _, ok := strings.Cut(r[2], "/"); !ok || !strings.HasPrefix(r[1], shop) || r[4] != "1" {
			t.Fatalf("a drawn row is %v", r)
		}
	}
	t.Run("python", func(t *testing.T) { checkInPython(t, work, fresh, "out-again.csv") })
}

// targetAlone makes the folder "alone" with the model that was learned from the target's labels alone.
func targetAlone(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.Mkdir(filepath.Join(dir, "alone"), 0o755))
	model := must.Get(os.ReadFile(filepath.Join(dir, "run", "models", "target.safetensors")))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "alone", "model.safetensors"), model, 0o644))
}

// checkInPython predicts rows with the Python code of docs/predict.md and compares the results with amtrl's predictions.
func checkInPython(t *testing.T, work string, rows []review, predicted string) {
	t.Helper()
	read := "import csv, json\nrows = list(csv.DictReader(open('fresh.csv')))\nX = [json.loads(r['embedding']) for r in rows]\n"
	write := "\nfor r, l, y in zip(rows, labels, scores): print(r['id'], l, y[-1], sep='|')\n"
	writeReviews(t, filepath.Join(work, "fresh.csv"), rows)
	out := runPage(t, work, "predict.md", "numpy, safetensors", read, write)
	want := readTable(t, filepath.Join(work, predicted))[1:]
	i := 0
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		score, last := must.Get(strconv.ParseFloat(f[2], 64))(t), must.Get(strconv.ParseFloat(want[i][len(want[i])-1], 64))(t)
		if f[0] != want[i][0] || f[1] != want[i][1] && score != 0.5 || !(score-last < 1e-4 && last-score < 1e-4) {
			t.Fatalf("row %d is %v in Python, %v of amtrl", i, f, want[i])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("Python predicted %d of %d rows", i, len(want))
	}
}
