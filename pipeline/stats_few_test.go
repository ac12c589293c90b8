package pipeline

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/testrand"
)

// Of two or three differences, the bootstrap draws each end n times more often than in 2.5 % of cases. So the interval ends at
// the least and the largest, with deviations from the mean times sqrt(n/(n-1)) and t/1.96, whether these are of targets or of
// the seeds of one target.
func TestIntervalOfFew(t *testing.T) {
	rng := testrand.New(t)
	for range 5 {
		for n := 2; n <= 3; n++ {
			a, b, diff := normals(rng, n), normals(rng, n), make([]float64, n)
			for i := range diff {
				diff[i] = b[i] - a[i]
			}
			mean, by := stat.Mean(diff, nil), students(float64(n))/1.96*math.Sqrt(float64(n)/float64(n-1))
			want := []float64{mean + by*(slices.Min(diff)-mean), mean + by*(slices.Max(diff)-mean)}
			ofTargets, ofSeeds := Compare("a", "b", seedEach(a), seedEach(b)), Compare("a", "b", [][]float64{a}, [][]float64{b})
			closeVectors(t, fmt.Sprintf("the interval over %d targets", n), ofTargets.Interval[:], want, 1e-9, 1)
			closeVectors(t, fmt.Sprintf("the interval over %d seeds", n), ofSeeds.Interval[:], want, 1e-9, 1)
		}
	}
}
