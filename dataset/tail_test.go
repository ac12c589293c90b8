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

// A column whose largest labels make up most of the squared deviations is named, once. Others are not.
func TestTailedLabels(t *testing.T) {
	const rows = 2000
	for name, c := range must.Ordered(map[string]struct {
		label func(rng *rand.Rand) float64
		tail  bool
	}{
		"lognormal":      {func(rng *rand.Rand) float64 { return math.Exp(5 + 3*rng.NormFloat64()) }, true},
		"Pareto":         {func(rng *rand.Rand) float64 { return math.Pow(rng.Float64()+1e-9, -2) }, true},
		"normal":         {func(rng *rand.Rand) float64 { return 20 + 3*rng.NormFloat64() }, false},
		"exponential":    {func(rng *rand.Rand) float64 { return 10*rng.ExpFloat64() + 1e-6 }, false},
		"prices":         {func(rng *rand.Rand) float64 { return math.Exp(12 + 0.5*rng.NormFloat64()) }, false},
		"small powers":   {func(rng *rand.Rand) float64 { return math.Pow(10, -6*rng.Float64()) }, false},
		"counts":         {func(rng *rand.Rand) float64 { return math.Floor(math.Exp(3*rng.NormFloat64() - 0.5)) }, true},
		"Poisson counts": {func(rng *rand.Rand) float64 { return math.Floor(4 * rng.ExpFloat64()) }, false},
		"of both signs": {func(rng *rand.Rand) float64 {
			return math.Copysign(math.Exp(3*rng.NormFloat64()), rng.NormFloat64())
		}, false},
		"the same": {func(*rand.Rand) float64 { return 5 }, false},
	}) {
		rng := testrand.New(t)
		set := measured(rng)
		for i, p := range set.Pools {
			p.Rows, p.F32 = rows, make([]float32, rows*p.Cols)
			for j := range p.F32 {
				p.F32[j] = float32(rng.NormFloat64())
			}
			task := &set.Tasks[i]
			task.Train, task.Test, task.Labels = upTo[int32](rows), nil, make([]float32, rows)
			for r := range task.Labels {
				task.Labels[r] = float32(c.label(rng))
			}
		}
		var found []Oddity
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "of the squared deviations") {
				found = append(found, o)
			}
		}
		must.Equal(t, len(found), b2i(c.tail), "%s: %+v", name, found)
		tailed := slices.DeleteFunc(set.Warnings().Oddities(true),
			func(o Oddity) bool { return !strings.Contains(o.Found, "of the squared deviations") })
		must.Equal(t, len(tailed), b2i(c.tail), "%s: what a run says of it", name)
		if c.tail {
			must.Hold(t, found[0].Pool == "" && strings.HasPrefix(found[0].Found, "the largest 60 of 6,000 labels of yield have "), "%+v", found)
			must.Equal(t, strings.Contains(found[0].Advice, "log: true and plus: 1 below"), name == "counts", "%s: %+v", name, found)
			must.Hold(t, strings.Contains(found[0].Advice, "logarithm"), "%+v", found)
		}
	}
	// A number that stands for a missing label is far from the others, but makes no heavy tail.
	set := measured(testrand.New(t))
	set.Tasks[0].Labels[0] = 1e9
	for _, o := range set.Oddities() {
		must.Hold(t, !strings.Contains(o.Found, "deviations"), "%+v", o)
	}
}
