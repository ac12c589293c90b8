package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// Missing features of new rows become the means that the model holds. They are refused where it holds none, as models of earlier versions
// do.
func TestPredictFills(t *testing.T) {
	dir := t.TempDir()
	write := func(meta map[string]string) {
		meta["features"] = `["a","b"]`
		raw := must.Get(safetensors.Encode([]safetensors.Tensor{
			{Name: "representation.weight", Shape: []int{1, 2}, Data: []float32{1, 1}},
			{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{1}},
		}, meta))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), raw, 0o644))
	}
	rows := filepath.Join(dir, "rows.csv")
	must.Do(t, os.WriteFile(rows, []byte("b,a\n1,2\n,2\n1,\nNA,NaN\n"), 0o644))
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	filled := ""
	p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv"),
		Filled: func(column string, cells, rows int64) { filled += fmt.Sprint(column, " ", cells, "/", rows, ";") }}
	for meta, want := range map[string]string{
		"": "rows.csv: line 3, column b: expected a number, found \"\": fill: mean+indicator in the manifest of the run would put the mean " +
			"there",
		"[1]":    "metadata means: expected one for each of 2 features, found 1",
		"[1, x]": "metadata means: ",
	} {
		write(map[string]string{"means": meta})
		must.Fail(t, meta, must.Err(Predict(t.Context(), q, p, nil)), want)
		must.Absent(t, p.Out)
	}
	must.Equal(t, filled, "", "filled columns of what was refused")
	write(map[string]string{"means": "[10, 0.5]"})
	must.Get(Predict(t.Context(), q, p, nil))(t)
	must.Equal(t, string(must.Get(os.ReadFile(p.Out))(t)), "id,number\n0,3\n1,2.5\n2,11\n3,10.5\n", "predictions")
	must.Equal(t, filled, "a 2/4;b 2/4;", "filled columns")
}
