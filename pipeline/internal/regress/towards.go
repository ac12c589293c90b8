package regress

import (
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// searchTowards is search, for labels less g times f where that has the smaller
// leave-one-out residuals: f, n by C, is what the mean of the sources' heads says of
// the rows, and g is its generalised least squares
//
//	g = tr f'(G + lambda I + lambda rho 11')^-1 y / tr f'(G + lambda I + lambda rho 11')^-1 f
//
// at the kappa and lambda of the search without, at least 0: heads of few samples are
// shrunk towards 0, and so is their mean, by a factor that is g's inverse. It returns
// the regression that the fit is of, and g, 0 where f is nil or [negligible].
func (k *KernelRidge) searchTowards(f *mat.Dense, kappas []float64, lambda float64) (*KernelRidge, KernelFit, float64) {
	plain := k.search(kappas, lambda)
	if f == nil || mat.Norm(f, 2) <= negligible*mat.Norm(k.y, 2) {
		return k, plain, 0
	}
	alpha := k.Of(f).At(plain.Kappa, plain.Lambda).Alpha
	if alpha == nil {
		return k, plain, 0
	}
	onY, onF := 0.0, 0.0
	for i := range f.RawMatrix().Rows {
		onY += linalg.Dot(alpha.RawRowView(i), k.y.RawRowView(i))
		onF += linalg.Dot(alpha.RawRowView(i), f.RawRowView(i))
	}
	if !(onY > 0 && onF > 0) {
		return k, plain, 0
	}
	g := onY / onF
	left := mat.DenseCopyOf(f)
	left.Scale(-g, left)
	left.Add(left, k.y)
	towards := k.Of(left)
	if fit := towards.search(kappas, lambda); fit.Loo < plain.Loo {
		return towards, fit, g
	}
	return k, plain, 0
}
