package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// headError returns what the noise in the labels of the sources adds to the squares of the covariances of [transfer], on
// average, times n^2: for each output of the sources, and each output of the target with the labels v = y - mean of y,
//
//	sigma^2 c'A G A c,  A = (G + penalty I)^-1,  c = sum_i v_i phi(x_i),  G = Z'Z,
//
// where Z, N by K, is phi of the rows that have a label of the output, less its mean where there are intercepts. sigma^2
// A G A is the covariance of a ridge regression's coefficients, for labels with the variance sigma^2 about their fit. With
// the residuals r of the source and s^2, the mean squared residual of all sources, in the place of one more,
//
//	sigma^2 = (r'r + s^2) / ((N - 1 - tr A G)+ + 1),
//
// with N in the place of N - 1 where there are no intercepts. lambda is the penalty of the fit. Where that is 0, the
// penalty is that of [Learner.headPenalty], so that with few rows the result is too small. It is nil, for 0, where phi is
// a network, whose heads no such formula gives, or all heads are 0.
func (l *Learner) headError(ctx context.Context, in []Labelled, lambda float64, t *transfer) (*mat.Dense, error) {
	if _, linear := l.model.(*linearClass); !linear {
		return nil, nil
	}
	penalty, err := l.headPenalty(lambda)
	if err != nil || penalty == 0 {
		return nil, err
	}
	once := slices.Repeat([]float64{1}, len(t.present[0]))
	for _, c := range t.outputs {
		t.weigh(c, once)
	}
	var towards mat.Dense // K by C
	towards.Mul(t.phi.T(), t.v.T())
	out := mat.NewDense(len(l.counts), len(t.mask), nil)
	err = l.eachPart(in, 1, l.problem.Config.K, l.phi, func(part sourcePart, z *mat.Dense) {
		if ctx.Err() != nil {
			return
		}
		y, free := mat.NewDense(len(part.Rows), len(part.outputs), widened(part.Y)), float64(len(part.Rows))
		if l.problem.Config.Intercept {
			linalg.Centre(z)
			linalg.Centre(y)
			free--
		}
		variance, df := ridgeError(z, &towards, penalty)
		for i, o := range part.outputs {
			o += part.first
			var residual mat.VecDense
			residual.MulVec(z, t.heads.RowView(o))
			residual.SubVec(y.ColView(i), &residual)
			sigma2 := (mat.Dot(&residual, &residual) + l.sigma*l.sigma) / (math.Max(0, free-df) + 1)
			for c, v := range variance {
				out.Set(o, c, sigma2*v)
			}
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	return out, err
}

// ridgeError returns c'A G A c = |z A c|^2, G = z'z and A = (G + penalty I)^-1, for each column of c, and the degrees of
// freedom of the regression, tr A G = K - penalty tr A. Both are 0 where the penalty is too small beside G to tell the sum
// from a singular matrix.
func ridgeError(z, c *mat.Dense, penalty float64) (variance []float64, df float64) {
	_, k := z.Dims()
	_, columns := c.Dims()
	gram := mat.NewSymDense(k, nil)
	gram.SymOuterK(1, z.T())
	for j := range k {
		gram.SetSym(j, j, gram.At(j, j)+penalty)
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	var x mat.Dense
	if !factor.Factorize(gram) || factor.InverseTo(&inverse) != nil || factor.SolveTo(&x, c) != nil {
		return make([]float64, columns), 0
	}
	return linalg.ColumnSquares(linalg.Product(z, &x)), float64(k) - penalty*inverse.Trace()
}
