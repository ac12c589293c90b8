package runs

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// wrong returns the fraction of the given rows for which another class is predicted.
func wrong(out [][]string, want func(row int) string, rows []int32) float64 {
	n := 0
	for _, r := range rows {
		if out[1+r][1] != want(int(r)) {
			n++
		}
	}
	return float64(n) / float64(len(rows))
}

// The images of a folder in the layout of MNIST-C are predicted as in the run, from its files and from memory, by the model of each method,
// whether each task is a source or each pool. That is so too where no evaluation lists the classes: with preset paper, or with its prior
// under any other preset.
func TestPredictImagesOfTheLayout(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "digits")
	drawn := must.Get(dataset.Digits(1, 200, 0))(t)
	names, images := []string{}, [][]uint8{}
	for _, p := range drawn.Pools[:3] {
		names, images = append(names, p.Name), append(images, p.U8)
	}
	digits := must.Get(dataset.DigitLabels(200, 1))(t)
	must.Do(t, dataset.WriteLayout(dir, names, images, digits))
	set := must.Get(dataset.ReadLayout(dir))(t)
	dev := openDevice(t, 2, set)
	q := pipelinetest.NewQueue(t, dev.Device)
	isThree, digit := func(row int) string { return map[bool]string{true: "1", false: "0"}[digits[row] == 3] },
		func(row int) string { return fmt.Sprint(digits[row]) }
	for _, c := range []struct {
		preset, prior, sources, target string
		label                          func(row int) string
		heads                          int
		methods                        []string
	}{
		{pipeline.PresetDefault, pipeline.PriorResidual, pipeline.SourcesTasks, names[0] + "_3", isThree, 1,
			[]string{pipeline.Target, pipeline.Constant}},
		{pipeline.PresetDefault, pipeline.PriorResidual, pipeline.SourcesPools, names[0], digit, 10,
			[]string{pipeline.Target, pipeline.Constant, pipeline.Pooled}},
		{pipeline.PresetDefault, pipeline.PriorIdentity, pipeline.SourcesPools, names[0], digit, 10, nil},
		{pipeline.PresetPaper, pipeline.PriorIdentity, pipeline.SourcesPools, names[0], digit, 10, nil},
	} {
		cfg := must.Get(pipeline.NewConfig(c.preset))(t)
		cfg.Head.Prior = c.prior
		cfg.Sources, cfg.TargetSamples, cfg.Methods = c.sources, 100, append([]string{pipeline.Uniform}, c.methods...)
		cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 1, Budget: 300}
		run := t.TempDir()
		res := mustRun(t, dev, identityOf(dev, cfg, []string{c.target}, 0), run)
		for _, method := range append([]string{""}, cfg.Methods...) {
			what, out := c.sources+" "+method, filepath.Join(run, method+".csv")
			images := filepath.Join(dir, names[0], "test_images.npy")
			must.Get(Predict(t.Context(), q, Prediction{Dir: run, Method: method, Files: []string{images}, Out: out}, nil))(t)
			table := must.Get(csv.NewReader(must.Get(os.Open(out))(t)).ReadAll())(t)
			want, test := res.Method(cmp.Or(method, res.Recommended, pipeline.Uniform)).Score.Value, set.Tasks[0].Test
			if got := wrong(table, c.label, test); !near(got, want, 1e-9) || table[0][1] != "label" {
				t.Errorf("%s: the predictions err %g, the run recorded %g; columns %v", what, got, want, table[0])
			}
			p, columns := must.Get2(OpenMethodPredictor(q, run, method))(t)
			t.Cleanup(p.Close)
			must.Hold(t, len(columns) == 1 && columns[0].Heads == c.heads && p.C == c.heads, "%s: %+v", what, columns)
			labels := must.Get(PredictLabels(p, columns, set.Pools[0]))(t)
			must.Hold(t, len(labels) == 1 && len(labels[0].Class) == set.Pools[0].Rows && labels[0].Numbers == nil, "%s: %+v", what, labels)
			for row, k := range labels[0].Class {
				memory := []string{columns[0].Classes[k]}
				for _, of := range labels[0].Scores {
					memory = append(memory, strconv.FormatFloat(float64(of[row]), 'g', -1, 32))
				}
				must.EqualSlices(t, memory, table[1+row][1:], "%s: row %d from memory and from the file", what, row)
			}
		}
	}
}

// Numbers are the outputs of the model, column by column. Columns and rows that do not fit the model are refused.
func TestPredictNumbersOfColumns(t *testing.T) {
	set := smallSet(61, 4, 200, 5, false)
	for i := range set.Tasks {
		set.Tasks[i].Output.Name = []string{"wear", "heat"}[i/2]
	}
	cfg, dir, dev := smallConfig(), t.TempDir(), openDevice(t, 1, set)
	cfg.Sources = pipeline.SourcesPools
	mustRun(t, dev, identityOf(dev, cfg, []string{set.Pools[0].Name}, 0), dir)
	p, columns := must.Get2(OpenPredictor(pipelinetest.NewQueue(t, dev.Device), dir))(t)
	defer p.Close()
	rows := set.Pools[0]
	y, labels := make([]float32, rows.Rows*p.C), must.Get(PredictLabels(p, columns, rows))(t)
	must.Do(t, p.Predict(rows, y))
	must.Hold(t, len(labels) == 2 && p.C == 2, "%d columns of %d outputs", len(labels), p.C)
	for i, v := range y {
		l := labels[i%2]
		must.Hold(t, l.Numbers[i/2] == v && l.Class == nil && l.Scores == nil, "row %d: %g of output %d, expected %g", i/2, l.Numbers[i/2],
			i%2, v)
	}
	none := must.Get(PredictLabels(p, columns, &dataset.Pool{Cols: p.D, Scale: 1}))(t)
	must.Hold(t, len(none) == 2 && len(none[0].Numbers) == 0, "no rows: %+v", none)
	with := func(v float32) *dataset.Pool {
		one := &dataset.Pool{Rows: 2, Cols: p.D, Scale: 1, F32: make([]float32, 2*p.D)}
		one.F32[1], one.F32[p.D+2] = float32(math.NaN()), v
		return one
	}
	passes := must.Get(PredictLabels(p, columns, with(1e18)))(t)[0].Numbers
	must.Hold(t, passes[0] != passes[0] && passes[1] == passes[1], "a row with NaN and one without are %v", passes)
	both := []OutputColumn{{Column: "both", Heads: 2}}
	infinite, large := with(float32(math.Inf(1))), with(2e18)
	for says, err := range map[string]error{
		"row 1, column 2: expected a finite value, found +Inf":                         must.Err(PredictLabels(p, columns, infinite)),
		"row 1, column 2: expected a value of at most 1e+18 in magnitude, found 2e+18": must.Err(PredictLabels(p, columns, large)),
		"found 2 outputs and 0 classes":                                                must.Err(PredictLabels(p, both, rows)),
		"expected the columns of the model, of 2 outputs, found those of 1":            must.Err(PredictLabels(p, columns[:1], rows)),
		"found nil":          must.Err(PredictLabels(p, columns, nil)),
		"expected rows of 5": must.Err(PredictLabels(p, columns, &dataset.Pool{Rows: 1 << 40, Cols: 5, Scale: 1})),
	} {
		must.Fail(t, says, err, says)
	}
}

// The classes of a set that a program made, which has no tables, have their names.
func TestPredictClassesOfOwnSets(t *testing.T) {
	set := smallSet(77, 4, 300, 6, true)
	for i := range set.Tasks {
		set.Tasks[i].Output = dataset.Output{Name: "mood", Class: []string{"bad", "good"}[i/2]}
	}
	cfg := smallConfig()
	cfg.Sources = pipeline.SourcesPools
	dev, dir := openDevice(t, 1, set), t.TempDir()
	mustRun(t, dev, identityOf(dev, cfg, []string{set.Pools[0].Name}, 0), dir)
	p, columns := must.Get2(OpenPredictor(pipelinetest.NewQueue(t, dev.Device), dir))(t)
	p.Close()
	must.Hold(t, len(columns) == 1 && columns[0].Column == "mood" && fmt.Sprint(columns[0].Classes) == "[bad good]", "%+v", columns)
	_, _, err := OpenPredictor(pipelinetest.NewQueue(t, dev.Device), t.TempDir())
	must.Fail(t, "no run", err, "expected the folder of a finished run")
}

// Bytes in files have the scale of the byte pools that a program made, or 1 where its pools are of floats.
func TestPredictBytesOfOwnSets(t *testing.T) {
	for _, scale := range []float32{1, 0.5, pixelScale} {
		for _, bytes := range []bool{true, false} {
			set := smallSet(61, 4, 200, 5, false)
			raw, rows := set.Pools[0].U8, set.Pools[0].Rows
			for i := range set.Tasks {
				set.Tasks[i].Output.Name = []string{"wear", "heat"}[i/2]
			}
			if set.Pools[0].Scale = scale; !bytes {
				set.Pools[0].U8, set.Pools[0].F32, set.Pools[0].Scale = nil, make([]float32, len(raw)), 1
				for i, v := range raw {
					set.Pools[0].F32[i] = float32(v)
				}
			}
			cfg, dir, dev := smallConfig(), t.TempDir(), openDevice(t, 1, set)
			cfg.Sources = pipeline.SourcesPools
			mustRun(t, dev, identityOf(dev, cfg, []string{set.Pools[0].Name}, 0), dir)
			q, file, out := pipelinetest.NewQueue(t, dev.Device), filepath.Join(dir, "rows.npy"), filepath.Join(dir, "out.csv")
			must.Do(t, os.WriteFile(file, append(npy.FormatHeader("|u1", rows, 5), raw...), 0o644))
			must.Get(Predict(t.Context(), q, Prediction{Dir: dir, Files: []string{file}, Out: out}, nil))(t)
			table := must.Get(csv.NewReader(must.Get(os.Open(out))(t)).ReadAll())(t)
			p, columns := must.Get2(OpenPredictor(q, dir))(t)
			for i, v := range must.Get(PredictLabels(p, columns, set.Pools[0]))(t)[0].Numbers {
				must.Equal(t, table[1+i][1], strconv.FormatFloat(float64(v), 'g', -1, 32), "scale %g, bytes %v: row %d", scale, bytes, i)
			}
			p.Close()
		}
	}
}

// The model of a method is the run's where that is of the method, or lies in checkpoint or in models. Where there is none, the error names
// the methods whose models are there.
func TestPredictorOfAMethod(t *testing.T) {
	dev, _, dir, _ := ran(t, smallSet(61, 4, 200, 5, false))
	q := pipelinetest.NewQueue(t, dev.Device)
	predict := func(method string) []float32 {
		t.Helper()
		p, _ := must.Get2(OpenMethodPredictor(q, dir, method))(t)
		defer p.Close()
		y := make([]float32, dev.Set.Pools[0].Rows*p.C)
		must.Do(t, p.Predict(dev.Set.Pools[0], y))
		return y
	}
	active, uniform := predict(pipeline.Active), predict(pipeline.Uniform)
	must.EqualSlices(t, predict(""), active, "predictions of the run's model, which is of active")
	must.Hold(t, !slices.Equal(active, uniform), "active predicts as uniform does")
	fails := func(method, there string) {
		t.Helper()
		_, _, err := OpenMethodPredictor(q, dir, method)
		must.Fail(t, method, err, fmt.Sprintf("%s: expected a method whose model is there (%s), found %q", dir, there, method))
	}
	fails(pipeline.Target, "active, uniform")
	fails("epoch", "active, uniform")
	fails("../model", "active, uniform")
	fails(strings.Repeat("x", 300), "active, uniform")
	must.Do(t, os.Rename(filepath.Join(dir, checkpointDir), filepath.Join(dir, modelsDir)))
	must.EqualSlices(t, predict(pipeline.Uniform), uniform, "predictions of the model in models")
	own := filepath.Join(dir, modelsDir, "uniform.safetensors")
	must.Do(t, os.WriteFile(own, []byte("damaged"), 0o644))
	must.Fail(t, "a damaged model", must.Err(OpenMethodPredictor(q, dir, pipeline.Uniform)), own+": ")
	fails(pipeline.Target, "active")
	must.Do(t, os.RemoveAll(filepath.Join(dir, modelsDir)))
	must.EqualSlices(t, predict(pipeline.Active), active, "predictions of active without its own file")
	fails(pipeline.Uniform, "active")
	must.Do(t, os.Remove(filepath.Join(dir, modelFile)))
	must.Fail(t, "an unfinished run", must.Err(OpenMethodPredictor(q, dir, pipeline.Active)), dir+" has no model.safetensors")
}
