package columnar

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// unitsOf returns the mean and the scale of a column.
func unitsOf(values []float64) (mean, scale float64) {
	var s spreads
	k := newRowSample()
	for _, x := range values {
		v := table.Vectors{Width: 1, F32: make([]float32, 1)}
		v.Set(0, x)
		s.add(&v, 0)
		k.add(&v, 0)
	}
	means, scales, _ := s.units()
	k.tame(means, scales)
	return means[0], scales[0]
}

// The scale of a column is its standard deviation, unless a few values far from all others make most of it: then these hardly change the
// scale and the mean. Either does not depend on units.
func TestTame(t *testing.T) {
	r := testrand.New(t)
	rare := func() float64 { return map[bool]float64{r.Float64() < 0.02: 1}[true] }
	for name, draw := range map[string]func() float64{
		"normal": r.NormFloat64, "exponential": r.ExpFloat64, "uniform": r.Float64, "rare": rare,
		"log-normal": func() float64 { return math.Exp(r.NormFloat64()) },
		"counts":     func() float64 { return math.Floor(3 * r.ExpFloat64() * r.Float64()) },
		"heavier":    func() float64 { return r.NormFloat64() / math.Sqrt((r.ExpFloat64()+r.ExpFloat64())/2) }, // Student's t of 4
	} {
		tail := name != "normal" && name != "uniform" && name != "rare"
		for _, n := range []int{10, 25, 150, 1000, 12_000} {
			if tail && n >= leastTame && n < 1000 { // where the largest value may well make most of it
				continue
			}
			var values []float64
			for range n {
				values = append(values, draw())
			}
			mean, deviation := stat.PopMeanStdDev(values, nil)
			if deviation == 0 {
				continue
			}
			at, scale := unitsOf(values)
			must.Hold(t, math.Abs(at-mean) < 1e-5*deviation && math.Abs(scale/deviation-1) < 1e-5,
				"%s, %d values: %v and %v, expected %v and %v", name, n, at, scale, mean, deviation)
			if n < 100 || name == "rare" {
				continue
			}
			wild := slices.Clone(values)
			wild[r.IntN(n)] = 1e6 * (r.Float64() - 0.5)
			far, tamed := unitsOf(wild)
			must.Hold(t, math.Abs(far-mean) < deviation && tamed < 6*deviation && tamed > deviation/2,
				"%s, %d values, a wild one: %v and %v, without it %v and %v", name, n, far, tamed, mean, deviation)
			for i := range wild {
				wild[i] = 1024*wild[i] + 64
			}
			other, unit := unitsOf(wild)
			must.Hold(t, math.Abs(other-1024*far-64) < 1e-2*unit && math.Abs(unit/tamed/1024-1) < 1e-2, "in other units: %v and %v, %v and %v",
				other, unit, far, tamed)
		}
	}
}
