package columnar

import (
	"math"
	"slices"
)

// A feature's standard deviation s is its scale unless few rows make most of it, such as one in which a decimal point was lost: then the
// feature would be next to nothing in all other rows. With q the range from the quantile 1/100 to the quantile 99/100, s is at most
//
//	tameAt q / normalRange,
//
// where a normal distribution has q = normalRange s. Fewer than leastTame values have no such quantiles.
const (
	tameAt      = 3
	normalRange = 4.6527
	leastTame   = 20
)

// tame bounds the scale of each feature by the middle 98 % of the rows of the sample. Where it does, the mean is that of the values cut to
// their range. With fewer than 200 values, the range is from the second least to the second largest value.
func (k *rowSample) tame(means, scale []float64) {
	values := make([]float64, 0, len(k.rows))
	for j := range scale {
		values = values[:0]
		for _, row := range k.rows {
			if x := row[j]; x == x {
				values = append(values, x)
			}
		}
		if len(values) < leastTame {
			continue
		}
		slices.Sort(values)
		out := max(1, len(values)/100)
		low, high := values[out], values[len(values)-1-out]
		most := tameAt * (high - low) / normalRange
		if !(most > 0 && most < scale[j]) {
			continue
		}
		scale[j], means[j] = most, 0
		for _, x := range values {
			means[j] += math.Min(math.Max(x, low), high) / float64(len(values))
		}
	}
}
