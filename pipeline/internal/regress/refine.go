package regress

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// refinedTo is the rounding error allowed in the system of a fit, as a part of the residuals that the fit leaves: heads are float32.
const refinedTo = 0x1p-20

// Refined returns a fit of k, a regression of labels y, with the rounding error of its system
//
//	y - (G + lambda I + lambda rho 11') alpha
//
// removed where that counts beside lambda alpha, the residuals of the fit: A'alpha, from which the head is made, would blow it up.
// It counts where the outputs of sources are far apart, such as some of about 0 and some of about 100, and have little noise: their
// heads, and the prior mean of the intercept, then have a constant that is far larger than the labels.
func (r *Regression) Refined(k *KernelRidge, fit KernelFit) KernelFit {
	fit = r.again(k, fit)
	if fit.Alpha == nil || fit.Kappa == 0 || r.A == nil || r.exact(fit, r.rest(k, fit)) {
		return fit
	}
	if of := r.levelled(k, fit); of.Alpha != nil {
		return of
	}
	return fit
}

// exact reports whether rest, which [Regression.rest] returned, is no more than rounding.
func (r *Regression) exact(fit KernelFit, rest *mat.Dense) bool {
	return mat.Norm(rest, 2) <= refinedTo*fit.Lambda*mat.Norm(fit.Alpha, 2)
}

// levelled solves for a free intercept: A and y less their means have the same alpha, without those constants, and the intercept,
// in Level, is the mean of what is left of the labels. Alpha is nil where the regression fails.
func (r *Regression) levelled(k *KernelRidge, fit KernelFit) KernelFit {
	less := *r
	less.A, less.Y = mat.DenseCopyOf(r.A), mat.DenseCopyOf(k.y)
	linalg.Centre(less.A)
	linalg.Centre(less.Y)
	centred, err := NewKernelRidge(r.Rows, less.A, less.Y, k.rho, k.least)
	if err != nil {
		return KernelFit{}
	}
	out := less.again(centred, centred.At(fit.Kappa, fit.Lambda))
	if out.Alpha == nil {
		return out
	}
	out.Rho = 0
	rest := r.rest(k, out)
	_, outputs := rest.Dims()
	for o := range outputs {
		out.Level = append(out.Level, stat.Mean(mat.Col(nil, o, rest), nil))
	}
	return out
}

// again adds to a fit that to the residual of its system, as long as that halves the residual (Wilkinson's iterative refinement).
func (r *Regression) again(k *KernelRidge, fit KernelFit) KernelFit {
	least := math.Inf(1)
	for fit.Alpha != nil {
		rest := r.rest(k, fit)
		size := mat.Norm(rest, 2)
		if r.exact(fit, rest) || !(size < least/2) {
			break
		}
		by := k.Of(rest).At(fit.Kappa, fit.Lambda)
		if by.Alpha == nil {
			break
		}
		least = size
		by.Alpha.Add(by.Alpha, fit.Alpha)
		by.Residual.Add(by.Residual, fit.Residual)
		fit.Alpha, fit.Residual = by.Alpha, by.Residual
	}
	return fit
}

// rest returns the residual y - (G + lambda I + lambda rho 11') alpha of the system.
func (r *Regression) rest(k *KernelRidge, fit KernelFit) *mat.Dense {
	n, outputs := fit.Alpha.Dims()
	out := mat.DenseCopyOf(k.y)
	take := func(factor float64, of *mat.Dense) {
		var dual, part mat.Dense
		dual.Mul(of.T(), fit.Alpha)
		part.Mul(of, &dual)
		part.Scale(-factor, &part)
		out.Add(out, &part)
	}
	if k.Unit > 0 {
		take(k.Unit/(1+fit.Kappa), r.A)
	}
	if fit.Kappa > 0 {
		take(fit.Kappa/(1+fit.Kappa)/r.Rows.Unit(), r.Rows.X)
	}
	for o := range outputs {
		constant := fit.Rho * fit.Lambda * mat.Sum(fit.Alpha.ColView(o))
		for i := range n {
			out.Set(i, o, out.At(i, o)-fit.Lambda*fit.Alpha.At(i, o)-constant)
		}
	}
	return out
}
