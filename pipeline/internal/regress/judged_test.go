package regress

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The weight of a column is sqrt(min(1, q / judgedShare)) for q the least share of its sum of squares that is left, about the mean of the
// rest, without one sample or group.
func TestJudged(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		n, d := 2+rng.IntN(12), 1+rng.IntN(5)
		x, groups := dense(rng, n, d), Ungrouped(n)
		if n > 4 && rng.IntN(2) == 0 {
			groups = someGroups(rng, n)
		}
		for j := range d { // from columns in which one sample stands out to columns in which none does
			power := 6 * rng.Float64()
			for i := range n {
				x.Set(i, j, math.Pow(x.At(i, j), 1+2*math.Floor(power)))
			}
		}
		linalg.Centre(x)
		got := columnWeights(x, groups)
		for j := range d {
			column, left := mat.Col(nil, j, x), math.Inf(1)
			for samples := range groups.each() {
				var others []float64
				for i, v := range column {
					if !slices.Contains(samples, i) {
						others = append(others, v)
					}
				}
				left = min(left, stat.PopVariance(others, nil)*float64(len(others)))
			}
			want := math.Sqrt(min(1, left/linalg.Dot(column, column)/judgedShare))
			must.Hold(t, math.Abs(got[j]-want) <= 2e-6, "column %v in groups %v: weight %g, expected %g", column, groups.Group, got[j], want)
		}
	}
	of := func(x ...float64) []float64 {
		column := mat.NewDense(len(x), 1, slices.Clone(x))
		linalg.Centre(column)
		return columnWeights(column, GroupsOf([]int32{0, 0, 1, 2, 3}[:len(x)]))
	}
	must.EqualSlices(t, of(1e6, 1e6, 1e6, 1e6, 1e6+0.25), []float64{0}, "a column of one sample")
	must.EqualSlices(t, of(5, 4, 1, 1, 1), []float64{0}, "a column of one group")
	must.EqualSlices(t, of(1, 1, 1, 1, 1), []float64{0}, "a column that does not vary")
	must.EqualSlices(t, of(3, 1, 4, 1, 5), []float64{1}, "a column of them all")
	must.Equal(t, len(of(1, 2)), 0, "weights where all samples are of one group")
}
