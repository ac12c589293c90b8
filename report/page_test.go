package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
	"github.com/amtrl/amtrl/runs"
)

// numbersIn returns every number in the JSON and CSV files of a folder.
func numbersIn(t *testing.T, dir string) map[float64]bool {
	t.Helper()
	found := map[float64]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case float64:
			found[v] = true
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw := must.Get(os.ReadFile(path))(t)
		switch filepath.Ext(path) {
		case ".json", ".jsonl":
			dec := json.NewDecoder(bytes.NewReader(raw))
			for dec.More() {
				var v any
				must.Do(t, dec.Decode(&v))
				walk(v)
			}
		case ".csv":
			rows := must.Get(csv.NewReader(bytes.NewReader(raw)).ReadAll())(t)
			for _, row := range rows {
				for _, cell := range row {
					if v, err := strconv.ParseFloat(cell, 64); err == nil {
						found[v] = true
					}
				}
			}
		}
		return nil
	}))
	return found
}

var (
	notText = regexp.MustCompile(`(?s)<head>.*?</head>|<script>.*?</script>|<svg .*?</svg>|<bdi>.*?</bdi>|<code>.*?</code>`)
	data    = regexp.MustCompile(`<data value="([^"]*)">([^<]*)</data>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
	// constants matches the numbers that sentences and names of columns may have.
	constants = regexp.MustCompile(`9[05] % interval|\(90 %\)|SHA-256|sha256|round \d+`)
)

// checkNumbers fails the test where a number of a page is not known, that is, neither in a file beside the page nor derived.
func checkNumbers(t *testing.T, page []byte, known map[float64]bool) {
	t.Helper()
	body := notText.ReplaceAllString(string(page), "")
	n := 0
	for _, m := range data.FindAllStringSubmatch(body, -1) {
		v := must.Get(strconv.ParseFloat(html.UnescapeString(m[1]), 64))(t)
		n++
		if !known[v] {
			t.Errorf("the page has %s (%s), the files beside it have not", m[1], m[2])
			if n > 20000 {
				return
			}
		}
		must.Hold(t, writes(html.UnescapeString(m[2]), v), "%s is written %q", m[1], m[2])
	}
	must.Hold(t, n >= 20, "the page has %d numbers", n)
	rest := constants.ReplaceAllString(html.UnescapeString(tag.ReplaceAllString(data.ReplaceAllString(body, ""), " ")), "")
	if at := strings.IndexAny(rest, "0123456789"); at >= 0 {
		t.Errorf("a number is not marked as one: %q", rest[max(0, at-80):min(len(rest), at+40)])
	}
}

// writes reports whether a text is a rounding of a number, as it is or times a hundred.
func writes(text string, v float64) bool {
	text = strings.NewReplacer("−", "-", ",", "", "+", "", " %", "", " s", "").Replace(text)
	shown, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	for _, scale := range []float64{1, 100} {
		unit := math.Pow(10, -float64(len(text)-1-strings.IndexByte(text+".", '.')))
		if !strings.Contains(text, ".") {
			unit = 1
		}
		if strings.ContainsAny(text, "e") || math.Abs(shown-scale*v) <= 0.5001*unit || math.Abs(shown/(scale*v)-1) < 5e-4 {
			return true
		}
	}
	return false
}

// derived adds to known the numbers of a run's page that follow from its files: what each round drew, places, rank correlations, the
// numbers of sources and of rounds, and the end of an extrapolation. They are computed here in the plainest way.
func derived(t *testing.T, f *runs.Finished, known map[float64]bool) {
	t.Helper()
	var first []pipeline.Epoch
	for _, e := range f.Epochs {
		if e.Method == f.Epochs[0].Method {
			first = append(first, e)
		}
	}
	known[float64(len(f.Sources))] = true
	known[f.Seconds] = true
	for i, e := range first {
		known[float64(i+1)] = true
		for m := range f.Sources {
			before := 0
			if i > 0 {
				before = first[i-1].Counts[m]
			}
			known[float64(e.Counts[m]-before)] = true
			place := 1
			for k := range f.Sources {
				if a, b := math.Abs(e.Nu[k]), math.Abs(e.Nu[m]); a > b || a == b && k < m {
					place++
				}
			}
			known[float64(place)] = true
		}
		known[slowSpearman(e.Nu, first[len(first)-1].Nu)] = true
		if i > 0 {
			known[slowSpearman(e.Nu, first[i-1].Nu)] = true
		}
	}
	for _, e := range f.Evaluations {
		known[float64(e.Rows)] = true
		if e.Numbers != nil { // checked against the bins in package runs
			known[e.Numbers.MSE], known[e.Numbers.R2] = true, true
		} else {
			known[*e.Error] = true
		}
		for _, counts := range e.Confusion {
			for _, n := range counts {
				known[float64(n)/max(1, floats.Sum(widened(counts)))] = true
			}
		}
		for _, b := range e.Calibration {
			i := runs.ScoreInterval(pipeline.Score{Metric: pipeline.MetricError, Value: b.Right}, &pipeline.Losses{Rows: b.Rows}, false)
			known[i[0]], known[i[1]] = true, true
		}
		if e.Probabilities == nil {
			continue
		}
		for _, b := range e.Bins {
			i := runs.ScoreInterval(pipeline.Score{Metric: pipeline.MetricError, Value: b.Share}, &pipeline.Losses{Rows: b.Rows}, false)
			known[i[0]], known[i[1]] = true, true
		}
	}
	for _, m := range f.Result.Methods {
		if guess := extrapolate(m.Rounds); guess != nil { // extrapolate has a test of its own
			end := guess[len(guess)-1]
			known[end.Cost], known[end.Value], known[end.Interval[0]], known[end.Interval[1]] = true, true, true, true
		}
	}
}

func widened(counts []int) []float64 {
	var out []float64
	for _, n := range counts {
		out = append(out, float64(n))
	}
	return out
}

// slowSpearman returns Spearman's rank correlation of |a| and |b|. It ranks a source by how many are smaller and how many are equal.
func slowSpearman(a, b []float64) float64 {
	ranks := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			smaller, equal := 0, 0
			for k := range v {
				switch x, y := math.Abs(v[k]), math.Abs(v[i]); {
				case x < y:
					smaller++
				case x == y:
					equal++
				}
			}
			out[i] = float64(smaller) + float64(equal-1)/2
		}
		return out
	}
	if c := stat.Correlation(ranks(a), ranks(b), nil); !math.IsNaN(c) {
		return c
	}
	return 0
}

func TestRunPage(t *testing.T) {
	for kind, change := range map[string]func(*pipeline.Config){"run": nil, "hostile names": nil,
		"hostile classes": func(c *pipeline.Config) {
			c.Sources, c.Methods = pipeline.SourcesPools, []string{pipeline.Active, pipeline.Uniform}
		}} {
		t.Run(kind, func(t *testing.T) {
			dir := finishedRun(t, smallData(t, kind != "run"), 3, change)
			f, p := must.Get(runs.ReadRun(dir))(t), pageOf(t, dir)
			page := must.Get(p.HTML())(t)
			known := numbersIn(t, dir)
			derived(t, f, known)
			checkNumbers(t, page, known)
			checkMarkup(t, page)
			calibration := "by its probability" // of the second of two classes
			if len(f.Evaluations[0].Classes) > 2 {
				calibration = "Right by score"
			}
			for _, want := range []string{"Is sampling by relevance better than uniform sampling at equal cost?", "Share of the next budget",
				"Places of the most relevant sources", f.Identity.Data.SHA256, "amtrl run --seed 5", f.Result.Files["epochs.jsonl"],
				"Predicted class by label", "The log-loss is ", calibration, f.Result.Files["evaluation.jsonl"]} {
				if !bytes.Contains(page, []byte(want)) {
					t.Errorf("the page lacks %q", want)
				}
			}
			again := must.Get(pageOf(t, dir).HTML())(t)
			if !bytes.Equal(again, page) {
				t.Error("the same folder gives another page")
			}
		})
	}
}

// checkMarkup checks that a page has no elements and addresses but its own, which a hostile name would need to do harm.
func checkMarkup(t *testing.T, page []byte) {
	t.Helper()
	text := string(page)
	must.Equal(t, strings.Count(text, "<script"), 1, "scripts of the page")
	for _, never := range []string{"<img", "onerror=\"", "src=\"", "<iframe", "@import", "url("} {
		must.Hold(t, !strings.Contains(text, never), "the page has %q", never)
	}
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		ids[m[1]]++
		must.Hold(t, ids[m[1]] == 1, "two elements are %q", m[1])
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		must.Hold(t, m[1] == "data:," || m[1][0] == '#' && ids[m[1][1:]] == 1, "the page leads to %q", m[1])
	}
	figures := strings.Split(text, "<figure id=")[1:]
	must.Hold(t, len(figures) >= 2, "the page has %d figures", len(figures))
	for _, f := range figures {
		f, _, _ = strings.Cut(f, "</figure>")
		for _, needs := range []string{"<figcaption>", "<svg ", "<title id=", "<desc id=", "<table id=", "class=\"mute\""} {
			if !strings.Contains(f, needs) {
				t.Errorf("a figure lacks %q: %.80s", needs, f)
			}
		}
	}
}

// With one target sample, left out, no methods are compared, and with two they are compared without an interval, in the text and on the
// page. Neither names an earlier round that was better.
func TestFewSamplesCompareNothing(t *testing.T) {
	rng := testrand.New(t)
	for samples := 1; samples <= 2; samples++ {
		set := pipelinetest.SmallSet(rng.Uint64(), 5, 200, 4, false)
		set.Tasks[1].Train, set.Tasks[1].Test = set.Tasks[1].Train[:samples], nil
		dir := finishedRun(t, set, 1, func(c *pipeline.Config) {
			c.Methods, c.TargetSamples = []string{pipeline.Active, pipeline.Uniform, pipeline.Target}, samples
		})
		f := must.Get(runs.ReadRun(dir))(t)
		must.Hold(t, f.Result.TooFew && f.Result.Earlier == nil, "%d samples: %+v", samples, f.Result)
		page := pageOf(t, dir)
		text, answer := Result(&f.Result, 9, Text), page.Markdown()
		must.Equal(t, len(page.Answer.Verdicts), 2*(samples-1), "%d samples: verdicts on the page", samples)
		must.Equal(t, strings.Count(text, "(no interval from one run)"), 2*(samples-1), "%d samples: verdicts in the text", samples)
		for what, of := range map[string]string{"the text": text, "the page": answer} {
			must.Hold(t, !strings.Contains(of, "(95 % interval") && !strings.Contains(of, "much likelier"), "%d samples: %s has an interval, or "+
				"an earlier round:\n%.3000s", samples, what, of)
			must.Hold(t, strings.Contains(of, "of which is best, expected at least 5"), "%d samples: %s says nothing of it", samples, what)
		}
	}
}

// Where there are more classes than a map has room for, the table begins with the mistakes, the most frequent first, and has all pairs that
// occur.
func TestTableOfMistakes(t *testing.T) {
	e := &runs.Evaluation{Rows: 10, Error: new(0.)}
	for i := range mostClasses + 1 {
		e.Classes = append(e.Classes, fmt.Sprintf("c%02d", i))
		e.Confusion = append(e.Confusion, make([]int, mostClasses+1))
		e.Confusion[i][i] = 9
	}
	e.Confusion[3][5], e.Confusion[7][2] = 1, 4
	f := confusionFigure("confusion", func(s string) string { return s }, e)
	var pairs []string
	for _, r := range f.whole().Rows[:3] {
		pairs = append(pairs, r.Cells[0].Text+" "+r.Cells[1].Text)
	}
	must.EqualSlices(t, pairs, []string{"c07 c02", "c03 c05", "c00 c00"}, "the first rows")
	must.Equal(t, len(f.whole().Rows), mostClasses+3, "pairs")
	p := &Page{Parts: []Part{{Figures: []Figure{f}}}}
	must.Hold(t, !strings.Contains(p.Markdown(), "The most frequent mistakes"), "%.300s", p.Markdown())
}
