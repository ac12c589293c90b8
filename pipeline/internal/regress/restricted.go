package regress

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// restrictedSamples is of how many samples leave-one-out and the restricted likelihood count the same.
const restrictedSamples = 60

// roundingOfSquare is the part of a sum of squares below which a difference of two is rounding.
const roundingOfSquare = 0x1p-40

// likely says whether the likelihood of a lambda counts. Samples that belong together are not independent, as it takes them to be.
func (k *KernelRidge) likely() bool {
	n, _ := k.y.Dims()
	return k.normal && k.groups.Group == nil && n > 2
}

// criterion is what the lambda of n labels of C outputs is the least of: [KernelFit.Loo], or where the likelihood counts
//
//	C n/2 log Loo - 60/n L,
//
// L being the logarithm of the restricted likelihood. Where samples are few, Loo is next to 0 for some lambda by chance, and L alone is
// wrong where the kernel is.
func (k *KernelRidge) criterion(fit KernelFit, solved *inverse, rho, mu float64) float64 {
	if !k.likely() || math.IsInf(fit.Loo, 1) {
		return fit.Loo
	}
	n, outputs := k.y.Dims()
	return float64(n*outputs)/2*math.Log(fit.Loo) - restrictedSamples/float64(n)*k.restricted(fit.Alpha, solved, rho, mu)
}

// restricted is L (Patterson and Thompson 1971), up to what is the same for each kappa above 0 and mu. With labels from N(0, S s^2), S
// being the system divided by kappa/(1 + kappa) with alpha = S^-1 y, and s the likeliest, it is
//
//	-C/2 (f log sum y'S^-1 y + log det S),
//
// f being n and the sum over the outputs, whose Loo is a sum too. Where the intercept is free, f is n - 1, the determinant is divided by
// the variance mu rho of the intercept, and what that takes of the sum is taken from it.
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
