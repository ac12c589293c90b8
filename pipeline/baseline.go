package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// learnAlone is the round of a baseline: Target is the ridge regression of the
// target's samples on their own rows, by leave-one-out, or for classes the classifier on
// these, several of them mixed with what [Problem.ownClasses] says. Constant is their mean. Nothing is drawn and no source is
// relevant.
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
		fit.by.join = l.helpsAlone
		weights, err = l.mix(&fit, in.Target, u, l.helpsAlone(&fit, in.Target, helpers{own: func(group []int) ([][]prediction, error) {
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
		fit.left = frequencies(in.Target, len(fit.left), l.problem.together(in.Target.Rows))
		rec.LogLoss = fit.logLoss(l.problem.comparedGroups(in.Target))
	}
	return rec, err
}

// ownHead has the heads of the target's rows alone.
func (l *Learner) ownHead() headsOf {
	return func(rows *targetRows, _ *mat.Dense, u units, in labelGroup) ([]headFit, error) {
		k, means := l.problem.Config.K, in.means()
		// Of the two kernels there is one, and kappa its weight: kappa / (1 + kappa) is a factor of lambda.
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

// helpsAlone are those of [Target].
func (l *Learner) helpsAlone(_ *headFit, in Labelled, by helpers) helpsOf {
	return func(group []int, _ []*headFit) (found helps, err error) {
		if l.problem.tells(in, group) {
			found.own, err = by.own(group)
		}
		return found, err
	}
}

// frequencies are the log-odds of outputs by how many of the other samples have the label 1: each sample, with its group, is left
// out of what it is compared with, but not of the score (see [Learner.constants]).
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

// constants are heads that predict the means of the labels of each output. Of classes
// the means stay those of all rows: without a row, its own class is behind one that is
// as frequent, and all rows would count as wrong.
func (l *Learner) constants(in labelGroup) ([]headFit, error) {
	p, n, means, groups := l.problem, len(in.Rows), in.means(), l.problem.together(in.Rows)
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

// leftOfMean is what the mean of the other samples leaves of each of numbers with mean 0, those of its group left out too: the mean of
// no others is 0.
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
	for _, v := range []backend.Vector{l.model.parameters(), l.model.optimiser()} {
		if v.Len > 0 {
			if err := l.queue.Fill(v, 0); err != nil {
				return err
			}
		}
	}
	return nil
}
