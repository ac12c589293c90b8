package pipeline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// headError returns what the noise in the labels of the sources adds to the squares of the covariances of [transfer], on
// average, times n^2: for each output of the sources, and each output of the target with the labels v = y - mean of y,
//
//	sigma^2 c'A G A c,  A = (G + N lambda I)^-1,  c = sum_i v_i phi(x_i),  G = Z'Z,
//
// where Z, N_m by K, is phi of the rows that have a label of the output, less its mean where there are intercepts: A G A
// times sigma^2, the variance of these labels about the head, is the covariance of a ridge regression's coefficients.
// sigma^2 is the sum of squared residuals and one more, the mean of those of all sources, by their degrees of freedom,
// N_m - tr A G. lambda is the penalty that the heads were fitted with. The result is nil, for 0, where phi is a network,
// whose heads no such formula gives.
func (l *Learner) headError(in []Labelled, lambda float64, t *transfer) (*mat.Dense, error) {
	if _, linear := l.model.(*linearClass); !linear {
		return nil, nil
	}
	penalty, err := l.headPenalty(lambda)
	if err != nil {
		return nil, err
	}
	once := slices.Repeat([]float64{1}, len(t.present[0]))
	for _, c := range t.outputs {
		t.weigh(c, once)
	}
	var towards mat.Dense // K by C
	towards.Mul(t.phi.T(), t.v.T())
	out := mat.NewDense(len(l.counts), len(t.mask), nil)
	var failed error
	err = l.eachPart(in, 1, l.problem.Config.K, l.phi, func(part sourcePart, z *mat.Dense) {
		y, free := mat.NewDense(len(part.Rows), len(part.outputs), widened(part.Y)), float64(len(part.Rows))
		if l.problem.Config.Intercept {
			linalg.Centre(z)
			linalg.Centre(y)
			free--
		}
		variance, df, ok := ridgeError(z, &towards, penalty)
		if !ok {
			failed = fmt.Errorf("source %s: the eigenvalues of its %d rows were not found", l.problem.Sources[part.source].Name, len(part.Rows))
			return
		}
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
		err = failed
	}
	return out, err
}

// ridgeError returns c'A G A c, G = z'z and A = (G + penalty I)^-1, for each column of c, and the degrees of freedom of the
// regression, tr A G. With the eigenvalues d_j and eigenvectors u_j of G these are
//
//	sum_j d_j (u_j'c)^2 / (d_j + penalty)^2  and  sum_j d_j / (d_j + penalty).
//
// Where z has fewer rows than columns, those of z z' serve, with u_j'z c in place of u_j'c times the root of d_j. ok is
// false where they are not found.
func ridgeError(z, c *mat.Dense, penalty float64) (variance []float64, df float64, ok bool) {
	n, k := z.Dims()
	gram, side := mat.NewSymDense(min(n, k), nil), mat.Matrix(c)
	if n < k {
		gram.SymOuterK(1, z)
		side = linalg.Product(z, c)
	} else {
		gram.SymOuterK(1, z.T())
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, 0, false
	}
	var u, along mat.Dense
	eigen.VectorsTo(&u)
	along.Mul(u.T(), side)
	d := eigen.Values(nil)
	least := 1e-12 * d[len(d)-1]
	_, columns := c.Dims()
	variance = make([]float64, columns)
	for j, d := range d {
		if d <= least {
			continue
		}
		df += d / (d + penalty)
		by := 1 / (d + penalty)
		if n >= k {
			by *= math.Sqrt(d)
		}
		for i, v := range along.RawRowView(j) {
			variance[i] += v * by * v * by
		}
	}
	return variance, df, true
}
