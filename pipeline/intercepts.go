package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

const (
	// farIntercept is how many robust standard deviations from the median an intercept is far from the others. Of 8, 13 and 20 from a
	// normal distribution, 1 is in 22, 34 and 71 sets.
	farIntercept = 5
	// fewIntercepts is the number of intercepts that are too few to tell which of them is far.
	fewIntercepts = 5
)

// spreadOfSources returns the variance of the intercepts of sources for one of several outputs. For a single output it is without those
// that are far from the median, as of a source whose labels are the other way round: the target is not to be taken to be as far from the
// others as that source is. Of several classes a source often has few rows of one, which is nothing odd.
func spreadOfSources(intercepts []float64, outputs int) float64 {
	if outputs > 1 || len(intercepts) <= fewIntercepts {
		return stat.PopVariance(intercepts, nil)
	}
	centre := median(intercepts)
	apart := make([]float64, len(intercepts))
	for m, s := range intercepts {
		apart[m] = math.Abs(s - centre)
	}
	const ofNormal = 1.4826 // standard deviations in the median distance from the mean
	limit := farIntercept * ofNormal * median(apart)
	return stat.PopVariance(slices.DeleteFunc(slices.Clone(intercepts), func(s float64) bool { return math.Abs(s-centre) > limit }), nil)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}
