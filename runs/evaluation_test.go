package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/jsonfile"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// sameEvaluation compares a run's evaluation of its test rows with the evaluation of predictions for the same rows. A score at the edge of
// a bin may fall on either side of it.
func sameEvaluation(t *testing.T, name string, own, found *Evaluation) {
	t.Helper()
	same := (own.Error == nil) == (found.Error == nil) && (own.Error == nil || near(*own.Error, *found.Error, 1e-12))
	if own.Rows != found.Rows || !same || !slices.EqualFunc(own.Confusion, found.Confusion, slices.Equal) {
		t.Errorf("%s: the run has %+v, predict found %+v", name, own, found)
	}
	score, right := 0.0, 0.0
	for _, b := range own.Calibration {
		score, right = score+float64(b.Rows)*b.Score, right+float64(b.Rows)*b.Right
	}
	for _, b := range found.Calibration {
		score, right = score-float64(b.Rows)*b.Score, right-float64(b.Rows)*b.Right
	}
	if score > 1e-3 || score < -1e-3 || right > 1e-9 || right < -1e-9 {
		t.Errorf("%s: the run has %+v, predict found %+v", name, own.Calibration, found.Calibration)
	}
	if own.Probabilities != nil || found.Probabilities != nil {
		sameProbabilities(t, name, found.Probabilities, own.Probabilities, 1e-4)
	}
	if a, b := own.Numbers, found.Numbers; (a == nil) != (b == nil) || a != nil && (!near(a.R2, b.R2, 1e-4) || !near(a.Slope, b.Slope, 1e-4)) {
		t.Errorf("%s: the run has %+v, predict found %+v", name, a, b)
	} else if a != nil {
		checkBins(t, name, own)
	}
}

// checkBins checks the bins of numbers: they ascend, and the variance of all labels is the variance within bins plus the variance between
// them.
func checkBins(t *testing.T, name string, e *Evaluation) {
	t.Helper()
	n, mean, square, last := 0, 0.0, 0.0, e.Numbers.Bins[0].From
	for _, b := range e.Numbers.Bins {
		if b.From < last || b.To < b.From || b.Predicted < b.From || b.Predicted > b.To || b.Rows < 5 {
			t.Errorf("%s: bin %+v after %g", name, b, last)
		}
		n, last = n+b.Rows, b.To
		mean += float64(b.Rows) * b.Label / float64(e.Rows)
	}
	for _, b := range e.Numbers.Bins {
		square += float64(b.Rows) * (b.Spread*b.Spread + (b.Label-mean)*(b.Label-mean)) / float64(e.Rows)
	}
	if n != e.Rows || len(e.Numbers.Bins) != min(10, n/5) || !near(e.Numbers.R2, 1-e.Numbers.MSE/square, 1e-9) {
		t.Errorf("%s: %d rows in bins of variance %g: %+v", name, n, square, e.Numbers)
	}
}

// labelledSet returns a set of three pools, with a column of three classes, whose label some rows lack, and a column of two classes.
func labelledSet(seed uint64) *dataset.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	set := &dataset.Set{Name: "labelled", Binary: true, Columns: &dataset.Columns{Features: []string{"x"}, Labels: []dataset.LabelColumn{
		{Name: "kind", Classes: []string{"a", "b", "c"}}, {Name: "big", Classes: []string{"no", "yes"}}}}}
	for p := range 3 {
		const rows, cols = 60, 4
		pool := &dataset.Pool{Name: fmt.Sprintf("pool%d", p), Rows: rows, Cols: cols, Scale: 1, F32: make([]float32, rows*cols)}
		labels := make([][]float32, 4)
		for i := range labels {
			labels[i] = make([]float32, rows)
		}
		var kinds, all []int32
		for i := range rows {
			kind := i % 3
			for j := range cols {
				pool.F32[i*cols+j] = float32(rng.NormFloat64())
			}
			pool.F32[i*cols+kind]++
			labels[kind][i] = 1
			labels[3][i] = float32(b2i(pool.F32[i*cols+3] > 0))
			if all = append(all, int32(i)); i%4 > 0 {
				kinds = append(kinds, int32(i))
			}
		}
		set.Pools = append(set.Pools, pool)
		for k, class := range []string{"a", "b", "c", "yes"} {
			task := dataset.Task{Name: pool.Name + class, Pool: p, Labels: labels[k], Train: kinds}
			task.Output = dataset.Output{Name: "kind", Class: class}
			if k == 3 {
				task.Output.Name, task.Train = "big", all
			}
			set.Tasks = append(set.Tasks, task)
		}
	}
	return set
}

// labelledConfig returns settings with which the samples of the target of [labelledSet] are left out one at a time.
func labelledConfig() pipeline.Config {
	cfg := smallConfig()
	cfg.Sources, cfg.TargetSamples, cfg.Schedule.Budget = pipeline.SourcesPools, 60, 60
	cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
	return cfg
}

// The evaluations of the columns are of the same left-out predictions as the score of the target's samples: their errors average to it.
func TestEvaluationOfSeveralColumns(t *testing.T) {
	seed := testrand.Seed(t)
	dev := openDevice(t, 1, labelledSet(seed))
	dir := t.TempDir()
	res := mustRun(t, dev, identityOf(dev, labelledConfig(), []string{"pool1"}, seed), dir)
	f := must.Get(ReadRun(dir))(t)
	if len(f.Evaluations) != 2 || f.Evaluations[0].Rows != 45 || f.Evaluations[1].Rows != 60 {
		t.Fatalf("%+v", f.Evaluations)
	}
	wrong, rows := 0.0, 0.0
	for i, e := range f.Evaluations {
		if want := [][]string{{"a", "b", "c"}, {"no", "yes"}}[i]; !slices.Equal(e.Classes, want) {
			t.Errorf("classes %q, want %q", e.Classes, want)
		}
		sums := []int{15, 15, 15}
		if i == 1 {
			sums = e.Confusion[0]
		}
		for k, counts := range e.Confusion {
			if n := counts[0] + counts[1]; i == 0 && n+counts[2] != sums[k] {
				t.Errorf("class %s: counts %v", e.Classes[k], counts)
			}
		}
		wrong, rows = wrong+*e.Error*float64(e.Rows), rows+float64(e.Rows)
	}
	if s := res.Method(res.Recommended).Score; !s.LeaveOneOut || !near(s.Value, wrong/rows, 1e-12) {
		t.Errorf("score %+v, the columns have %g", s, wrong/rows)
	}
}

// A score beyond 0 or 1 counts as 0 or 1, and NaN, as from a damaged model, counts as 0.
func TestEvaluationOfAnyScore(t *testing.T) {
	e := newEvaluation(OutputColumn{Classes: []string{"a", "b"}})
	for _, score := range []float64{math.NaN(), math.Inf(-1), -0.1, 0, 1, math.Inf(1)} {
		e.addClass(0, 0, []float32{float32(score)})
	}
	e.finish()
	if c := e.Calibration; len(c) != 2 || c[0] != (CalibrationBin{0, 4, 0, 1}) || c[1] != (CalibrationBin{0.9, 2, 1, 1}) || e.Rows != 6 {
		t.Errorf("%d rows: %+v", e.Rows, c)
	}
}

// A label that the model does not know is of another class, unless the model tells one class from all others. The names of the classes do
// not matter.
func TestEvaluationOfAnotherClass(t *testing.T) {
	for _, c := range []struct {
		classes, rest []string
		want          string
	}{
		{[]string{"a", "b"}, nil, "[a b (another)]"},
		{[]string{"not done", "open"}, nil, "[not done open (another)]"},
		{[]string{"not b", "b"}, nil, "[not b b (another)]"},
		{[]string{"not b", "b"}, []string{"a", "c"}, "[not b b]"},
		{[]string{"not b", "b"}, []string{"not b"}, "[not b b]"},
	} {
		e := newEvaluation(OutputColumn{Classes: c.classes, Rest: c.rest})
		err := e.add(&table.Values{Text: []string{"what"}}, 0, 0, []float32{0.9})
		switch {
		case len(e.Classes) == 3:
			must.Fail(t, c.want, err, "expected one of the classes "+strings.Join(c.classes, ", ")+`, found "what"`)
		case len(c.rest) == 2:
			must.Fail(t, c.want, err, `expected one of the classes a, c, b, found "what"`)
			must.Do(t, e.add(&table.Values{Text: []string{"c"}}, 0, 0, []float32{0.9}))
			must.Equal(t, fmt.Sprint(e.Confusion), "[[2 0] [0 0]]", "confusion")
			e.Rows--
		default:
			must.Do(t, err)
		}
		if got := fmt.Sprint(e.Classes); got != c.want || e.Rows != 1 {
			t.Errorf("%d rows of the classes %s, expected %s", e.Rows, got, c.want)
		}
	}
}

// Where one class is told from several others, the rest lists these. Where the data have two classes the rest is empty, even if the other
// class has the name of a rest.
func TestOutputColumnsOfRest(t *testing.T) {
	set := labelledSet(1)
	set.Columns.Labels[1].Classes = []string{"not yes", "yes"}
	columns := outputColumns(set, []int{8, 11})
	must.Hold(t, len(columns) == 2, "%d columns", len(columns))
	must.EqualSlices(t, columns[0].Classes, []string{"not a", "a"}, "classes of a column of three")
	must.EqualSlices(t, columns[0].Rest, []string{"b", "c"}, "their rest")
	must.EqualSlices(t, columns[1].Classes, []string{"not yes", "yes"}, "classes of a column of two")
	must.Hold(t, columns[1].Rest != nil && len(columns[1].Rest) == 0, "their rest is %q", columns[1].Rest)
}

// A file that is not an evaluation is refused.
func TestReadEvaluationRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), evaluationFile)
	for _, bad := range []string{`{}`, `{"classes":["a"]}`, `{"classes":["a","b"],"confusion":[[1],[1,2]]}`, `{"rows":"x"}`,
		`{"classes":["a","b","c"],"confusion":[[1],[1],[1]]}`, `{"classes":["a"],"confusion":[[1]],"numbers":{}}`,
		`{"classes":["a"],"confusion":[[]]}`, `{"surprise":1}`,
		`{"classes":["a","b"],"confusion":[[1],[1]],"calibration":[{"from":0.5,"rows":0}]}`} {
		must.Do(t, os.WriteFile(path, []byte(bad+"\n"), 0o644))
		must.Fail(t, bad, must.Err(readEvaluation(path)), path)
	}
}

// A held-out score that belongs to no method is refused.
func TestReadScoreRefuses(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, jsonfile.Write(filepath.Join(dir, ScoreFile), RoundScore{Held: []pipeline.Score{{Metric: pipeline.MetricError}}}))
	must.Fail(t, "a held-out score", must.Err(ReadScore(dir, "")), ScoreFile, "for each of 0 methods, found 1")
}

// A label with a decimal comma is refused beside predicted numbers, and the message says what to write.
func TestEvaluationRefusesCommas(t *testing.T) {
	err := newEvaluation(OutputColumn{Column: "y"}).add(&table.Values{Text: []string{"1,5"}}, 0, 0, []float32{0})
	must.Fail(t, "a decimal comma", err, `expected a number with a decimal point, found "1,5"`)
}

// Classes that are integers are recognised with and without zero decimals, which pandas writes where some are missing.
func TestEvaluationOfIntegers(t *testing.T) {
	labels := &table.Values{Text: []string{"1", "2.0", "2", "01"}}
	e := newEvaluation(OutputColumn{Column: "y", Classes: []string{"1.0", "2"}})
	for i := range labels.Text {
		e.add(labels, i, 0, []float32{0.5})
	}
	must.Equal(t, fmt.Sprint(e.Classes, e.Confusion), "[1.0 2 (another)] [[1 0] [2 0] [1 0]]", "classes and confusion")
}

// Words that people write for no label count as missing unless they are a class, be it one that the rest stands for.
func TestEvaluationPassesOverNone(t *testing.T) {
	labels := &table.Values{Text: []string{"NA", "yes", "unknown", "?", "maybe", "", "  "}}
	for want, c := range map[string]OutputColumn{
		"3 [yes unknown (another)]": {Classes: []string{"yes", "unknown"}},
		"2 [not yes yes]":           {Classes: []string{"not yes", "yes"}, Rest: []string{"no", "maybe"}},
		"3 [not yes yes]":           {Classes: []string{"not yes", "yes"}, Rest: []string{"no", "unknown"}},
		"2 [not yes yes (another)]": {Classes: []string{"not yes", "yes"}},
	} {
		c.Missing = []string{"?"}
		e := newEvaluation(c)
		for i := range labels.Text {
			e.add(labels, i, 0, []float32{0.5})
		}
		rows := 0
		for _, row := range e.Confusion {
			for _, n := range row {
				rows += n
			}
		}
		must.Equal(t, fmt.Sprint(rows, " ", e.Classes), want, "rows and classes")
	}
	numbers := newEvaluation(OutputColumn{Column: "y"})
	for _, i := range []int{0, 5, 6} {
		must.Do(t, numbers.add(labels, i, 0, []float32{0.5}))
	}
	must.Equal(t, numbers.Rows, 0, "rows with a number")
}

// A row of a known class counts, as in a score, also where the label of the class predicted for it is missing.
func TestEvaluationOfMissingLabels(t *testing.T) {
	e, missing := newEvaluation(OutputColumn{Classes: []string{"a", "b"}, Heads: 2}), math.NaN()
	labels := [][]float64{{missing, 1}, {missing, 0}, {1, missing}}
	e.compareClasses([][]float32{{0.9, 0.9, 0.9}, {0.1, 0.1, 0.1}}, []int{0, 0, 0}, 2, func(row, k int) float64 { return labels[row][k] })
	must.Hold(t, e.Rows == 2 && *e.Error == 0.5, "%d rows, error %g", e.Rows, *e.Error)
}
