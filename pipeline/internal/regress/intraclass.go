package regress

import "math"

// Intraclass returns the intraclass correlation of numbers, one for each sample: how much those of one group have in common, 0 where they
// differ as much as those of several groups, and 1 where they are all the same. It is the estimator of the analysis of variance (Fisher
// 1925; for groups that differ in size, Donner 1986) for G groups of n_g of the n samples, no less than 0:
//
//	(B - W) / (B + (k - 1) W),  k = (n - sum n_g^2/n) / (G - 1),
//
// B = sum_g n_g (mean_g - mean)^2 / (G - 1) and W = sum_g sum_i (v_gi - mean_g)^2 / (n - G) being the mean squares between and within
// groups. Those of several variables are added up. It is 1 where nothing can be told: for a single group, for samples on their own, and for
// numbers that are all the same or not finite.
func (t Groups) Intraclass(variables ...[]float64) float64 {
	rho, _ := t.intraclass(variables)
	return rho
}

// IntraclassAtMost returns Intraclass plus its standard error, no more than 1. For one normal variable that is (Swiger, Harvey, Everson and
// Gregory 1964)
//
//	sqrt(2 (n - 1) / ((n - G) (G - 1))) (1 - rho) (1 + (k - 1) rho) / k.
//
// So a few groups do not show that their samples have nothing in common, and copies still have 1.
func (t Groups) IntraclassAtMost(variables ...[]float64) float64 {
	rho, k := t.intraclass(variables)
	if rho == 1 {
		return 1
	}
	n, count := float64(t.N), float64(t.Count())
	return math.Min(1, rho+math.Sqrt(2*(n-1)/((n-count)*(count-1)))*(1-rho)*(1+(k-1)*rho)/k)
}

// intraclass returns the intraclass correlation and k.
func (t Groups) intraclass(variables [][]float64) (rho, k float64) {
	if t.Group == nil || len(t.Members) < 2 {
		return 1, 1
	}
	n, count, squares, between, within := float64(t.N), float64(t.Count()), 0.0, 0.0, 0.0
	for _, samples := range t.Members {
		squares += float64(len(samples) * len(samples))
	}
	for _, v := range variables {
		mean := 0.0
		for _, of := range v {
			mean += of / n
		}
		for _, samples := range t.Members {
			size, ofGroup := float64(len(samples)), 0.0
			for _, i := range samples {
				ofGroup += v[i] / size
			}
			between += size * (ofGroup - mean) * (ofGroup - mean)
			for _, i := range samples {
				within += (v[i] - ofGroup) * (v[i] - ofGroup)
			}
		}
	}
	between, within = between/(count-1), within/(n-count)
	k = (n - squares/n) / (count - 1)
	if all := between + (k-1)*within; all > 0 && !math.IsInf(all, 1) {
		return math.Min(math.Max(0, (between-within)/all), 1), k
	}
	return 1, k
}

// EffectiveAt returns the effective number of samples whose intraclass correlation is rho: n divided by Kish's design effect
//
//	1 + (m - 1) rho,  m = sum n_g^2/n,
//
// for groups of n_g samples (Kish 1965). It is n for a rho of 0 and [Groups.Effective] for a rho of 1.
func (t Groups) EffectiveAt(rho float64) float64 {
	if t.Group == nil {
		return float64(t.N)
	}
	n := float64(t.N)
	return n / (1 + (n/t.Effective()-1)*rho)
}
