package pipeline

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// chanceFactor is the multiple of the mean match by chance above which a match counts. A match by chance is above it about once in forty
// times or less. Without it, where a few of many sources are like the target, the match by chance of all sources would be more than the
// match of these few.
const chanceFactor = 10

// mostProbes is the largest number of probes. Up to as many target samples, or groups of them, have a probe each; more have random ones.
const mostProbes = 128

// matchChance describes the match that chance gives the outputs of the target that are fitted together. For each output of the sources, and
// for all these outputs of the target alike, least is the match above which it counts as more than chance, and beyond the mean of what a
// match has above least if target labels and samples are unrelated.
//
// Unrelated means that the labels are permuted among the samples of the target, or among their groups. For the predictor H pi y, where H
// maps labels to predictions for the rows of a source and pi is the permutation, the squared correlation with the centred labels v of these
// rows then has about the mean
//
//	q = v'H C H'v / (v'v tr C H'H C),  C = I - 11'/n,
//
// the ratio of the means of numerator and denominator, and at least 1/(N - 1), which N rows give any predictor. So chance gives more in few
// dimensions, where any direction says something about any other. H C is found by predicting with the columns of C as labels; for more than
// 128 samples, 128 columns of random signs take their place (Hutchinson 1990).
type matchChance struct {
	least, beyond []float64
}

// matchChance returns the match by chance for a part of the target's heads at one kappa and lambda.
func (l *Learner) matchChance(part fittedPart, kappa, lambda float64, in []Labelled, rng *rand.Rand) (matchChance, error) {
	outputs := len(l.counts)
	out := matchChance{make([]float64, outputs), make([]float64, outputs)}
	again := part.fits[0].again
	fit := again.regression.Of(probes(again.rows.Groups, rng)).At(kappa, lambda)
	if fit.Alpha == nil {
		return out, nil
	}
	p := again.predictors(fit)
	return out, l.eachSource(p, in, func(of sourcePart, predicted, y *mat.Dense) {
		n, all := float64(len(of.Rows)), 0.0
		for _, v := range linalg.ColumnSquares(predicted) {
			all += v
		}
		var products mat.Dense
		products.Mul(y.T(), predicted)
		for i, v := range linalg.ColumnSquares(y) {
			row := products.RawRowView(i)
			c := chance{1 / (n - 1), n}
			if q := linalg.Dot(row, row) / (v * all); q > c.mean { // q is NaN for constants
				c.mean = math.Min(q, 1)
			}
			o := of.first + of.outputs[i]
			out.least[o] = chanceFactor * c.beyond(0)
			out.beyond[o] = c.beyond(out.least[o])
		}
	})
}

// probes returns labels of n samples, a column for each probe, the same for the samples of a group. Their mean over groups is 0. The mean
// over probes of the product of two labels is, up to a factor, that of permuted labels.
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
	// of holds the match of each source. beyond sums what single matches have above the least of chances, and byChance what chance gives of
	// that.
	of               []float64
	beyond, byChance float64
	// chances holds the match by chance of each output of the target, or nil.
	chances []*matchChance
}

// add adds the match of the target's output c with output o, counted over all sources, of source m. square is the squared correlation of
// the target's predictions for n rows of the source with their labels.
func (s *matchSum) add(c, m, o int, square, n float64) {
	match := math.Pow(math.Max(0, square-1/n), 2)
	s.of[m] += match
	if s.chances[c] != nil {
		s.beyond += math.Max(0, match-s.chances[c].least[o])
		s.byChance += s.chances[c].beyond[o]
	}
}

// chance returns the part of beyond that is due to chance: byChance / beyond, at most 1, and 1 where beyond is 0.
func (s *matchSum) chance() float64 {
	if s.beyond <= s.byChance {
		return 1
	}
	return s.byChance / s.beyond
}
