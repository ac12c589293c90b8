package regress

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// restrictedSamples is of how many samples leave-one-out and the restricted likelihood count the same; a half or twice as many do about as
// well.
const restrictedSamples = 60

// criterion is what the lambda of n labels of C outputs is the least of. Of classes that is [KernelFit.Loo], and of numbers
//
//	C n/2 log Loo - 60/n L,
//
// L being the logarithm of the restricted likelihood: where samples are few, Loo is next to 0 for some lambda by chance, and L alone is
// wrong where the kernel is. Samples that belong together are not independent, as L takes them to be, and have Loo alone.
func (k *KernelRidge) criterion(fit KernelFit, solved *inverse, rho, mu float64) float64 {
	n, outputs := k.y.Dims()
	if !k.normal || k.groups.Group != nil || n < 3 || math.IsInf(fit.Loo, 1) {
		return fit.Loo
	}
	likely := k.restricted(fit.Alpha, solved, rho, mu)
	return float64(n*outputs)/2*math.Log(fit.Loo) - restrictedSamples/float64(n)*likely
}

// restricted is L (Patterson and Thompson 1971), up to what is the same for each kappa above 0 and mu. With labels from N(0, S s^2), S
// being the system divided by kappa/(1 + kappa) with alpha = S^-1 y, and s the likeliest of each output, it is
//
//	-1/2 sum over outputs of (f log y'S^-1 y + log det S),
//
// where f is n. Where the intercept is free it is n - 1, and the determinant is divided by the variance mu rho of the intercept.
func (k *KernelRidge) restricted(alpha *mat.Dense, solved *inverse, rho, mu float64) (likely float64) {
	n, outputs := k.y.Dims()
	freedom, det := float64(n), solved.logDet
	if rho == MaxRho {
		freedom, det = freedom-1, det-math.Log(mu)
	}
	for o := range outputs {
		square := mat.Dot(k.y.ColView(o), alpha.ColView(o))
		likely -= (freedom*math.Log(math.Max(0, square)) + det) / 2
	}
	return likely
}
