package pipeline

import (
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
)

// sameOutputs returns the weights, T by C, by which the heads of the T outputs of the
// sources average to what they say of the C outputs of the target that are of the same
// column and class. That of an output with n labels is n / (n + a), with a their mean: what
// the rounds drew more of counts for more, up to the size at which sources differ by more
// than their noise. It is nil where the data do not name what labels are of, and where no
// source has an output of the target.
func (p *Problem) sameOutputs(labels []int) *mat.Dense {
	tasks := p.Set.Tasks
	weights, any := mat.NewDense(len(labels), len(p.Target.Tasks), nil), false
	for c, own := range p.Target.Tasks {
		var same []int
		sum, at := 0.0, 0
		for _, s := range p.Sources {
			for _, t := range s.Tasks {
				if labels[at] > 0 && tasks[t].Output != (dataset.Output{}) && tasks[t].Output == tasks[own].Output {
					same = append(same, at)
					sum += float64(labels[at])
				}
				at++
			}
		}
		total := 0.0
		for _, i := range same {
			n := float64(labels[i])
			weights.Set(i, c, n/(n+sum/float64(len(same))))
			total += weights.At(i, c)
		}
		if total > 0 {
			scaleColumn(weights, c, 1/total)
			any = true
		}
	}
	if !any {
		return nil
	}
	return weights
}

// mean is the mean of heads W' (T by K+1) of the sources for each of these outputs of
// the target, K+1 by C, nil where there is none.
func (p headPrior) mean(heads *mat.Dense, outputs []int) *mat.Dense {
	if p.same == nil {
		return nil
	}
	_, k := heads.Dims()
	mean := mat.NewDense(k, len(outputs), nil)
	for i, o := range outputs {
		mean.ColView(i).(*mat.VecDense).MulVec(heads.T(), p.same.ColView(o))
	}
	return mean
}

// product is a b, nil where b is.
func product(a, b *mat.Dense) *mat.Dense {
	if b == nil {
		return nil
	}
	out := new(mat.Dense)
	out.Mul(a, b)
	return out
}

// searchTowards is search, for labels less g times f where that has the smaller
// leave-one-out residuals: f, n by C, is what the mean of the sources' heads says of
// the rows, and g is its generalised least squares
//
//	g = tr f'(G + lambda I + lambda rho 11')^-1 y / tr f'(G + lambda I + lambda rho 11')^-1 f
//
// at the kappa and lambda of the search without, at least 0: heads of few samples are
// shrunk towards 0, and so is their mean, by a factor that is g's inverse. It returns
// the regression that the fit is of, and g, 0 where f is nil or [negligible].
func (k *kernelRidge) searchTowards(f *mat.Dense, kappas []float64, lambda float64) (*kernelRidge, kernelFit, float64) {
	plain := k.search(kappas, lambda)
	if f == nil || mat.Norm(f, 2) <= negligible*mat.Norm(k.y, 2) {
		return k, plain, 0
	}
	alpha := k.of(f).at(plain.kappa, plain.lambda).alpha
	if alpha == nil {
		return k, plain, 0
	}
	onY, onF := 0.0, 0.0
	for i := range f.RawMatrix().Rows {
		onY += dot(alpha.RawRowView(i), k.y.RawRowView(i))
		onF += dot(alpha.RawRowView(i), f.RawRowView(i))
	}
	if !(onY > 0 && onF > 0) {
		return k, plain, 0
	}
	g := onY / onF
	left := mat.DenseCopyOf(f)
	left.Scale(-g, left)
	left.Add(left, k.y)
	towards := k.of(left)
	if fit := towards.search(kappas, lambda); fit.loo < plain.loo {
		return towards, fit, g
	}
	return k, plain, 0
}
