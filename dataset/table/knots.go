package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/internal/text"
)

// Knots holds, for each of the first features of a row, the values at which its effect may bend, in ascending order. For each knot t of
// feature j, |x_j - t| is a further feature. A function that is linear in all of these is continuous in x_j and linear from knot to knot
// (linear splines; Hastie, Tibshirani and Friedman 2009, section 5.2). A penalty on these features is the same for x_j and -x_j, unlike one
// on max(0, x_j - t).
type Knots [][]float64

// Count returns the number of knots, which is the number of features that they add.
func (k Knots) Count() (n int) {
	for _, of := range k {
		n += len(of)
	}
	return n
}

// names returns the names of the features that the knots add.
func (k Knots) names(features []string) (names []string) {
	for j, of := range k {
		for _, t := range of {
			sign := " - "
			if t < 0 {
				sign = " + "
			}
			names = append(names, "|"+features[j]+sign+number(math.Abs(t))+"|")
		}
	}
	return names
}

// check returns an error unless the knots are finite and ascend.
func (k Knots) check(features []string) error {
	for j, of := range k {
		for i, t := range of {
			if t-t != 0 || i > 0 && t <= of[i-1] {
				return fmt.Errorf("knots of %s: expected finite numbers that ascend, found %v", text.OneLine(features[j], 80), of)
			}
		}
	}
	return nil
}

// number formats a knot with as many digits as distinguish it from all other numbers.
func number(t float64) string {
	if t == math.Trunc(t) && math.Abs(t) < 1<<53 {
		return strconv.FormatFloat(t, 'f', -1, 64)
	}
	return strconv.FormatFloat(t, 'g', -1, 64)
}

// KnotsOf returns up to n knots of a feature: the quantiles 1/(n+1), 2/(n+1), ... of its values. For these the least and the largest value
// count once, however often they occur, as zeros do among counts. Knots lie strictly between the two and differ from each other; a feature
// of two values has none. values are from some rows that have the feature; KnotsOf sorts them. The knots of -x are minus those of x.
func KnotsOf(values []float64, n int) []float64 {
	knots := []float64{} // not nil, so that it is a list in JSON
	if len(values) == 0 {
		return knots
	}
	slices.Sort(values)
	least, most := values[0], values[len(values)-1]
	for len(values) > 1 && values[1] == least {
		values = values[1:]
	}
	for len(values) > 1 && values[len(values)-2] == most {
		values = values[:len(values)-1]
	}
	last := len(values) - 1
	if last < 2 {
		return knots
	}
	for q := 1; q <= n; q++ {
		low := q * last / (n + 1)
		high := last - (n+1-q)*last/(n+1) // the quantile lies between values[low] and values[high]
		t := values[low]
		switch {
		case 2*q < n+1: // the one nearer to the middle
			t = values[high]
		case 2*q == n+1:
			t += (values[high] - t) / 2
		}
		if t > least && t < most && !slices.Contains(knots, t) {
			knots = append(knots, t)
		}
	}
	slices.Sort(knots) // with few values, the median of two may lie before the knot of a lower quantile
	return knots
}
