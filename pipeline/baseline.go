package pipeline

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/backend"
)

// learnAlone is the round of a baseline: Target is the ridge regression of the
// target's samples on their own rows, by leave-one-out, or for classes the classifier on
// these, Constant their mean. Nothing is drawn and no source is relevant.
func (l *Learner) learnAlone(rec Epoch, in Round) (Epoch, error) {
	u, err := l.model.units()
	if err != nil {
		return rec, err
	}
	k := l.problem.Config.K
	fit, err := l.fitParts(in.Target, func(in labelGroup) ([]headFit, error) {
		rows := l.targetRows(in.Rows, u)
		means := in.means()
		heads := constants(in, means, l.problem.Set.Binary, k, len(rows.mean))
		if rec.Method == Target {
			regression, err := newKernelRidge(rows, nil, in.centred(means), math.Inf(1), leastPower)
			if err != nil {
				return nil, err
			}
			// Of the two kernels there is one, and kappa its weight: kappa / (1 + kappa) is a factor of lambda.
			heads = l.atCut(regression.search([]float64{1}, RidgeAuto).heads(rows, u, k), in)
		}
		fits, vectors := make([]headFit, len(heads)), make([][]float32, len(heads))
		for i, h := range heads {
			fits[i], vectors[i] = h.headFit, h.vector(means[i])
			if rec.Method == Constant && l.problem.Classifies() {
				odds := logOdds(means[i], len(in.Rows))
				fits[i].classify(prediction{head: h.vector(odds), left: slices.Repeat([]float64{odds}, len(in.Rows))})
			}
			if err := l.putHead(in.outputs[i], vectors[i]); err != nil {
				return nil, err
			}
		}
		if rec.Method == Target && l.problem.Classifies() {
			(&classifier{rows: rows}).fit(in, fits, vectors, u, k)
		}
		return fits, nil
	})
	if err == nil {
		err = l.finish(fit)
	}
	if err != nil {
		return rec, err
	}
	rec.record(fit)
	rec.Fit.Stop, rec.Nu = "no source", make([]float64, len(rec.Counts))
	if err = l.measure(&rec, in, fit); rec.Method == Constant && l.logOdds {
		fit.left = frequencies(in.Target, len(fit.left))
		rec.LogLoss = fit.logLoss(classGroups(l.problem.Set, l.problem.Target))
	}
	return rec, err
}

// frequencies are the log-odds of outputs by how many of the other samples have the label 1: each sample is left out of what it is
// compared with, but not of the score (see [constants]).
func frequencies(in Labelled, outputs int) [][]float32 {
	left := make([][]float32, outputs)
	for c := range left {
		left[c] = slices.Repeat([]float32{float32(math.NaN())}, len(in.Rows))
		rows, y := in.labelled(c, outputs), []float64(nil)
		for _, i := range rows {
			y = append(y, float64(in.Y[i*outputs+c]))
		}
		for k, v := range byFrequency(y, 1, 0).left {
			left[c][rows[k]] = float32(v)
		}
	}
	return left
}

// constants are heads that predict the means of the labels of each output. Of classes
// the means stay those of all rows: without a row, its own class is behind one that is
// as frequent, and all rows would count as wrong.
func constants(in labelGroup, means []float64, binary bool, k, d int) []headVector {
	n, y := len(in.Rows), in.centred(means)
	factor := float64(n) / float64(max(1, n-1))
	if binary {
		factor = 1
	}
	heads := make([]headVector, len(means))
	for c := range heads {
		h := &heads[c]
		h.w, h.delta = make([]float32, k), make([]float32, d)
		for i := range n {
			h.Loss += y.At(i, c) * y.At(i, c) / float64(n)
			h.residuals = append(h.residuals, factor*y.At(i, c))
		}
		h.LeaveOneOut = h.Loss * float64(n*n) / float64(max(1, (n-1)*(n-1)))
	}
	return heads
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
