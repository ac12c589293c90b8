package regress

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// restrictedSamples is the number of samples at which leave-one-out and the restricted likelihood count the same.
const restrictedSamples = 60

// roundingOfSquare is the fraction of a sum of squares below which a difference from it is rounding.
const roundingOfSquare = 0x1p-40

// likely reports whether the likelihood of a lambda counts. It takes samples to be independent, which those of a group are not.
func (k *KernelRidge) likely() bool {
	n, _ := k.y.Dims()
	return k.normal && k.groups.Group == nil && n > 2
}

// criterion returns what the lambda of n labels of C outputs minimises: [KernelFit.Loo], or where the likelihood counts
//
//	C n/2 log Loo - 60/n L,
//
// L being the logarithm of the restricted likelihood. With few samples Loo is next to 0 for some lambda by chance, and L
// alone is wrong where the kernel is.
func (k *KernelRidge) criterion(fit KernelFit, solved *inverse, rho, mu float64) float64 {
	if !k.likely() || math.IsInf(fit.Loo, 1) {
		return fit.Loo
	}
	n, outputs := k.y.Dims()
	return float64(n*outputs)/2*math.Log(fit.Loo) - restrictedSamples/float64(n)*k.restricted(fit.Alpha, solved, rho, mu)
}

// restricted returns L (Patterson and Thompson 1971), up to a constant that is the same for each kappa above 0 and mu. With labels
// from N(0, S s^2), S being the system divided by kappa/(1 + kappa) with alpha = S^-1 y, and the s that makes them most likely, L is
//
//	-C/2 (f log sum y'S^-1 y + log det S),
//
// where f is n and the sum is over the outputs, as that of Loo is. Where the intercept is free, f is n - 1, the determinant is
// divided by the variance mu rho of the intercept, and the part of the intercept is subtracted from the sum.
func (k *KernelRidge) restricted(alpha *mat.Dense, solved *inverse, rho, mu float64) float64 {
	n, outputs := k.y.Dims()
	freedom, det, square, level := float64(n), solved.logDet, 0.0, 0.0
	for o := range outputs {
		square += mat.Dot(k.y.ColView(o), alpha.ColView(o))
		level += math.Pow(mat.Sum(alpha.ColView(o)), 2)
	}
	if rho == MaxRho {
		freedom, det = freedom-1, det-math.Log(mu)
		square = math.Max(square-mu*rho*level, roundingOfSquare*square)
	}
	return -float64(outputs) / 2 * (freedom*math.Log(math.Max(0, square)) + det)
}
