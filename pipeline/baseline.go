package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
)

// learnAlone is the round of a baseline: Target is the ridge regression of the
// target's samples on their own rows, by leave-one-out, Constant their mean. Nothing
// is drawn and no source is relevant.
func (l *Learner) learnAlone(rec Epoch, in Round) (Epoch, error) {
	u, err := l.model.units()
	if err != nil {
		return rec, err
	}
	rows, err := l.targetRows(in.Target.Rows)
	if err != nil {
		return rec, err
	}
	mean, n := meanLabel(in.Target.Y), len(in.Target.Y)
	y := mat.NewDense(n, 1, centred(in.Target.Y, mean))
	h := headVector{w: make([]float32, l.problem.Config.K), delta: make([]float32, len(rows.mean))}
	if in.Method == Target {
		regression, err := newKernelRidge(rows, nil, y, math.Inf(1))
		if err != nil {
			return rec, err
		}
		// Of the two kernels there is one, and kappa its weight: kappa / (1 + kappa) is a factor of lambda.
		h = regression.search([]float64{1}, RidgeAuto).head(rows, u, l.problem.Config.K)
	} else {
		for i := range n {
			h.Loss += y.At(i, 0) * y.At(i, 0) / float64(n)
		}
		h.LeaveOneOut = h.Loss * float64(n*n) / float64(max(1, (n-1)*(n-1)))
	}
	if err := l.putHead(h, mean); err != nil {
		return rec, err
	}
	if err := l.record(&rec, h.headFit); err != nil {
		return rec, err
	}
	rec.Fit.Stop, rec.Nu = "no source", make([]float64, len(rec.Counts))
	rec.Score, err = l.score(in.Test)
	return rec, err
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
