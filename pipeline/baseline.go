package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// learnAlone carries out the round of a baseline, which draws nothing; the relevance of every source is 0. Target is
// the ridge regression on the rows of the target's samples, with the ridge of [RidgeAuto], or for classes the
// classifier on these rows, mixed with the regression of [Problem.ownClasses] where there are several. Constant is the
// mean of the labels.
func (l *Learner) learnAlone(ctx context.Context, rec Epoch, in Round) (Epoch, error) {
	u, err := l.model.units()
	if err != nil {
		return rec, err
	}
	heads := l.ownHead()
	fit, err := l.fitParts(in.Target, func(in labelGroup) ([]headFit, error) {
		if rec.Method == Constant {
			return l.constants(in)
		}
		fits, err := heads(l.targetRows(in.Rows, u), nil, u, in)
		if err != nil {
			return nil, err
		}
		return fits, l.putHeads(in, fits)
	})
	if err == nil && rec.Method == Target && l.problem.Classifies() {
		var weights []float64
		fit.by.stack = l.baseModelsAlone
		weights, err = l.mix(&fit, in.Target, u, l.baseModelsAlone(&fit, in.Target, baseLearners{own: func(group []int) ([][]prediction, error) {
			return l.problem.ownClasses(ctx, l.targetRows(in.Target.Rows, u), in.Target, group, u)
		}}))
		rec.HeadAlone = floats.Sum(weights)
	}
	if err == nil && rec.Method == Target && l.nests(in) {
		fit.by.heads = heads
		fit.stated, err = l.nested(ctx, in.Target, fit)
	}
	if err == nil {
		err = l.finish(fit)
	}
	if err != nil {
		return rec, err
	}
	rec.record(fit)
	rec.Fit.Stop, rec.Nu = "no source", make([]float64, len(rec.Counts))
	if err = l.measure(&rec, in, fit); rec.Method == Constant && l.logOdds {
		fit.left = frequencies(in.Target, len(fit.left), l.problem.groupsOf(in.Target.Rows))
		rec.setLogLoss(fit, l.problem, in.Target)
	}
	return rec, err
}

// ownHead returns a function that fits heads to the rows of the target's samples alone: an intercept and delta, with w
// = 0.
func (l *Learner) ownHead() headsOf {
	return func(rows *targetRows, _ *mat.Dense, u units, in labelGroup) ([]headFit, error) {
		k, means := l.problem.Config.K, in.means()
		// There is one kernel instead of two, and kappa / (1 + kappa) is merely a factor of lambda: one kappa will do.
		regression, err := l.regress(regress.Regression{
			Rows: rows.Rows, Y: in.centred(means), Rho: math.Inf(1), Least: regress.LeastPower, Kappas: []float64{1}, Lambda: RidgeAuto,
		})
		if err != nil {
			return nil, err
		}
		heads := l.atCut(headVectors(regression.Fit, rows.Rows, u, k), in)
		fits, vectors := make([]headFit, len(heads)), make([][]float32, len(heads))
		for i, h := range heads {
			fits[i], vectors[i] = h.headFit, h.vector(means[i])
			fits[i].squared, fits[i].final = vectors[i], vectors[i]
		}
		if l.problem.Classifies() {
			(&classifier{rows: rows}).fit(in, fits, vectors, u, k)
		}
		return fits, nil
	}
}

// baseModelsAlone returns a function that finds the base models of [Target]: regressions on the samples alone, for columns where
// the samples can choose (see [Problem.samplesChoose]).
func (l *Learner) baseModelsAlone(_ *headFit, in Labelled, by baseLearners) baseModelsOf {
	return func(group []int, _ []*headFit) (found baseModels, err error) {
		if l.problem.samplesChoose(in, group) {
			found.own, err = by.own(group)
		}
		return found, err
	}
}

// frequencies returns leave-one-out log-odds by class frequency, for each output and sample: how many of the samples
// outside the sample's group have the label 1. They are NaN for a missing label. The log-loss uses them, while the
// score uses the frequencies of all samples (see [Learner.constants]).
func frequencies(in Labelled, outputs int, groups regress.Groups) [][]float32 {
	left := make([][]float32, outputs)
	for c := range left {
		left[c] = slices.Repeat([]float32{float32(math.NaN())}, len(in.Rows))
		rows, y := in.labelled(c, outputs), []float64(nil)
		for _, i := range rows {
			y = append(y, float64(in.Y[i*outputs+c]))
		}
		for k, v := range byFrequency(y, 1, 0, groups.Some(rows)).left {
			left[c][rows[k]] = float32(v)
		}
	}
	return left
}

// constants fits and uploads heads that predict the mean label of each output. For numbers the residuals are
// leave-one-out residuals. For classes the means stay those of all rows: leaving a row out would put its own class
// behind one that is as frequent, so that every row would count as wrong.
func (l *Learner) constants(in labelGroup) ([]headFit, error) {
	p, n, means, groups := l.problem, len(in.Rows), in.means(), l.problem.groupsOf(in.Rows)
	y := in.centred(means)
	fits := make([]headFit, len(means))
	for c, mean := range means {
		h, fit := headVector{w: make([]float32, p.Config.K), delta: make([]float32, p.Set.Pools[0].Cols)}, &fits[c]
		fit.residuals = mat.Col(nil, c, y)
		fit.Loss = linalg.Dot(fit.residuals, fit.residuals) / float64(n)
		left := leftOfMean(fit.residuals, groups)
		fit.LeaveOneOut = linalg.Dot(left, left) / float64(n)
		if !p.Set.Binary {
			fit.residuals = left
		}
		if p.Classifies() {
			odds := regress.LogOdds(mean, groups.Count())
			fit.classify(prediction{head: h.vector(odds), left: slices.Repeat([]float64{odds}, n)})
		}
		if err := l.putHead(in.outputs[c], h.vector(mean)); err != nil {
			return nil, err
		}
	}
	return fits, nil
}

// leftOfMean returns the leave-one-out residuals of numbers whose mean is 0: each number less the mean of those outside
// its group, or less 0 where there are no others.
func leftOfMean(y []float64, groups regress.Groups) []float64 {
	n, left := float64(len(y)), slices.Clone(y)
	if groups.Group == nil && n > 1 {
		floats.Scale(n/(n-1), left)
	}
	for _, samples := range groups.Members {
		own := 0.0
		for _, i := range samples {
			own += y[i]
		}
		if others := n - float64(len(samples)); others > 0 {
			for _, i := range samples {
				left[i] += own / others
			}
		}
	}
	return left
}

// clear sets the parameters to 0.
func (l *Learner) clear() error {
	v := l.model.parameters()
	if v.Len == 0 {
		return nil
	}
	return l.queue.Fill(v, 0)
}
