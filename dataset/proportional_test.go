package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Labels whose errors grow with them are named, whatever their unit: the logarithm of the label is what the features tell. Labels with the
// same errors throughout are not, nor are those that other features than the labels' own tell, or none.
func TestProportionalLabels(t *testing.T) {
	for name, c := range must.Ordered(map[string]struct {
		label func(rng *rand.Rand, effect float64) float64
		named bool
	}{
		"prices":           {func(rng *rand.Rand, e float64) float64 { return math.Exp(6 + 0.8*e + 0.1*rng.NormFloat64()) }, true},
		"a sum":            {func(rng *rand.Rand, e float64) float64 { return 20 + e + 0.2*rng.NormFloat64() }, false},
		"small relatively": {func(rng *rand.Rand, e float64) float64 { return math.Exp(6 + 0.05*e + 0.01*rng.NormFloat64()) }, false},
		"uniform":          {func(rng *rand.Rand, _ float64) float64 { return rng.Float64() + 1e-3 }, false},
		"of both signs":    {func(_ *rand.Rand, e float64) float64 { return math.Copysign(math.Exp(6+e), e) }, false},
		"few": {func(rng *rand.Rand, e float64) float64 {
			return math.Exp(6 + e + 0.2*rng.NormFloat64())
		}, false},
	}) {
		rng := testrand.New(t)
		set, unit, rows := measured(rng), math.Exp(8*rng.Float64()-4), 200+rng.IntN(3000)
		if name == "few" {
			rows = 8
		}
		for i, p := range set.Pools {
			p.Rows, p.F32 = rows, make([]float32, rows*p.Cols)
			task, own := &set.Tasks[i], rng.NormFloat64()
			task.Train, task.Test, task.Labels = upTo[int32](rows), nil, make([]float32, rows)
			for r := range rows {
				effect := own / 2
				for j := range p.Cols {
					x := rng.NormFloat64()
					p.F32[r*p.Cols+j] = float32(x)
					effect += x / math.Sqrt(float64(p.Cols))
				}
				task.Labels[r] = float32(unit * c.label(rng, effect))
			}
		}
		said := ""
		for _, o := range set.Warnings().Oddities(true) {
			if strings.Contains(o.Advice, "log: true") { // prices may have a heavy tail, too
				said = o.Found + ": " + o.Advice
			}
		}
		must.Equal(t, said != "", c.named, "%s, %d rows: %q", name, rows, said)
		if c.named {
			must.Hold(t, strings.Contains(said, "labels of yield") && strings.Contains(said, "log: true below the column"), "%q", said)
		}
	}
}

// The gain in likelihood is that of densities: the same as by a normal density of the residuals of each, with the derivative of the
// logarithm.
func TestLogarithmGain(t *testing.T) {
	rng := testrand.New(t)
	const rows = 400
	set := measured(rng)
	set.Pools, set.Tasks = set.Pools[:1], set.Tasks[:1]
	p, task := set.Pools[0], &set.Tasks[0]
	p.Rows, p.F32 = rows, make([]float32, rows*p.Cols)
	task.Train, task.Test, task.Labels = upTo[int32](rows), nil, make([]float32, rows)
	for r := range rows {
		task.Labels[r] = float32(math.Exp(2 * rng.Float64()))
	}
	density := func(values []float64) (sum float64) { // features are constant: the residuals are those of the mean
		mean, square := 0., 0.
		for _, v := range values {
			mean += v / rows
		}
		for _, v := range values {
			square += (v - mean) * (v - mean) / rows
		}
		for _, v := range values {
			sum += -0.5*math.Log(2*math.Pi*square) - (v-mean)*(v-mean)/(2*square)
		}
		return sum
	}
	var plain, logs []float64
	jacobian := 0.
	for _, y := range task.Labels {
		plain, logs, jacobian = append(plain, float64(y)), append(logs, math.Log(float64(y))), jacobian-math.Log(float64(y))
	}
	gain, n := set.logarithmGain(task.Output.Name, slices.Sorted(slices.Values(plain)))
	must.Equal(t, n, rows, "labels that are compared")
	want := (density(logs) + jacobian - density(plain)) / rows
	must.Hold(t, math.Abs(gain-want) < 1e-9, "gain per label %g, expected %g", gain, want)
}
