package pipeline

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The factors that are compared on the units of features that are computed from others: of those that knots add, and of
// products. With 1 the features of knots of a column vary together a quarter as much as the column, and all products a
// quarter as much as all columns; with 32 a 4096th, which is hardly at all.
var (
	bendScales    = []float64{1, 2, 4, 8}
	productScales = []float64{1, 2, 4, 8, 16, 32}
)

// The rows that the factors go by: at most derivedRows of a source, and of at most derivedSources sources beside the
// target.
const (
	derivedRows    = 100
	derivedSources = 15
)

// derivedFeatures returns how many features knots add to a set, and how many are products, whose units are chosen by the
// labels; 0 where the scaling fixes their units.
func derivedFeatures(set *dataset.Set, scaling string) (knots, products int) {
	if set.Columns == nil || set.Pools[0].Height > 0 || scaling != "" && scaling != ScalingGlobal {
		return 0, 0
	}
	return set.Columns.Derived.Knots.Count(), set.Columns.Derived.Products()
}

// derivedFactors returns the factor on the unit of each feature, nil where there are none but 1.
func derivedFactors(set shifted, sources []Source, in []Labelled, scaling string) []float64 {
	knots, products := derivedFeatures(set.set, scaling)
	if knots+products == 0 {
		return nil
	}
	f := slices.Repeat([]float64{1}, set.set.Pools[0].Cols-knots-products)
	bends, depends := derivedScale(set, sources, in, knots, products)
	return slices.Concat(f, slices.Repeat([]float64{bends}, knots), slices.Repeat([]float64{depends}, products))
}

// derivedScale returns the factors f on the units of the features that knots add, and g on those of products, that the
// labels call for: effects that are nearly lines have a large f, and effects that nearly add up a large g. For each f of
// bendScales and g of productScales it takes the likelihood of the labels of each source and output on their own, under a
// regression whose slopes have a normal prior of one variance in these units ([regress.Evidences]). The results are the
// geometric means of f and of g, each pair weighted by g/f times the product of these likelihoods, to the nearest powers of
// two, so that the methods of a run mostly agree and share what they compute of the target's samples. The outputs of a
// source, which are of the same rows, count as one together. in holds the labelled rows of the sources, the target's last.
func derivedScale(set shifted, sources []Source, in []Labelled, knots, products int) (f, g float64) {
	fs, gs := bendScales, productScales
	if knots == 0 {
		fs = fs[:1]
	}
	if products == 0 {
		gs = gs[:1]
	}
	logs := make([]float64, len(fs)*len(gs))
	every := 1 + (len(in)-2)/derivedSources
	for m, l := range in {
		if m%every != 0 && m != len(in)-1 {
			continue
		}
		pool, outputs := sources[m].Pool, len(sources[m].Tasks)
		for _, part := range oneOfEach(set.set.Pools[pool], l, outputs).parts(outputs) {
			if len(part.Rows) < 3 {
				continue
			}
			x := set.rows(pool, part.Rows)
			linalg.Centre(x)
			for k, v := range regress.Evidences(x, part.centred(part.means()), knots, products, fs, gs) {
				logs[k] += v / float64(outputs)
			}
		}
	}
	most, sum, meanF, meanG := slices.Max(logs), 0.0, 0.0, 0.0
	for k, v := range logs {
		f, g := fs[k/len(gs)], gs[k%len(gs)]
		w := math.Exp(v-most) * g / f
		sum, meanF, meanG = sum+w, meanF+w*math.Log2(f), meanG+w*math.Log2(g)
	}
	return math.Exp2(math.Round(meanF / sum)), math.Exp2(math.Round(meanG / sum))
}

// oneOfEach returns the first labelled rows of a pool, at most derivedRows, and of each group only the first. What rows of
// a group have in common, whatever their features, would else be taken for an effect of the features that tell groups
// apart.
func oneOfEach(pool *dataset.Pool, l Labelled, outputs int) (out Labelled) {
	seen := map[int32]bool{}
	for i, r := range l.Rows {
		if len(out.Rows) == derivedRows {
			break
		}
		if pool.Groups != nil && pool.Groups[r] >= 0 {
			if seen[pool.Groups[r]] {
				continue
			}
			seen[pool.Groups[r]] = true
		}
		out.Rows, out.Y = append(out.Rows, r), append(out.Y, l.Y[i*outputs:(i+1)*outputs]...)
	}
	return out
}
