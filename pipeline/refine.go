package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// refinedTo is the part of what a regression leaves of the labels that rounding may have of it: heads are float32.
const refinedTo = 0x1p-20

// refined is a fit of k, the regression of labels, without what rounding leaves of its system,
//
//	y - (G + lambda I + lambda rho 11') alpha,
//
// where that counts beside lambda alpha, by which the fit misses y: A'alpha, of which the head is made, would blow it up. So it is where
// the outputs of sources are far apart, such as some of about 0 and some of about 100, and have little noise: their heads, and the
// prior mean of the intercept, then have a constant that is far larger than the labels.
func (r *targetRegression) refined(k *kernelRidge, fit kernelFit) kernelFit {
	fit = r.again(k, fit)
	if fit.alpha == nil || fit.kappa == 0 || r.a == nil || r.exact(fit, r.rest(k, fit)) {
		return fit
	}
	if of := r.levelled(k, fit); of.alpha != nil {
		return of
	}
	return fit
}

// exact says whether rest is no more than rounding.
func (r *targetRegression) exact(fit kernelFit, rest *mat.Dense) bool {
	return mat.Norm(rest, 2) <= refinedTo*fit.lambda*mat.Norm(fit.alpha, 2)
}

// levelled is a fit with a free intercept: A and y less their means have the same alpha, without those constants, and the intercept is
// the mean of what is left.
func (r *targetRegression) levelled(k *kernelRidge, fit kernelFit) kernelFit {
	less := *r
	less.a, less.y = mat.DenseCopyOf(r.a), mat.DenseCopyOf(k.y)
	centreDense(less.a)
	centreDense(less.y)
	centred, err := newKernelRidge(r.rows, less.a, less.y, k.rho, k.least)
	if err != nil {
		return kernelFit{}
	}
	out := less.again(centred, centred.at(fit.kappa, fit.lambda))
	if out.alpha == nil {
		return out
	}
	out.rho = 0
	rest := r.rest(k, out)
	_, outputs := rest.Dims()
	for o := range outputs {
		out.level = append(out.level, stat.Mean(mat.Col(nil, o, rest), nil))
	}
	return out
}

// again solves for what is left of the labels, as long as that halves it (Wilkinson's iterative refinement).
func (r *targetRegression) again(k *kernelRidge, fit kernelFit) kernelFit {
	least := math.Inf(1)
	for fit.alpha != nil {
		rest := r.rest(k, fit)
		size := mat.Norm(rest, 2)
		if r.exact(fit, rest) || !(size < least/2) {
			break
		}
		by := k.of(rest).at(fit.kappa, fit.lambda)
		if by.alpha == nil {
			break
		}
		least = size
		by.alpha.Add(by.alpha, fit.alpha)
		by.residual.Add(by.residual, fit.residual)
		fit.alpha, fit.residual = by.alpha, by.residual
	}
	return fit
}

// rest is what a fit leaves of its system.
func (r *targetRegression) rest(k *kernelRidge, fit kernelFit) *mat.Dense {
	n, outputs := fit.alpha.Dims()
	out := mat.DenseCopyOf(k.y)
	take := func(factor float64, of *mat.Dense) {
		var dual, part mat.Dense
		dual.Mul(of.T(), fit.alpha)
		part.Mul(of, &dual)
		part.Scale(-factor, &part)
		out.Add(out, &part)
	}
	if k.unit > 0 {
		take(k.unit/(1+fit.kappa), r.a)
	}
	if fit.kappa > 0 {
		take(fit.kappa/(1+fit.kappa)/r.rows.unit(), r.rows.x)
	}
	for o := range outputs {
		constant := fit.rho * fit.lambda * mat.Sum(fit.alpha.ColView(o))
		for i := range n {
			out.Set(i, o, out.At(i, o)-fit.lambda*fit.alpha.At(i, o)-constant)
		}
	}
	return out
}
