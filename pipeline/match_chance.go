package pipeline

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// clearly is how many times what chance gives on average a match must be for what is beyond that to count. One that is by chance is so
// once in fifty times or less. Of many sources of which a few are like the target, what all have by chance would be more than what these
// few have.
const clearly = 10

// mostProbes is the largest number of target samples, or groups of these, each of which has a probe of its own.
const mostProbes = 128

// matchChance says what match has by chance of the outputs of the target that are fitted together: for each output of the sources the
// least that a match must have to be beyond it, the same for each output of the target, and the mean of what is beyond that, if there is
// no relation.
//
// No relation is one between the samples of the target and their labels, as if these, or those of its groups, were dealt anew. Of the
// predictor H pi y, with H what a label says of the rows of a source and pi the permutation, the squared correlation with the centred
// labels v of these rows then has about the mean
//
//	q = v'H C H'v / (v'v tr C H'H C),  C = I - 11'/n,
//
// the ratio of the means of both, and 1/(N - 1) at least, which N rows give any predictor. So in few dimensions, where any direction says
// something of any other, chance gives more. The columns of C are labels to predict from; of more than 128 samples as many
// random signs take their place (Hutchinson 1990).
type matchChance struct {
	least, beyond []float64
}

// matchChance is that of a part of the target's heads at a kappa and lambda.
func (l *Learner) matchChance(part fittedPart, kappa, lambda float64, in []Labelled, rng *rand.Rand) (matchChance, error) {
	outputs := len(l.counts)
	out := matchChance{make([]float64, outputs), make([]float64, outputs)}
	again := part.fits[0].again
	fit := again.regression.Of(probes(again.rows.Groups, rng)).At(kappa, lambda)
	if fit.Alpha == nil {
		return out, nil
	}
	p := again.predictors(fit)
	return out, l.eachSource(p, in, func(of sourcePart, said, y *mat.Dense) {
		n, all := float64(len(of.Rows)), 0.0
		for _, v := range linalg.ColumnSquares(said) {
			all += v
		}
		var products mat.Dense
		products.Mul(y.T(), said)
		for i, v := range linalg.ColumnSquares(y) {
			row := products.RawRowView(i)
			c := chance{1 / (n - 1), n}
			if q := linalg.Dot(row, row) / (v * all); q > c.mean { // of constants it is no number
				c.mean = math.Min(q, 1)
			}
			o := of.first + of.outputs[i]
			out.least[o] = clearly * c.beyond(0)
			out.beyond[o] = c.beyond(out.least[o])
		}
	})
}

// probes are labels of n samples, the same for those of a group, whose mean over groups is 0 and whose mean product, but for a factor, is
// that of labels in any order.
func probes(samples regress.Groups, rng *rand.Rand) *mat.Dense {
	count := samples.Count()
	of := mat.NewDense(count, min(count, mostProbes), nil)
	for g := range count {
		row := of.RawRowView(g)
		for j := range row {
			if count > mostProbes {
				row[j] = float64(2*rng.IntN(2) - 1)
			} else if g == j {
				row[j] = 1
			}
		}
	}
	linalg.Centre(of)
	if samples.Group == nil {
		return of
	}
	return linalg.SomeRows(of, samples.Group)
}

// matchSum sums the match over the outputs of the target and of each source.
type matchSum struct {
	// of are the matches of the sources, beyond is what single ones have beyond the least of chances, and byChance what of that chance gives.
	of               []float64
	beyond, byChance float64
	// chances are those of each output of the target, nil where it has none.
	chances []*matchChance
}

// add counts the squared correlation of what output c of the target's predictor says of n rows of source m with their labels of output o of
// all sources.
func (s *matchSum) add(c, m, o int, square, n float64) {
	match := math.Pow(math.Max(0, square-1/n), 2)
	s.of[m] += match
	if s.chances[c] != nil {
		s.beyond += math.Max(0, match-s.chances[c].least[o])
		s.byChance += s.chances[c].beyond[o]
	}
}

// chance is the part of what is beyond that is by chance, at most all, and all where nothing is beyond.
func (s *matchSum) chance() float64 {
	if s.beyond <= s.byChance {
		return 1
	}
	return s.byChance / s.beyond
}
