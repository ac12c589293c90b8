package runs

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// writeTestRows writes the test rows of a task as CSV, with their labels.
func writeTestRows(t *testing.T, path string, set *dataset.Set, task *dataset.Task) {
	t.Helper()
	var text strings.Builder
	text.WriteString("name,y")
	cols := set.Pools[task.Pool].Cols
	for j := range cols {
		fmt.Fprintf(&text, ",f%d", j)
	}
	for i, row := range task.Test {
		fmt.Fprintf(&text, "\nrow %d,%g", i, task.Labels[row])
		for _, x := range features(set, task.Pool, int(row)) {
			fmt.Fprintf(&text, ",%g", float32(x))
		}
	}
	must.Do(t, os.WriteFile(path, []byte(text.String()), 0o644))
}

// Predictions of the test rows have the score that the run recorded, for each representation, method and type of label.
func TestPredictScoresAsTheRun(t *testing.T) {
	intercept := smallConfig()
	intercept.Intercept, intercept.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
	feature := intercept
	feature.Scaling = pipeline.ScalingFeature
	alone := intercept
	alone.Methods = []string{pipeline.Uniform, pipeline.Target}
	logistic := intercept
	logistic.Head.Loss = pipeline.LossLogistic
	network := smallConvConfig()
	network.Head = intercept.Head
	for i, c := range []struct {
		name   string
		set    *dataset.Set
		cfg    pipeline.Config
		target string
	}{
		{"classes", smallSet(71, 4, 400, 6, true), smallConfig(), "floats_3"},
		{"intercept", smallSet(72, 4, 400, 6, true), intercept, "floats_3"},
		{"features", smallSet(76, 4, 400, 6, true), feature, "floats_3"},
		{"logistic", smallSet(77, 4, 400, 6, true), logistic, "floats_3"},
		{"numbers", smallSet(73, 4, 400, 6, false), intercept, "floats_1"},
		{"alone", smallSet(74, 4, 400, 6, false), alone, "floats_1"},
		{"conv", smallImages(75, 3, 300, 6, 9), smallConvConfig(), ""},
		{"conv with delta", smallImages(75, 3, 300, 6, 9), network, ""},
	} {
		if c.target == "" {
			c.target = c.set.Tasks[0].Name
		}
		dev := openDevice(t, 2, c.set)
		dir := t.TempDir()
		res := mustRun(t, dev, identityOf(dev, c.cfg, []string{c.target}, uint64(i)), dir)
		method := cmp.Or(res.Recommended, c.cfg.Methods[0])
		if c.name == "alone" {
			method = pipeline.Target
			must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), must.Get(os.ReadFile(folder{dir: dir}.methodModel(method)))(t), 0o644))
			must.Do(t, os.Remove(filepath.Join(dir, resultFile))) // which lists the model of another method
		}
		task := &c.set.Tasks[must.Get(c.set.TaskIndex(c.target))(t)]
		rows := filepath.Join(t.TempDir(), "rows.csv")
		writeTestRows(t, rows, c.set, task)
		q := pipelinetest.NewQueue(t, dev.Device)
		p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv"), Features: []string{"f*"}, ID: "name", Label: "y"}
		found := must.Get(Predict(t.Context(), q, p, nil))(t)
		want := res.Method(method).Score
		if len(found) != 1 || found[0].Rows != len(task.Test) {
			t.Fatalf("%s: %+v", c.name, found)
		}
		var got float64
		if n := found[0].Numbers; n != nil {
			got = n.MSE
		} else {
			got = *found[0].Error
		}
		if (found[0].Numbers == nil) != (want.Metric == pipeline.MetricError) || !near(got, want.Value, 1e-4) {
			t.Errorf("%s: the predictions score %g, the run recorded %+v", c.name, got, want)
		}
		if kept := filepath.Join(dir, checkpointDir, method+".jsonl"); c.cfg.Head.Prior == pipeline.PriorIdentity {
			must.Absent(t, kept)
			must.Absent(t, filepath.Join(dir, evaluationFile))
		} else {
			sameEvaluation(t, c.name, must.Get(readEvaluation(kept))(t)[0], found[0])
		}
		out := must.Get(csv.NewReader(must.Get(os.Open(p.Out))(t)).ReadAll())(t)
		if len(out) != 1+len(task.Test) || out[1][0] != "row 0" || out[len(out)-1][0] != fmt.Sprintf("row %d", len(task.Test)-1) {
			t.Errorf("%s: %d rows, the first %v", c.name, len(out), out[:2])
		}
		must.Fail(t, "again", must.Err(Predict(t.Context(), q, p, nil)), p.Out+": expected no such file")

		if c.cfg.Head.Loss == pipeline.LossLogistic {
			sameProbabilities(t, c.name, found[0].Probabilities, writtenProbabilities(t, out, task), 1e-6)
		} else {
			must.Hold(t, found[0].Probabilities == nil, "%s: scores that are no probabilities: %+v", c.name, found[0].Probabilities)
		}

		p.Out, p.Embed = filepath.Join(dir, "phi.csv"), true
		must.Get(Predict(t.Context(), q, p, nil))(t)
		checkPhi(t, c.name, must.Get(csv.NewReader(must.Get(os.Open(p.Out))(t)).ReadAll())(t), out, dir)

		for _, bad := range []struct {
			change func(*Prediction)
			says   string
		}{
			{func(p *Prediction) { p.Features = []string{"g*"} }, `expected a column "g*"`},
			{func(p *Prediction) { p.Features = []string{"f1", "f2"} }, fmt.Sprintf("expected %d columns of features", task0Cols(c.set))},
			{func(p *Prediction) { p.Features = []string{"f1"} }, fmt.Sprintf("expected %d elements, found 1", task0Cols(c.set))},
			{func(p *Prediction) { p.Features = nil }, "say which with --features"},
			{func(p *Prediction) { p.ID = "nobody" }, `expected a column "nobody"`},
			{func(p *Prediction) { p.Label = "nothing" }, `expected a column "nothing"`},
			{func(p *Prediction) { p.Dir = filepath.Dir(rows) }, "has no model.safetensors"},
			{func(p *Prediction) { p.Out = filepath.Join(dir, "out.xls") }, "expected a name that ends in one of .parquet, .csv, .jsonl"},
		} {
			p := p
			p.Out, p.Embed = filepath.Join(dir, "bad.csv"), false
			bad.change(&p)
			must.Fail(t, bad.says, must.Err(Predict(t.Context(), q, p, nil)), bad.says)
			must.Absent(t, p.Out)
		}
	}
}

func task0Cols(set *dataset.Set) int { return set.Pools[0].Cols }

// checkPhi checks that the head applied to phi gives the predictions, as the documentation of the tensors says, where nothing but phi
// matters.
func checkPhi(t *testing.T, name string, phi, out [][]string, dir string) {
	t.Helper()
	m := must.Get(ReadModel(dir))(t)
	if len(phi) != len(out) || len(phi[0]) != 1+m.K || phi[0][1] != "phi_0" {
		t.Fatalf("%s: phi has %d rows of %v", name, len(phi), phi[0])
	}
	if name != "classes" && name != "conv" {
		return
	}
	for i := 1; i < len(phi); i++ {
		y := 0.0
		for k, w := range m.Head {
			y += float64(w) * must.Get(strconv.ParseFloat(phi[i][1+k], 64))(t)
		}
		last := must.Get(strconv.ParseFloat(out[i][len(out[i])-1], 64))(t)
		if math.Abs(y-last) > 1e-4*(1+math.Abs(y)) {
			t.Errorf("%s: row %d: the head of phi is %g, predicted %g", name, i, y, last)
		}
	}
}

// Labels of several columns are predicted together. Values that stand for no label are not compared, and absent tensors count as zero or
// one.
func TestPredictSeveralLabels(t *testing.T) {
	dir := t.TempDir()
	model := must.Get(safetensors.Encode([]safetensors.Tensor{
		{Name: "representation.weight", Shape: []int{1, 2}, Data: []float32{1, 2}},
		{Name: "target.weight", Shape: []int{3, 1}, Data: []float32{1, -1, 0.25}},
		{Name: "target.bias", Shape: []int{3}, Data: []float32{0, 1, 0}},
	}, map[string]string{
		"features": `["x"]`,
		"labels": `[{"column":"kind","classes":["a","b"],"heads":2},` +
			`{"column":"size","classes":["not big","big"],"missing":["?"],"rest":["not big"],"heads":1}]`,
	}))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), model, 0o644))
	rows := filepath.Join(dir, "rows.jsonl")
	must.Do(t, os.WriteFile(rows, []byte(`{"x": [1, 1], "kind": "a", "size": "?"}
{"x": [0, 0], "kind": "a", "size": "small"}
{"x": [-1, 0], "kind": "other", "size": "big"}
`), 0o644))
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv")}
	found := must.Get(Predict(t.Context(), q, p, func(int64, int64) {}))(t)
	want := `id,kind_label,kind_score_a,kind_score_b,size_label,size_score_not big,size_score_big
0,a,3,-2,big,0.25,0.75
1,b,0,1,not big,1,0
2,b,-1,2,not big,1.25,-0.25
`
	if got := string(must.Get(os.ReadFile(p.Out))(t)); got != want {
		t.Errorf("predicted\n%swant\n%s", got, want)
	}
	if len(found) != 2 || found[0].Rows != 3 || !near(*found[0].Error, 2./3, 1e-12) || len(found[0].Confusion) != 3 ||
		found[0].Confusion[2][1] != 1 || found[1].Rows != 2 || *found[1].Error != 0.5 {
		t.Errorf("compared: %+v, %+v", *found[0], *found[1])
	}
	other := UnknownLabels{1, rows + `: line 3, column kind: expected one of the classes a, b, found "other"`}
	must.Equal(t, *found[0].Unknown, other, "unknown labels")
	must.Hold(t, found[1].Unknown == nil, "a class that is not big is unknown: %+v", found[1].Unknown)
	for _, labels := range []string{`[]x`, `[{"heads":2}]`, `[{"classes":["a","b"],"heads":2}]`} {
		bad := must.Get(safetensors.Encode([]safetensors.Tensor{
			{Name: "representation.weight", Shape: []int{1, 2}, Data: []float32{1, 2}},
			{Name: "target.weight", Shape: []int{3, 1}, Data: []float32{1, -1, 0.25}},
		}, map[string]string{"labels": labels}))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), bad, 0o644))
		p.Out = filepath.Join(dir, "bad.csv")
		must.Fail(t, labels, must.Err(Predict(t.Context(), q, p, func(int64, int64) {})), "metadata labels")
	}
}

// The features of a model are the columns of the same names, in the model's order, even where a name, read as a pattern, matches other
// columns. Where such a column is missing, no other takes its place.
func TestPredictFeaturesByName(t *testing.T) {
	dir := t.TempDir()
	model := must.Get(safetensors.Encode([]safetensors.Tensor{
		{Name: "representation.weight", Shape: []int{1, 3}, Data: []float32{1, 10, 100}},
		{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{1}},
	}, map[string]string{"features": `["T*","a","Tmax"]`, "labels": `[{"column":"y","heads":1}]`}))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), model, 0o644))
	rows := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(rows, []byte("Tmax,T*,a,y\n3,1,2,321\n"), 0o644))
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv")}
	found := must.Get(Predict(t.Context(), q, p, nil))(t)
	must.Equal(t, found[0].Numbers.MSE, 0, "mean squared error")

	must.Do(t, os.WriteFile(rows, []byte("Tmax,Tmin,a,y\n3,1,2,321\n"), 0o644))
	p.Out = filepath.Join(dir, "none.csv")
	must.Fail(t, "a column that is not there", must.Err(Predict(t.Context(), q, p, nil)), `expected a column "T*"`)
}

// Labels that are not numbers do not stop a prediction: they are not compared, and the first of them is named.
func TestPredictBesideUnknownLabels(t *testing.T) {
	dir := t.TempDir()
	model := must.Get(safetensors.Encode([]safetensors.Tensor{
		{Name: "representation.weight", Shape: []int{1, 1}, Data: []float32{1}},
		{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{2}},
	}, map[string]string{"features": `["x"]`, "labels": `[{"column":"y","heads":1}]`}))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), model, 0o644))
	rows := filepath.Join(dir, "rows.csv")
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := Prediction{Dir: dir, Files: []string{rows}, Label: "seen"}
	for i, c := range []struct {
		labels   []string
		compared int
		unknown  UnknownLabels
	}{
		{[]string{"2", "broken", "4.5", "inf", "NA"}, 2, UnknownLabels{2, `line 3, column seen: expected a number, found "broken"`}},
		{[]string{"2;0", "1"}, 1, UnknownLabels{1, `line 2, column seen: expected a number, found "2;0"`}},
		{[]string{`"1,5"`, "2.5"}, 1, UnknownLabels{1, `line 2, column seen: expected a number with a decimal point, found "1,5"`}},
	} {
		text := "x,seen\n"
		for _, label := range c.labels {
			text += "1.0," + label + "\n"
		}
		must.Do(t, os.WriteFile(rows, []byte(text), 0o644))
		p.Out = filepath.Join(dir, fmt.Sprint(i, ".csv"))
		found := must.Get(Predict(t.Context(), q, p, func(int64, int64) {}))(t)
		c.unknown.First = rows + ": " + c.unknown.First
		must.Hold(t, len(found) == 1 && found[0].Rows == c.compared && *found[0].Unknown == c.unknown, "%q: %+v", c.labels, found)
		must.Hold(t, (found[0].Numbers != nil) == (c.compared > 0), "%q: %+v", c.labels, found[0].Numbers)
		out := string(must.Get(os.ReadFile(p.Out))(t))
		must.Equal(t, strings.Count(out, ",2\n"), len(c.labels), "rows of predictions %s", out)
	}
}

// The scores of the classes of a column are the probabilities of each class against all others, divided by their sum. For one class against
// the rest they are p and 1 - p.
func TestPredictProbabilities(t *testing.T) {
	dir := t.TempDir()
	model := must.Get(safetensors.Encode([]safetensors.Tensor{
		{Name: "representation.weight", Shape: []int{1, 1}, Data: []float32{1}},
		{Name: "target.weight", Shape: []int{4, 1}, Data: []float32{1, -1, 0.25, 2}},
		{Name: "target.ridge", Shape: []int{4, 1}, Data: make([]float32, 4)},
	}, map[string]string{
		"features": `["x"]`,
		"labels":   `[{"column":"kind","classes":["a","b","c"],"heads":3},{"column":"size","classes":["not big","big"],"heads":1}]`,
	}))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), model, 0o644))
	rows := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(rows, []byte("x\n0\n-3\n0.7\n-500\n"), 0o644))
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv")}
	must.Get(Predict(t.Context(), q, p, func(int64, int64) {}))(t)
	f := must.Get(os.Open(p.Out))(t)
	defer f.Close()
	lines := must.Get(csv.NewReader(f).ReadAll())(t)
	for i, x := range []float64{0, -3, 0.7, -500} {
		of := func(logOdds float64) float64 { return 1 / (1 + math.Exp(-logOdds)) }
		a, b, c, big := of(x), of(-x), of(x/4), of(2*x)
		for k, want := range []float64{a / (a + b + c), b / (a + b + c), c / (a + b + c), 1 - big, big} {
			at := 2 + k + k/3
			if got := must.Get(strconv.ParseFloat(lines[i+1][at], 64))(t); !near(got, want, 1e-6) {
				t.Errorf("x = %g: %s is %g, expected %g", x, lines[0][at], got, want)
			}
		}
	}
}

// Log-odds so large that float32 cannot tell their probabilities from 0 and 1 have scores that add up to 1, in the order of the log-odds,
// and the class of the largest.
func TestClassify(t *testing.T) {
	rng := testrand.New(t)
	for range 2000 {
		size, shift := math.Pow(10, 5*rng.Float64()), 300*rng.NormFloat64()
		heads, odds := make([][]float32, 1+rng.IntN(6)), []float64(nil)
		for k := range heads {
			v := float32(size*rng.NormFloat64() + shift)
			heads[k], odds = []float32{v}, append(odds, float64(v))
		}
		scores, class := classify(heads, true)
		want, sum := floats.MaxIdx(odds), 0.0
		if len(heads) == 1 {
			want = 0
			if odds[0] > 0 {
				want = 1
			}
		}
		for _, s := range scores {
			sum += float64(s[0])
		}
		if class[0] != want || !near(sum, 1, 1e-6) || len(heads) > 1 && scores[want][0] < scores[floats.MinIdx(odds)][0] {
			t.Fatalf("log-odds %v: class %d, expected %d, scores %v", odds, class[0], want, scores)
		}
	}
	scores, class := classify([][]float32{{0.2}, {0.7}, {0.6}}, false)
	must.Hold(t, class[0] == 1 && scores[2][0] == 0.6, "predictions of labels are class %v, %v", class, scores)
}
