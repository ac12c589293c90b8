package runs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// The model's centre is subtracted from the rows of a file before they are rounded, though float32 holds neither exactly, whatever type the
// columns of the file have. From rows in memory the centre tensor is subtracted, and so it is with models of earlier versions.
func TestPredictFromAfar(t *testing.T) {
	const far = 1_700_000_001
	dir := t.TempDir()
	set := &dataset.Columns{Centre: []float64{far - 2, 3}, Spread: []float64{2, 4}}
	tensors, centre := inUnits(set, []pipeline.Tensor{
		{Name: "representation.weight", Shape: []int{1, 2}, Data: []float32{2, 4}},
		{Name: "representation.centre", Shape: []int{2}, Data: []float32{1, 0.25}},
		{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{1}},
	})
	must.EqualSlices(t, centre, []float64{far, 4}, "centre")
	write := func(meta map[string]string) {
		meta["features"] = `["a","b"]`
		stored := make([]safetensors.Tensor, len(tensors))
		for i, t := range tensors {
			stored[i] = safetensors.Tensor(t)
		}
		must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), must.Get(safetensors.Encode(stored, meta))(t), 0o644))
	}
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	predict := func(meta map[string]string, name string) string {
		t.Helper()
		write(meta)
		p := Prediction{Dir: dir, Files: []string{filepath.Join(dir, name)}, Out: filepath.Join(t.TempDir(), "out.csv")}
		must.Get(Predict(t.Context(), q, p, nil))(t)
		return string(must.Get(os.ReadFile(p.Out))(t))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("a,b\n1700000001,4\n1700000003.5,5\n1700000000,\n"), 0o644))
	type small struct {
		A uint8 `parquet:"a"`
		B uint8 `parquet:"b"`
	}
	must.Do(t, parquet.WriteFile(filepath.Join(dir, "small.parquet"), []small{{12, 4}, {10, 3}}))
	afar := map[string]string{"centre": "[1700000001,4]", "means": "[1700000002,4]"}
	must.Equal(t, predict(afar, "rows.csv"), "id,number\n0,0\n1,3.5\n2,-1\n", "predictions from afar")
	near := map[string]string{"centre": "[10,4]"}
	must.Equal(t, predict(near, "small.parquet"), "id,number\n0,2\n1,-1\n", "predictions of bytes")
	write(map[string]string{"centre": "[1]"})
	p := Prediction{Dir: dir, Files: []string{filepath.Join(dir, "rows.csv")}, Out: filepath.Join(dir, "no.csv")}
	must.Fail(t, "a short centre", must.Err(Predict(t.Context(), q, p, nil)), "metadata centre: expected one for each of 2 features, found 1")

	for _, meta := range []map[string]string{{}, near} {
		write(meta)
		m, _, err := OpenPredictor(q, dir)
		must.Do(t, err)
		y := make([]float32, 1)
		must.Do(t, m.Predict(&dataset.Pool{Rows: 1, Cols: 2, Scale: 1, F32: []float32{float32(far) + 128, 5}}, y))
		must.Equal(t, y[0], 129, "prediction of a row in memory")
		m.Close()
	}
	must.Equal(t, predict(map[string]string{"means": "[0,0]"}, "small.parquet"), "id,number\n0,-1.7e+09\n1,-1.7e+09\n", "by a model of before")
}
