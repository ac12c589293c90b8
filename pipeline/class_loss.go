package pipeline

import "gonum.org/v1/gonum/floats"

// logOfLabels is -log of the probability of labels y of the outputs of a column, of which NaN does not count, by their heads: of one of
// several classes [logOfClass], once, and of others, such as where the class is none of these, the sum of [logOfLabel]. Labels are
// wrong at a rate.
func logOfLabels(y, heads []float64, rate float64) float64 {
	class, sum, known := noClass, 0.0, make([]float64, 0, len(y))
	for j, v := range y {
		if v != v {
			continue
		}
		if v == 1 {
			class = len(known)
		}
		known = append(known, heads[j])
		sum += noisy(logOfLabel(heads[j], v), rate, 2)
	}
	if class == noClass || len(known) < 2 {
		return sum
	}
	return noisy(logOfClass(known, class), rate, float64(len(known)))
}

// logOfClass is -log of the score of a class: its sigmoid divided by the sum of those of all. It overwrites the heads.
func logOfClass(heads []float64, class int) float64 {
	for c, head := range heads {
		heads[c] = -logOfLabel(head, 1)
	}
	return floats.LogSumExp(heads) - heads[class]
}
