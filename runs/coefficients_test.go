package runs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/safetensors"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// A coefficient is the difference between the model's predictions for two rows, of which one has a feature that is larger by its standard
// deviation, or has a word. Between two knots it is in proportion to the distance. That of a product is how much more one column does where
// the other is larger.
func TestCoefficients(t *testing.T) {
	rng := testrand.New(t)
	q := pipelinetest.NewQueue(t, pipelinetest.OpenCPU(t, 1).Device())
	for range 20 {
		dir, k, c, numbers, words := t.TempDir(), 1+rng.IntN(4), 1+rng.IntN(4), 1+rng.IntN(5), rng.IntN(4)
		knots := make(table.Knots, rng.IntN(numbers+1))
		for j := range knots {
			for range rng.IntN(4) {
				knots[j] = append(knots[j], rng.NormFloat64())
			}
			slices.Sort(knots[j])
		}
		of := table.Derived{Knots: knots}
		for j := range numbers {
			if rng.IntN(2) == 0 {
				low, width := rng.NormFloat64(), rng.ExpFloat64()
				of.Factors = append(of.Factors, table.Factor{Feature: j, Low: low, High: low + width, Mean: low + width/4, Spread: width / 3})
			}
		}
		d := numbers + words + of.Count()
		random := func(n int, least float64) (v []float32) {
			for range n {
				v = append(v, float32(least+rng.ExpFloat64()))
			}
			return v
		}
		tensors := []safetensors.Tensor{{Name: "representation.weight", Shape: []int{k, d}, Data: random(k*d, -1)},
			{Name: "target.weight", Shape: []int{c, k}, Data: random(c*k, -1)}, {Name: "target.bias", Shape: []int{c}, Data: random(c, -1)}}
		add := func(name string, least float64, shape ...int) {
			n := 1
			for _, s := range shape {
				n *= s
			}
			if rng.IntN(2) == 0 {
				tensors = append(tensors, safetensors.Tensor{Name: name, Shape: shape, Data: random(n, least)})
			}
		}
		add("target.delta", -1, c, d)
		add("representation.scale", 0.5, []int{1, d}[rng.IntN(2)])
		add("labels.scale", 0.5, c)
		add(centreTensor, -1, d)
		m := metadata{method: "active"}
		for j := range numbers {
			m.features, m.spread = append(m.features, fmt.Sprint("x", j)), append(m.spread, 0.1+rng.ExpFloat64())
		}
		if words > 0 {
			m.words = []table.Words{{Column: "w"}}
		}
		for j := range words {
			m.features, m.spread = append(m.features, fmt.Sprint("w=", j)), append(m.spread, rng.ExpFloat64())
			m.words[0].Words = append(m.words[0].Words, fmt.Sprint(j))
		}
		m.Derived, m.features = of, append(m.features, of.Names(m.features)...)
		for range of.Count() {
			m.spread = append(m.spread, rng.ExpFloat64())
		}
		for j := range c {
			m.labels = append(m.labels, OutputColumn{Column: fmt.Sprint("y", j), Heads: 1})
		}
		raw := must.Get(safetensors.Encode(tensors, must.Get(m.encode())(t)))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, modelFile), raw, 0o644))
		all := must.Get(readCoefficients(filepath.Join(dir, modelFile)))(t)
		must.Hold(t, len(all) == 1 && !all[0].Gains && all[0].Outputs[0].Part == 1, "%+v of a linear model", all)
		found := all[0]
		p := must.Get2(OpenPredictor(q, dir))
		predictor, _ := p(t)
		base := random(numbers+words, -1)
		for _, f := range of.Factors {
			base[f.Feature] = float32(f.Mean)
		}
		both := func(j int, x float64, k int, z float64) []float32 {
			v, wide := table.Vectors{Width: numbers + words, F32: slices.Clone(base)}, table.Vectors{}
			v.F32[j], v.F32[k] = float32(x), float32(z)
			of.Expand(&wide, &v)
			y := make([]float32, c)
			must.Do(t, predictor.Predict(&dataset.Pool{Rows: 1, Cols: d, F32: wide.F32, Scale: 1}, y))
			return y
		}
		predict := func(j int, x float64) []float32 { return both(j, x, j, x) }
		at := 0
		for j := range numbers + words {
			unit, name := m.spread[j], m.features[j]
			ends := []float64{-2, -1} // the ends of the parts of the column's range
			if j >= numbers {
				unit = 1
			}
			parts := 1
			if j < len(knots) && len(knots[j]) > 0 {
				of := knots[j]
				ends, parts = slices.Concat([]float64{of[0] - 1}, of, []float64{of[len(of)-1] + 1}), len(of)+1
			}
			for part := range parts {
				called := found.Features[at]
				checkPart(t, called, name, ends[1:len(ends)-1], unit, part)
				must.Equal(t, found.Column[at], j, "the column of a part")
				low, high := predict(j, ends[part]), predict(j, ends[part+1])
				for o, y := range high {
					got, want := found.Outputs[o].Of[at], (float64(y)-float64(low[o]))*unit
					moved := ends[part+1] - ends[part]
					must.Hold(t, math.Abs(got*moved-want) < 1e-3*(1+math.Abs(want)+unit), "the coefficient of %s for %s is %g, predictions differ by %g",
						called, found.Outputs[o].Column, got, want/moved)
				}
				at++
			}
		}
		must.Equal(t, found.Products, of.Products(), "products")
		for i, f := range of.Factors {
			for _, g := range of.Factors[i+1:] {
				must.Equal(t, found.Features[at], m.features[f.Feature]+" × "+m.features[g.Feature], "the name of a product")
				must.Equal(t, found.Column[at], found.Column[at-1]+1, "the column of a product")
				xy, x0 := both(f.Feature, f.High, g.Feature, g.High), predict(f.Feature, f.High)
				y0, none := predict(g.Feature, g.High), predict(g.Feature, float64(base[g.Feature]))
				area := (f.High - f.Mean) / f.Spread * (g.High - g.Mean) / g.Spread
				for o := range c {
					got, want := found.Outputs[o].Of[at], float64(xy[o])-float64(x0[o])-float64(y0[o])+float64(none[o])
					must.Hold(t, math.Abs(got*area-want) < 1e-4*(1+math.Abs(float64(xy[o]))+math.Abs(float64(none[o]))),
						"the coefficient of %s for %s is %g, predictions differ by %g", found.Features[at], found.Outputs[o].Column, got, want/area)
				}
				at++
			}
		}
		must.Equal(t, at, len(found.Features), "coefficients")
		predictor.Close()
	}
}

// checkPart checks the name of a part of a column's range: it has the knots at its ends, with enough digits to tell these apart.
func checkPart(t *testing.T, called, column string, knots []float64, gap float64, part int) {
	t.Helper()
	if len(knots) == 0 {
		must.Equal(t, called, column, "the name of a column")
		return
	}
	for i := range knots[1:] {
		gap = min(gap, knots[i+1]-knots[i])
	}
	var numbers []float64
	for _, word := range strings.Fields(strings.TrimPrefix(called, column+" ")) {
		if x, err := strconv.ParseFloat(word, 64); err == nil {
			numbers = append(numbers, x)
		}
	}
	want := knots[max(0, part-1):min(part+1, len(knots))]
	must.Equal(t, len(numbers), len(want), "numbers of %s", called)
	for i, x := range numbers {
		must.Hold(t, math.Abs(x-want[i]) < gap/10, "%s is of %v", called, want)
	}
	must.Hold(t, !strings.Contains(called, " -0.0 ") && strings.Contains(called, "over") == (part == len(knots)), "%s", called)
}

// Of a linear model that is averaged with trees there are the coefficients and the gains, and the part of each in the predictions; of
// trees alone there are the gains.
func TestCoefficientsBesideGains(t *testing.T) {
	m := metadata{features: []string{"a", "b"}, spread: []float64{1, 1},
		labels: []OutputColumn{{Column: "y", Heads: 1}, {Column: "z", Heads: 1}}}
	for _, parts := range [][]float32{{0.25, 0.5}, {0.25, 1}, {1, 1}} {
		raw := must.Get(safetensors.Encode([]safetensors.Tensor{
			{Name: "representation.weight", Shape: []int{1, 2}, Data: []float32{1, 3}},
			{Name: "target.weight", Shape: []int{2, 1}, Data: []float32{1, 2}},
			{Name: pipeline.TreePart, Shape: []int{2}, Data: parts},
			{Name: pipeline.TreeGain, Shape: []int{2, 2}, Data: []float32{1, 0, 0, 1}},
		}, must.Get(m.encode())(t)))(t)
		found := must.Get(coefficients(raw))(t)
		gains := found[len(found)-1]
		must.Equal(t, len(found) == 2, parts[0] < 1, "coefficients beside gains, parts %v", parts)
		must.Hold(t, gains.Gains && slices.Equal(gains.Outputs[1].Of, []float64{0, 1}), "%+v", gains)
		for c, part := range parts {
			must.Equal(t, gains.Outputs[c].Part, float64(part), "the part of trees")
			if of := found[0]; len(found) > 1 {
				must.Hold(t, of.Outputs[c].Part == 1-float64(part) && of.Outputs[c].Of[1] == 3*float64(c+1), "%+v of output %d", of, c)
			}
		}
	}
}

// Models without the names or units of columns have no coefficients, and neither have networks. Models that contradict themselves are
// refused.
func TestCoefficientsOfOtherModels(t *testing.T) {
	weights := []safetensors.Tensor{{Name: "representation.weight", Shape: []int{1, 2}, Data: []float32{1, 1}},
		{Name: "target.weight", Shape: []int{1, 1}, Data: []float32{1}}}
	number := []OutputColumn{{Column: "y", Heads: 1}}
	for name, c := range map[string]struct {
		m       metadata
		tensors []safetensors.Tensor
		want    string
	}{
		"lists":   {metadata{features: []string{"v"}, labels: number}, weights, ""},
		"network": {metadata{features: []string{"a", "b"}, spread: []float64{1, 1}, labels: number}, weights[1:], ""},
		"names":   {metadata{features: []string{"a"}, spread: []float64{1, 1}, labels: number}, weights, "expected weights of 2 features"},
		"spreads": {metadata{features: []string{"a", "b"}, spread: []float64{1}, labels: number}, weights, "expected weights of 1 features"},
		"knots": {metadata{features: []string{"a", "|a - 2|"}, spread: []float64{1, 1}, labels: number,
			Derived: table.Derived{Knots: table.Knots{{3}}}}, weights, "expected a feature for each knot and product, |a - 3|, found |a - 2|"},
		"outputs": {metadata{features: []string{"a", "b"}, spread: []float64{1, 1}}, weights, "expected the tensors of 0 outputs"},
	} {
		raw := must.Get(safetensors.Encode(c.tensors, must.Get(c.m.encode())(t)))(t)
		found, err := coefficients(raw)
		if c.want != "" {
			must.Fail(t, name, err, c.want)
			continue
		}
		must.Hold(t, found == nil && err == nil, "%s: %v, %v", name, found, err)
	}
}
