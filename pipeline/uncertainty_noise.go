package pipeline

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// headNoise draws by how much the heads of the replicates differ from those of the fit: for each output of the sources
// a matrix of K rows by replicates, with one more row for its intercept where constant is true. It is nil for an output
// without a label.
func (l *Learner) headNoise(sources []Labelled, lambda float64, constant bool, rng *rand.Rand) ([]*mat.Dense, error) {
	p := l.problem
	k := p.Config.K
	penalty, err := l.headPenalty(lambda)
	if err != nil {
		return nil, err
	}
	out := make([]*mat.Dense, len(l.counts))
	width := k
	if p.Config.Intercept {
		width++
	}
	err = l.eachPart(sources, 1, k+1, l.phi, func(part sourcePart, phi *mat.Dense) {
		design := phi.Slice(0, len(part.Rows), 0, width)
		gram := mat.NewSymDense(width, nil)
		gram.SymOuterK(1, design.T())
		for j := range k {
			gram.SetSym(j, j, gram.At(j, j)+penalty)
		}
		upper, ok := lapack64.Potrf(gram.RawSymmetric())
		if !ok {
			return // without a penalty, the rows leave some direction undetermined
		}
		for _, o := range part.outputs {
			d := mat.NewDense(width, replicates, nil)
			linalg.EachRow(d, func(row []float64) {
				for j := range row {
					row[j] = l.sigma * rng.NormFloat64()
				}
			})
			blas64.Trsm(blas.Left, blas.NoTrans, 1, upper, d.RawMatrix())
			if width > k && !constant {
				d = d.Slice(0, k, 0, replicates).(*mat.Dense)
			}
			out[part.first+o] = d
		}
	})
	return out, err
}

// headPenalty returns N lambda for a fit of N labels. Without a penalty it returns the one at which heads would have
// the size that they have, sigma^2 over the mean square of W.
func (l *Learner) headPenalty(lambda float64) (float64, error) {
	if set := l.problem.Config.ERM.Lambda; set != LambdaAuto {
		lambda = set
	}
	if lambda > 0 {
		return float64(sumInts(l.counts)) * lambda, nil
	}
	heads, err := download64(l.queue, l.model.heads())
	if err != nil {
		return 0, err
	}
	size := mat.Norm(heads, 2)
	if size == 0 {
		return 0, nil
	}
	return l.sigma * l.sigma * float64(len(heads.RawMatrix().Data)) / (size * size), nil
}
