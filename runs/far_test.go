package runs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// A model with knots and products needs only the columns of its features, reports rows far outside its samples, and is refused where its
// knots, factors or ranges do not fit its features.
func TestPredictDerived(t *testing.T) {
	dir := t.TempDir()
	write := func(change ...string) {
		meta := map[string]string{"features": `["a","b","|b - 1|","|b - 2|","a × b"]`, "knots": "[[],[1,2]]",
			"factors": `[{"feature":0,"low":-2,"high":2,"mean":0,"spread":1},
			{"feature":1,"low":0,"high":8,"mean":4,"spread":2}]`, "low": "[0,0]", "high": "[1,2]"}
		for i := 0; i < len(change); i += 2 {
			meta[change[i]] = change[i+1]
		}
		raw := must.Get(safetensors.Encode([]safetensors.Tensor{
			{Name: "representation.weight", Shape: []int{1, 5}, Data: []float32{1, 10, 100, 1000, 1}},
			{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{1}},
		}, meta))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), raw, 0o644))
	}
	rows, said := filepath.Join(dir, "rows.csv"), ""
	must.Do(t, os.WriteFile(rows, []byte("b,a\n1,2\n8,4\n9,-3\n-7,-4\n"), 0o644))
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	p := Prediction{Dir: dir, Files: []string{rows}, Out: filepath.Join(dir, "out.csv"), Far: func(c FarColumn) { said += fmt.Sprint(c) }}
	for _, c := range [][3]string{
		{"knots", "[[],[1,3]]", "metadata knots and factors: expected a feature for each knot and product, |b - 3|, found |b - 2|"},
		{"knots", "[[],[2,1]]", "metadata knots and factors: knots of b: expected finite numbers that ascend"},
		{"factors", `[{"feature":0,"high":2,"mean":1,"spread":1},{"feature":1,"low":8,"spread":1}]`, "factor b: expected a finite range"},
		{"factors", `[{"feature":0,"high":2,"mean":1,"spread":1}]`, "metadata "},
		{"features", `["a","|a - 1|","|a - 2|","a × a"]`, "metadata "},
		{"features", `["a","b","c","|b - 1|","|b - 2|","a × b"]`, "metadata features: expected one for each of 5, found 6"},
		{"words", `[{"name":"a","words":["u","v","w"]}]`, "metadata words: expected a feature for each of 3, found 2"},
		{"codes", `[{"column":"c","values":[0]}]`, "metadata codes: expected one of the features, found c"},
		{"low", "[0]", "metadata low: expected one for each of up to 2 columns, and as many of high, found 1 and 2"},
	} {
		write(c[0], c[1])
		must.Fail(t, c[1], must.Err(Predict(t.Context(), q, p, nil)), c[2])
		must.Absent(t, p.Out)
	}
	must.Equal(t, said, "", "what is said of what was refused")
	write()
	must.Get(Predict(t.Context(), q, p, nil))(t)
	must.Equal(t, string(must.Get(os.ReadFile(p.Out))(t)), "id,number\n0,1009\n1,6788\n2,7883\n3,9730\n", "predictions")
	must.Equal(t, said, "{a 1 0 -4 0 1}{b 2 0 9 0 2}", "what is far: beyond three times the range, not at it")

	// Rows outside the range of the samples are reported where they are many, and rows of other sources where there are any.
	write("source_column", "shop", "own", "7", "samples", "60")
	for _, c := range []struct{ rows, far, strangers string }{
		{strings.Repeat("7,0.5,1\n,0.5,2.1\n7,1.05,1\n", 20), "", ""},
		{strings.Repeat("7,0.5,1\n7.0,0.5,3\n7,0.5,1\n", 20), "{b 0 20 0 0 2}", ""},
		{strings.Repeat("7,0.5,1\n7.0,0.5,3\n7,0.5,1\n", 3), "", ""}, // too few rows
		{"7,0.5,3\nyours,0.5,1\n7.0,0.5,1\n 7,1,1\nours,0.5,1\n,0,0\n  ,0,0\n", "", "{shop 7 yours 3 5}"},
	} {
		must.Do(t, os.Remove(p.Out))
		must.Do(t, os.WriteFile(rows, []byte("shop,a,b\n"+c.rows), 0o644))
		strangers := ""
		said, p.Strangers = "", func(s Strangers) { strangers += fmt.Sprint(s) }
		must.Get(Predict(t.Context(), q, p, nil))(t)
		must.Equal(t, said, c.far, "what lies outside")
		must.Equal(t, strangers, c.strangers, "what is of other sources")
	}
	// A column with the name of the column of sources is not read if it has no single values.
	must.Do(t, os.Remove(p.Out))
	p.Files = []string{filepath.Join(dir, "rows.jsonl")}
	must.Do(t, os.WriteFile(p.Files[0], []byte(`{"shop":["7"],"a":0.5,"b":1}`+"\n"), 0o644))
	must.Get(Predict(t.Context(), q, p, nil))(t)
}

// Rows like the samples are hardly ever reported as outside their range, however few samples there are.
func TestFarByChance(t *testing.T) {
	rng := testrand.New(t)
	told := 0
	for range 400 {
		columns, f := 1+rng.IntN(20), far{samples: 2 + rng.IntN(60)}
		draw := func(rows int) *table.Vectors {
			v := &table.Vectors{Width: columns}
			for range rows * columns {
				v.F32 = append(v.F32, float32(rng.NormFloat64()))
			}
			return v
		}
		samples := draw(f.samples)
		for j := range columns {
			low, high := math.Inf(1), math.Inf(-1)
			for i := range f.samples {
				low, high = min(low, samples.Element(i*columns+j)), max(high, samples.Element(i*columns+j))
			}
			f.low, f.high = append(f.low, low), append(f.high, high)
		}
		f.add(draw(200))
		f.tell(make([]string, columns), 200, func(c FarColumn) { told += b2i(c.Outside > 0) })
	}
	must.Hold(t, told <= 16, "%d of 400 files of rows like the samples", told)
}
