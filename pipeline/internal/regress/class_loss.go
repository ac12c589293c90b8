package regress

import "gonum.org/v1/gonum/floats"

// LogOfLabels returns -log of the probability that heads give to the labels y of one row, for outputs of one column. Labels that are NaN
// do not count. If the row is of one of several classes, the probability of the class counts, once (see [logOfClass]). Otherwise, as for
// a row of none of these classes, the result is the sum of [LogOfLabel] over the outputs. rate is the rate of wrong labels (see [Noisy]).
func LogOfLabels(y, heads []float64, rate float64) float64 {
	class, known := NoClass, 0
	for _, v := range y {
		if v == 1 {
			class = known
		}
		if v == v {
			known++
		}
	}
	if class != NoClass && known > 1 {
		of := make([]float64, 0, known)
		for j, v := range y {
			if v == v {
				of = append(of, heads[j])
			}
		}
		return Noisy(logOfClass(of, class), rate, float64(known))
	}
	sum := 0.0
	for j, v := range y {
		if v == v {
			sum += Noisy(LogOfLabel(heads[j], v), rate, 2)
		}
	}
	return sum
}

// logOfClass returns -log of the score of a class, its sigmoid divided by the sum of the sigmoids of all. It overwrites heads.
func logOfClass(heads []float64, class int) float64 {
	for c, head := range heads {
		heads[c] = -LogOfLabel(head, 1)
	}
	return floats.LogSumExp(heads) - heads[class]
}
