package regress

import "math"

// ShiftTo adds to each prediction f_i the shift that the labels of the other samples call for, those of its own group left out too,
// and returns the shift by all samples, for predictions of other rows. A shift has the prior N(0, rho sigma^2), sigma^2 being the
// variance of the noise. The posterior mean given n labels is
//
//	sum (y_i - f_i) / (n + 1/rho).
//
// Labels that are NaN do not count.
func ShiftTo(f, y []float64, rho float64, groups Groups) float64 {
	sum, n := 0.0, 1/rho
	for i, v := range f {
		if y[i] == y[i] {
			sum, n = sum+y[i]-v, n+1
		}
	}
	for group := range groups.Several() {
		rest, others := sum, n
		for _, i := range group {
			if y[i] == y[i] {
				rest, others = rest-(y[i]-f[i]), others-1
			}
		}
		for _, i := range group {
			f[i] += rest / math.Max(others, LeastCurvature)
		}
	}
	for i, v := range f {
		if !groups.Alone(i) {
			continue
		}
		if y[i] == y[i] {
			f[i] += (sum - (y[i] - v)) / math.Max(n-1, LeastCurvature)
		} else {
			f[i] += sum / n
		}
	}
	return sum / n
}
