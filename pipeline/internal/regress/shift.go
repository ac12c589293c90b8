package regress

import "math"

// ShiftTo adds to predictions f what they lack on average of labels y, those of the sample itself and of its group left out, if
// that is from N(0, rho) in units of the noise. It returns what a prediction of another row lacks. Labels that are NaN do not count.
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
