package regress

import (
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// searchTowards searches twice, for the labels y and for y - g f, and returns the regression with the smaller leave-one-out residuals, its
// fit, and g. f, n by C, holds the predictions of the sources' mean head for the rows, and g is the estimate by generalised least squares
//
//	g = tr f'(G + lambda I + lambda rho 11')^-1 y / tr f'(G + lambda I + lambda rho 11')^-1 f
//
// at the kappa and lambda found for y. Heads of few samples are shrunk towards 0, and so is their mean; g makes up for that factor.
// g is 0 where y alone is better, where the estimate is not above 0, and where f is nil or [negligible].
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
