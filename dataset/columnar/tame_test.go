package columnar

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// unitsOf returns the mean and the scale of a column, and the limits to which its cells are cut, if they are.
func unitsOf(values []float64) (mean, scale float64, cuts []dataset.Cut) {
	var s spreads
	k := newRowSample()
	for _, x := range values {
		v := table.Vectors{Width: 1, F32: make([]float32, 1)}
		v.Set(0, x)
		s.add(&v, 0)
		k.add(&v, 0)
	}
	means, scales, _ := s.units()
	cuts = k.tame(means, scales)
	return means[0], scales[0], cuts
}

// The scale of a column is its standard deviation, and no cell is cut, unless a single one lies far from all others, in the sample or not:
// then it hardly changes the scale and the mean, and counts as the limit. Either does not depend on units.
func TestTame(t *testing.T) {
	r := testrand.New(t)
	rare := func() float64 { return map[bool]float64{r.Float64() < 0.02: 1}[true] }
	for name, draw := range map[string]func() float64{
		"normal": r.NormFloat64, "exponential": r.ExpFloat64, "uniform": r.Float64, "rare": rare,
		"counts":      func() float64 { return math.Floor(3 * r.ExpFloat64() * r.Float64()) },
		"mostly zero": func() float64 { return max(0, math.Exp(2*r.NormFloat64())*float64(r.IntN(90)-88)) },
		"log-normal":  func() float64 { return math.Exp(3 * r.NormFloat64()) },
	} {
		tail := name == "log-normal" || name == "mostly zero"
		for _, n := range []int{10, 25, 150, 1000, 12_000} {
			if n >= leastTame && n < 1000 && name != "normal" && name != "uniform" && name != "rare" || tail && n < 12_000 {
				continue // the largest of them may well lie apart
			}
			var values []float64
			for range n {
				values = append(values, draw())
			}
			mean, deviation := stat.PopMeanStdDev(values, nil)
			if deviation == 0 {
				continue
			}
			at, scale, cuts := unitsOf(values)
			must.Hold(t, len(cuts) == 0 && math.Abs(at-mean) < 1e-5*deviation && math.Abs(scale/deviation-1) < 1e-5,
				"%s, %d values: %v and %v, cut to %v, expected %v and %v", name, n, at, scale, cuts, mean, deviation)
			if n < 100 || name == "rare" || tail {
				continue
			}
			wild := slices.Clone(values)
			x := math.Pow(10, 3+12*r.Float64()) * float64(1-2*r.IntN(2))
			wild[r.IntN(n)] = x
			far, tamed, cuts := unitsOf(wild)
			must.Hold(t, math.Abs(far-mean) < deviation && tamed < 3*deviation && tamed > deviation/2 && len(cuts) == 1 &&
				math.Abs(cuts[0].Of(x)-far) < 40*tamed, "%s, %d values, a wild one: %v and %v, without it %v and %v, cut to %v", name, n, far,
				tamed, mean, deviation, cuts)
			for i, x := range wild {
				wild[i] = 1024*x + 64
			}
			other, unit, _ := unitsOf(wild)
			must.Hold(t, math.Abs(other-1024*far-64) < 1e-2*unit && math.Abs(unit/tamed/1024-1) < 1e-2, "in other units: %v and %v, %v and %v",
				other, unit, far, tamed)
		}
	}
}
