package pipeline

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// bendScales are the factors on the units of the features that knots add which are compared. With 1 these features of a
// column vary together a quarter as much as the column, with 8 a 256th.
var bendScales = []float64{1, 2, 4, 8}

// The rows that bendScale goes by: at most bendRows of a source, and of at most bendSources sources beside the target.
const (
	bendRows    = 100
	bendSources = 15
)

// bendable returns the number of features that knots add to a set, whose units are chosen by the labels, 0 where the
// scaling fixes their units.
func bendable(set *dataset.Set, scaling string) int {
	if set.Columns == nil || set.Pools[0].Height > 0 || scaling != "" && scaling != ScalingGlobal {
		return 0
	}
	return set.Columns.Knots.Count()
}

// bendFactors returns the factor on the unit of each feature, nil where there are none but 1.
func bendFactors(set shifted, sources []Source, in []Labelled, scaling string) []float64 {
	knots, d := bendable(set.set, scaling), set.set.Pools[0].Cols
	if knots == 0 {
		return nil
	}
	f := bendScale(set, sources, in, knots)
	return append(slices.Repeat([]float64{1}, d-knots), slices.Repeat([]float64{f}, knots)...)
}

// bendScale returns the factor on the units of the last features, which knots add, that the labels call for: effects
// that are nearly lines have a large one. For each f of bendScales it takes the likelihood of the labels of each source
// and output on their own, under a regression whose slopes have a normal prior of one variance in these units
// ([regress.Evidences]). The result is the geometric mean of bendScales, each weighted by 1/f times the product of these
// likelihoods, to the nearest power of two, so that the methods of a run mostly agree and share what they compute of the
// target's samples. The outputs of a source, which are of the same rows, count as one together. in holds the labelled
// rows of the sources, the target's last.
func bendScale(set shifted, sources []Source, in []Labelled, knots int) float64 {
	logs := make([]float64, len(bendScales))
	every := 1 + (len(in)-2)/bendSources
	for m, l := range in {
		if m%every != 0 && m != len(in)-1 {
			continue
		}
		outputs, n := len(sources[m].Tasks), min(len(l.Rows), bendRows)
		for _, part := range (Labelled{l.Rows[:n], l.Y[:n*outputs]}).parts(outputs) {
			if len(part.Rows) < 3 {
				continue
			}
			x := set.rows(sources[m].Pool, part.Rows)
			linalg.Centre(x)
			for k, v := range regress.Evidences(x, part.centred(part.means()), knots, bendScales) {
				logs[k] += v / float64(outputs)
			}
		}
	}
	most, sum, mean := slices.Max(logs), 0.0, 0.0
	for k, v := range logs {
		w := math.Exp(v-most) / bendScales[k]
		sum, mean = sum+w, mean+w*math.Log2(bendScales[k])
	}
	return math.Exp2(math.Round(mean / sum))
}
