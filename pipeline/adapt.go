package pipeline

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// residualRidge is the regression of residualHead on kernels of A = Phi L, for L L' = W W'.
type residualRidge struct {
	*kernelRidge
	rows    *targetRows
	a, root *mat.Dense
	u       units
	k       int
}

// shared is the w of a fit, K+1 by C, with what the intercept has of it.
func (r residualRidge) shared(fit kernelFit) *mat.Dense {
	var dual, w mat.Dense
	dual.Mul(r.a.T(), fit.alpha)
	w.Mul(r.root, &dual)
	w.Scale(r.unit/(1+fit.kappa), &w)
	return &w
}

// adapt is predictions g of numbers y with what the rows tell of them beyond g: the regression of what g leaves, with an intercept that is
// free. g are those of the rows inside: were the shift of each row without its own label, what is left out would not be what another
// row sees. It is nil where rounding makes its systems singular.
func (r residualRidge) adapt(g prediction, y []float64) *prediction {
	left := mat.NewDense(len(y), 1, nil)
	floats.SubTo(left.RawMatrix().Data, y, g.inside)
	mean := centreDense(left)[0]
	fit := r.freely().of(left).search(kappas, RidgeAuto)
	if math.IsInf(fit.loo, 1) {
		return nil
	}
	h, w := fit.heads(r.rows, r.u, r.k)[0], r.shared(fit)
	for j := range r.k {
		h.w[j] = float32(w.At(j, 0))
	}
	out := prediction{head: h.vector(mean + w.At(r.k, 0)), left: make([]float64, len(y))}
	for j, v := range g.head {
		out.head[j] += v
	}
	floats.SubTo(out.left, y, h.residuals)
	return &out
}
