package regress

import "gonum.org/v1/gonum/floats"

// LogOfLabels is -log of the probability of labels y of the outputs of a column, of which NaN does not count, by their heads: of one of
// several classes [logOfClass], once, and of others, such as where the class is none of these, the sum of [LogOfLabel]. Labels are
// wrong at a rate.
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

// logOfClass is -log of the score of a class: its sigmoid divided by the sum of those of all. It overwrites the heads.
func logOfClass(heads []float64, class int) float64 {
	for c, head := range heads {
		heads[c] = -LogOfLabel(head, 1)
	}
	return floats.LogSumExp(heads) - heads[class]
}
