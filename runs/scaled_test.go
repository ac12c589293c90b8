package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// Vectors in other units than those of the run are reported with the factor by which they are larger, for the model of every method and
// every scaling that has units. Vectors like the samples are not reported.
func TestPredictScaledVectors(t *testing.T) {
	rng := testrand.New(t)
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	methods := []string{pipeline.Active, pipeline.Uniform, pipeline.Pooled, pipeline.Target, pipeline.Constant}
	for _, scaling := range []string{pipeline.ScalingFeature, pipeline.ScalingGlobal, pipeline.ScalingNone} {
		set := sites{classes: 3, samples: 30, d: 6, sources: 3, alike: 2, rows: 60}.draw(t, rng)
		unit := math.Exp(6 * rng.NormFloat64())
		for _, p := range set.Pools {
			for i := range p.F32 {
				p.F32[i] = float32(unit * (float64(p.F32[i]) + 0.5))
			}
		}
		cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
		cfg, _ = cfg.Fit(set, []string{"target"})
		cfg.Scaling, cfg.Methods = scaling, methods
		dir := t.TempDir()
		mustRun(t, openDevice(t, 1, set), identityOf(openDevice(t, 1, set), cfg.Complete(set), []string{"target"}, 1), dir)
		for _, method := range methods {
			for times, says := range must.Ordered(map[float64]bool{1: false, 3: false, 0.3: false, 1000: true, 0.001: true, 100: true}) {
				rows := ""
				for range 40 {
					x := pipelinetest.Normals(rng, 6)
					for j := range x {
						x[j] = times * unit * (x[j] + 0.5)
					}
					rows += fmt.Sprintf("{\"x\": %s}\n", must.Get(json.Marshal(x))(t))
				}
				path, said := filepath.Join(t.TempDir(), "rows.jsonl"), 0.0
				must.Do(t, os.WriteFile(path, []byte(rows), 0o644))
				must.Get(Predict(t.Context(), q, Prediction{Dir: dir, Method: method, Files: []string{path}, Features: []string{"x"},
					Out: filepath.Join(filepath.Dir(path), "out.csv"), Scaled: func(v float64) { said = v }}, nil))(t)
				if scaling == pipeline.ScalingNone || !says {
					must.Equal(t, said, 0, "%s, scaling %s: what is said of rows times %g", method, scaling, times)
				} else {
					must.Hold(t, said > times/2 && said < 2*times, "%s, scaling %s: rows times %g are said to be %g times as large", method,
						scaling, times, said)
				}
			}
		}
	}
}

// Rows without a vector are refused, with their number.
func TestPredictCountsMissingVectors(t *testing.T) {
	rng := testrand.New(t)
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	set := sites{classes: 3, samples: 30, d: 2, sources: 3, alike: 2, rows: 60}.draw(t, rng)
	cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
	cfg, _ = cfg.Fit(set, []string{"target"})
	dir := t.TempDir()
	mustRun(t, openDevice(t, 1, set), identityOf(openDevice(t, 1, set), cfg.Complete(set), []string{"target"}, 1), dir)
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	rows := strings.Repeat("{\"x\": [1, 2]}\n{\"x\": null}\n", 4)
	must.Do(t, os.WriteFile(path, []byte(rows), 0o644))
	out := filepath.Join(filepath.Dir(path), "out.csv")
	err := must.Err(Predict(t.Context(), q, Prediction{Dir: dir, Files: []string{path}, Features: []string{"x"}, Out: out}, nil))
	must.Fail(t, "missing vectors", err, "rows.jsonl: line 2: column x: expected a vector, found none; 3 other rows of the file have no ")
	must.Fail(t, "the output", must.Err(os.Stat(out)), "no such file")
}

// Whatever rows are like, others like them are hardly ever reported as of another size, and in other units they always are.
func TestScaledByChance(t *testing.T) {
	rng := testrand.New(t)
	kinds := map[string]func() float64{
		"normal":     rng.NormFloat64,
		"far from 0": func() float64 { return 50 + rng.NormFloat64() },
		"skewed":     func() float64 { return math.Exp(1.2 * rng.NormFloat64()) },
		"sparse":     func() float64 { return float64(b2i(rng.IntN(5) == 0)) * rng.ExpFloat64() },
	}
	sizes := map[string]func() float64{
		"alike":   func() float64 { return 1 },
		"skewed":  func() float64 { return math.Exp(rng.NormFloat64()) },
		"outlier": func() float64 { return math.Pow(10, float64(b2i(rng.IntN(20) == 0))) },
		"zeros":   func() float64 { return float64(rng.IntN(3)) / 2 },
	}
	for kind, value := range must.Ordered(kinds) {
		for name, size := range must.Ordered(sizes) {
			told, lost := 0, 0
			for range 100 {
				d := 8 + rng.IntN(30)
				draw := func(n int, times float64) [][]float64 {
					rows := make([][]float64, n)
					for i := range rows {
						rows[i] = make([]float64, d)
						for j, s := 1, times*size(); j < d; j++ { // feature 0 is always 0
							rows[i][j] = s * value()
						}
					}
					return rows
				}
				m := modelOf(draw(300, 1), rng.IntN(2) == 0)
				says := func(rows [][]float64) (said bool) {
					s := newScaled(m.stored, m.tensors)
					for len(rows) > 0 {
						n := min(len(rows), 1+rng.IntN(len(rows)))
						s.add(vectorsOf(rows[:n], d))
						rows = rows[n:]
					}
					s.tell(func(float64) { said = true })
					return said
				}
				told += b2i(says(draw(10+rng.IntN(100), 1)))
				lost += b2i(!says(draw(100, 1e5)) || !says(draw(100, 1e-5)))
				one := append(draw(40, 1), draw(1, 1e6)...)
				must.Hold(t, !says(one) || name == "outlier", "%s, %s: one row of 41 decides", kind, name)
				if few := draw(9, 1e5); says(few) {
					t.Fatalf("%s, %s: said of nine rows", kind, name)
				}
			}
			must.Hold(t, told <= 2, "%s, %s: %d of 100 files of rows like those of the model", kind, name, told)
			must.Hold(t, lost == 0, "%s, %s: %d of 100 files in other units are not told", kind, name, lost)
		}
	}
}

// Bytes are multiplied by the scale of the model, and float16 numbers are taken as they are.
func TestScaledOfStoredTypes(t *testing.T) {
	rng := testrand.New(t)
	const n, d = 40, 5
	for _, scale := range []float64{1, 1. / 255} {
		rows := make([][]float64, n)
		u8, f16 := &table.Vectors{Width: d}, &table.Vectors{Width: d}
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				v := uint8(rng.IntN(256))
				rows[i][j] = scale * float64(v)
				u8.U8, f16.F16 = append(u8.U8, v), append(f16.F16, uint16(float16.Fromfloat32(float32(v))))
			}
		}
		m := modelOf(rows, true)
		m.stored.scale = float32(scale)
		for of, v := range map[string]*table.Vectors{"bytes": u8, "half numbers": f16} {
			s, said := newScaled(m.stored, m.tensors), 0.0
			s.add(v)
			s.tell(func(times float64) { said = times })
			right := said == 0
			if of != "bytes" && scale != 1 {
				right = math.Abs(said/255-1) < 0.1
			}
			must.Hold(t, right, "%s times %g are said to be %g times as large", of, scale, said)
		}
	}
	for what, features := range map[string][]string{"two columns": {"a", "b"}, "five": strings.Fields("a b c d e")} {
		m := modelOf([][]float64{{1, 2, 3, 4, 5}, {2, 3, 5, 8, 1}}, true)
		m.stored.features = features
		must.Hold(t, newScaled(m.stored, m.tensors) == nil, "%s are taken for vectors", what)
	}
}

type unitsOf struct {
	stored  *storedModel
	tensors []pipeline.Tensor
}

// modelOf returns the units of a model that is fitted to rows: one for each feature if each is true, or one for all features.
func modelOf(rows [][]float64, each bool) unitsOf {
	d, n := len(rows[0]), float64(len(rows))
	centre, spread, all := make([]float32, d), make([]float32, d), 0.0
	for j := range d {
		mean, square := 0.0, 0.0
		for _, x := range rows {
			mean += x[j] / n
		}
		for _, x := range rows {
			square += (x[j] - mean) * (x[j] - mean) / n
		}
		centre[j], spread[j], all = float32(mean), float32(math.Sqrt(square)), all+square/float64(d)
		if spread[j] == 0 {
			spread[j] = 1 // as in the pipeline
		}
	}
	if !each {
		spread = []float32{float32(math.Sqrt(all))}
	}
	return unitsOf{&storedModel{predictor: &pipeline.Predictor{D: d}, scale: 1}, []pipeline.Tensor{
		{Name: centreTensor, Shape: []int{d}, Data: centre}, {Name: scaleTensor, Shape: []int{len(spread)}, Data: spread}}}
}

func vectorsOf(rows [][]float64, width int) *table.Vectors {
	v := &table.Vectors{Width: width}
	for _, x := range rows {
		for _, y := range x {
			v.F32 = append(v.F32, float32(y))
		}
	}
	return v
}
