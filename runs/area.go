package runs

import "slices"

// mostAreas is the largest number of probabilities of three classes or more that [Probabilities].AUC is computed from.
const mostAreas = 1 << 22

// areaUnderROC returns the part of all pairs of a number of no and one of yes, both ascending, in which that of yes is larger, where equal
// ones count half (Mann and Whitney 1947).
func areaUnderROC(no, yes []float32) float64 {
	below, upTo, sum := 0, 0, 0.0
	for _, p := range yes {
		for below < len(no) && no[below] < p {
			below++
		}
		for upTo < len(no) && no[upTo] <= p {
			upTo++
		}
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(no)) / float64(len(yes))
}

// areaOfPairs returns the mean area over all pairs of classes, from the probabilities of all classes for the rows of each, one row after
// another. It is nil where fewer than two classes have rows.
func areaOfPairs(of [][]float32) *float64 {
	sum, pairs, columns := 0.0, 0, make([][]float32, len(of))
	for i := range of {
		for label, p := range of { // the probabilities of class i
			columns[label] = columns[label][:0]
			for r := i; r < len(p); r += len(of) {
				columns[label] = append(columns[label], p[r])
			}
			slices.Sort(columns[label])
		}
		for j, others := range columns {
			if j != i && len(others) > 0 && len(columns[i]) > 0 {
				sum += areaUnderROC(others, columns[i])
				pairs++
			}
		}
	}
	if pairs == 0 {
		return nil
	}
	return new(sum / float64(pairs))
}
