package pipeline

import (
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Leave-one-out log-odds by frequency, and leave-one-out residuals of the mean, of a group are by the samples outside it.
func TestFrequenciesOfGroups(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		n := 4 + rng.IntN(30)
		of, y, numbers := someGroups(rng, n), make([]float64, n), normals(rng, n)
		floats.AddConst(-stat.Mean(numbers, nil), numbers)
		for i := range y {
			y[i] = float64(rng.IntN(2))
		}
		left, residual := byFrequency(y, 1, 0, of).left, leftOfMean(numbers, of)
		for i := range y {
			ones, sum, others := 0.0, 0.0, othersOf(of.Group, i)
			for _, j := range others {
				ones, sum = ones+y[j], sum+numbers[j]
			}
			isNear(t, left[i], regress.LogOdds(ones/float64(len(others)), of.Count()-1), 1e-12, "log-odds by frequency")
			isNear(t, residual[i], numbers[i]-sum/float64(len(others)), 1e-9, "what the mean leaves")
		}
	}
}
