package pipeline

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// exploration holds what MixAuto explores by: Epoch.Own, Match and MatchByChance.
type exploration struct {
	own      float64
	match    []float64
	byChance float64
}

// Limits of time and memory. Each draw of the target's samples gives a predictor for each output of the target. Where
// these would be more than mostPredictors, there are fewer draws, at least fewestDraws, which replicates share. At most
// mostPredictions predictions for the rows of a source are computed at a time.
const (
	fewestDraws     = 20
	mostPredictors  = 2000
	mostPredictions = 1 << 23
)

// targetDraws is the target's side of the explorations, for D draws of the target's samples.
type targetDraws struct {
	own []float64 // the own part of each draw
	// r holds for each output of the target the correlations of its predictors with the labels of each output of the
	// sources, T by D, 0 for fewer than three labels.
	r       []*mat.Dense
	chances [][]*matchChance // by draw and output of the target
}

// exploreAgain draws the exploration anew for each replicate b, in which sample i of the target counts
// c_i = times[b][i] times. The target's predictor is that of [Uncertainty], fitted to the labels y_i + (c_i - 1) e_i at the
// kappa with the least sum c_i e_i^2, and its own part follows from it. The correlation of the predictor with the
// labels of n rows of a source is drawn anew too, as if other rows had been drawn:
//
//	r = tanh(artanh(rho) + z / (n - 3)^1/2),  z normal (Fisher 1921),  rho^2 = (r0^2 - 1/n)+,
//
// where r0 is the correlation for the rows at hand. rho is without what chance adds to r0, since the draw adds as much
// again. The representation, the heads of the sources, the numbers of rows and the penalty of each kappa stay as they
// are. exploreAgain returns nil for a network, and where [Learner.redraw] does.
func (l *Learner) exploreAgain(ctx context.Context, in Round, fit headFit, times [][]float64, rng *rand.Rand) ([]exploration, error) {
	if _, linear := l.model.(*linearClass); !linear {
		return nil, nil
	}
	outputs := len(l.problem.Target.Tasks)
	draws := min(len(times), max(fewestDraws, mostPredictors/outputs))
	side, err := l.redraw(ctx, in, fit, times[:draws], rng)
	if err != nil || side == nil {
		return nil, err
	}
	out := make([]exploration, len(times))
	for b := range out {
		d := b % draws
		sum := matchSum{of: make([]float64, len(in.Sources)), chances: side.chances[d]}
		for c, r := range side.r {
			o := 0
			for m, source := range l.problem.Sources {
				for range source.Tasks {
					if n := float64(l.counts[o]); n > 2 {
						square, z := r.At(o, d), rng.NormFloat64()
						rho := math.Sqrt(math.Min(1-1e-9, math.Max(0, square*square-1/n)))
						now := math.Tanh(math.Atanh(rho) + z/math.Sqrt(math.Max(1, n-3)))
						sum.add(c, m, o, now*now, n)
					}
					o++
				}
			}
		}
		out[b] = exploration{own: side.own[d], match: sum.of}
		if l.spreadsChance() {
			out[b].byChance = sum.chance()
		}
	}
	return out, nil
}

// redraw returns the target's side for draws of its samples, or nil where no output has a fit that can be repeated for
// other labels.
func (l *Learner) redraw(ctx context.Context, in Round, fit headFit, times [][]float64, rng *rand.Rand) (*targetDraws, error) {
	outputs := len(l.problem.Target.Tasks)
	out := &targetDraws{own: make([]float64, len(times)), r: make([]*mat.Dense, outputs), chances: make([][]*matchChance, len(times))}
	for c := range out.r {
		out.r[c] = mat.NewDense(len(l.counts), len(times), nil)
	}
	for d := range times {
		out.chances[d] = make([]*matchChance, outputs)
	}
	first := true
	for _, part := range fit.parts {
		if len(part.fits) == 0 || part.fits[0].again == nil || len(part.fits[0].each) == 0 {
			continue
		}
		if err := l.redrawPart(ctx, in, part, times, rng, out, first); err != nil {
			return nil, err
		}
		first = false
	}
	if first {
		return nil, nil
	}
	return out, nil
}

// redrawPart adds to out the outputs of the target in part, which are fitted together. The own parts are those of the
// first part.
func (l *Learner) redrawPart(ctx context.Context, in Round, part fittedPart, times [][]float64, rng *rand.Rand, out *targetDraws,
	first bool) error {
	again, each, count := part.fits[0].again, part.fits[0].each, len(part.outputs)
	at := placesOf(part.Rows, in.Target.Rows)
	chosen := make([][]int, len(each))
	for d, of := range times {
		best, least := -1, math.Inf(1)
		for k, f := range each {
			if f.Alpha == nil || math.IsInf(f.Loo, 1) {
				continue
			}
			sum := 0.0
			for i, sample := range at {
				e := f.Residual.RawRowView(i)
				sum += of[sample] * linalg.Dot(e, e)
			}
			if sum < least {
				best, least = k, sum
			}
		}
		if best >= 0 {
			chosen[best] = append(chosen[best], d)
		}
	}
	widest := len(again.rows.Mean)
	for _, s := range in.Sources {
		widest = max(widest, len(s.Rows))
	}
	block := max(1, mostPredictions/widest/count)
	for k, f := range each {
		if len(chosen[k]) == 0 {
			continue
		}
		var c *matchChance
		if f.Kappa > 0 && l.spreadsChance() {
			found, err := l.matchChance(part, f.Kappa, f.Lambda, in.Sources, rng)
			if err != nil {
				return err
			}
			c = &found
		}
		for _, d := range chosen[k] {
			for _, o := range part.outputs {
				out.chances[d][o] = c
			}
		}
		for from := 0; from < len(chosen[k]); from += block {
			if err := ctx.Err(); err != nil {
				return err
			}
			draws := chosen[k][from:min(from+block, len(chosen[k]))]
			p := again.drawn(f, at, draws, times)
			if first {
				for j, own := range again.ownParts(p, count) {
					out.own[draws[j]] = own
				}
			}
			err := l.eachSource(p, in.Sources, func(of sourcePart, predicted, y *mat.Dense) {
				r := correlations(predicted, y)
				for i, o := range of.outputs {
					for j, d := range draws {
						for c, own := range part.outputs {
							out.r[own].Set(of.first+o, d, r.At(i, j*count+c))
						}
					}
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// drawn returns the predictors of the fit f for draws of the samples, the outputs of one draw after those of another.
// at holds the places of the part's rows among the target's samples.
func (r *relabelled) drawn(f regress.KernelFit, at, draws []int, times [][]float64) predictors {
	n, count := f.Residual.Dims()
	change := mat.NewDense(n, len(draws)*count, nil)
	for i, sample := range at {
		row, e := change.RawRowView(i), f.Residual.RawRowView(i)
		for j, d := range draws {
			for c, v := range e {
				row[j*count+c] = (times[d][sample] - 1) * v
			}
		}
	}
	moved := r.regression.Of(change).At(f.Kappa, f.Lambda)
	if moved.Alpha == nil { // rounding made the system singular
		moved.Alpha = change
		change.Zero()
	}
	for i := range n {
		row, alpha := moved.Alpha.RawRowView(i), f.Alpha.RawRowView(i)
		for j := range row {
			row[j] += alpha[j%count]
		}
	}
	p := r.predictors(moved)
	if r.mean != nil {
		k, columns := p.w.Dims()
		for i := range k {
			row, mean := p.w.RawRowView(i), r.mean.RawRowView(i)
			for j := range columns {
				row[j] += mean[j%count]
			}
		}
	}
	return p
}

// ownParts returns [ownPart] for each draw, whose predictors are count adjacent columns.
func (r *relabelled) ownParts(p predictors, count int) []float64 {
	shared := linalg.Product(r.phi, p.w)
	_, columns := shared.Dims()
	out := make([]float64, columns/count)
	if p.delta == nil {
		return out
	}
	linalg.Centre(shared)
	s, o := linalg.ColumnSquares(shared), linalg.ColumnSquares(linalg.Product(r.rows.X, p.own))
	for j := range out {
		own, all := 0.0, 0.0
		for c := j * count; c < (j+1)*count; c++ {
			own, all = own+o[c], all+o[c]+s[c]
		}
		if all > 0 {
			out[j] = own / all
		}
	}
	return out
}
