package columnar

import (
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
)

// A few cells far from all others, such as one in which a decimal point was lost, would decide the scale of a feature, which would then be
// next to nothing in all other rows. With q the range from the quantile 1/100 to the quantile 99/100, or without the least and the largest
// of fewer than 200 values, a cell that is further than tameBeyond q beyond these quantiles counts as that far, if at most one in tameOneIn
// values, or a single one, lies there and the standard deviation of all cells is more than tameRatio times that of the cells so cut. Fewer
// than leastTame values have no such quantiles.
const (
	tameBeyond = 3
	tameOneIn  = 1000
	tameRatio  = 2
	leastTame  = 20
)

// tame returns the limits of the features whose cells are to be cut, by a sample of the rows and the standard deviations over all rows in
// scale. It sets the means and the scales of these to those of the cut cells of the sample.
func (k *rowSample) tame(means, scale []float64) (cuts []dataset.Cut) {
	values := make([]float64, 0, len(k.rows))
	for j := range scale {
		values = values[:0]
		for _, row := range k.rows {
			if x := row[j]; x == x {
				values = append(values, x)
			}
		}
		n := len(values)
		if n < leastTame {
			continue
		}
		slices.Sort(values)
		out := max(1, n/100)
		first, last := values[out], values[n-1-out]
		c := dataset.Cut{Feature: j, Low: first - tameBeyond*(last-first), High: last + tameBeyond*(last-first)}
		below, _ := slices.BinarySearch(values, c.Low)
		above, _ := slices.BinarySearch(values, math.Nextafter(c.High, math.Inf(1)))
		if below+n-above > max(1, n/tameOneIn) || !(last > first) {
			continue
		}
		if mean, deviation := table.CutMoments(values, c.Low, c.High); scale[j] > tameRatio*deviation {
			means[j], scale[j] = mean, deviation
			cuts = append(cuts, c)
		}
	}
	return cuts
}
