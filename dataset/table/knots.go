package table

import (
	"math"
	"slices"
	"strconv"
)

// Knots are, for each of the first features of a row, the values at which its effect may bend, ascending: for each knot t of feature j,
// |x_j - t| is a feature too. What is linear in all of these is linear in x_j from knot to knot and has no jumps (linear splines; Hastie,
// Tibshirani and Friedman 2009, section 5.2), and a penalty on these is the same for x_j and -x_j, other than one on max(0, x_j - t).
type Knots [][]float64

// Count is the number of knots, and so of the features that they add.
func (k Knots) Count() (n int) {
	for _, of := range k {
		n += len(of)
	}
	return n
}

// Names are those of the features that are added, such as "|depth - 61.8|".
func (k Knots) Names(features []string) (names []string) {
	for j, of := range k {
		for _, t := range of {
			sign := " - "
			if t < 0 {
				sign = " + "
			}
			names = append(names, "|"+features[j]+sign+KnotText(math.Abs(t))+"|")
		}
	}
	return names
}

// KnotText writes a knot in as many digits as tell it from all others.
func KnotText(t float64) string {
	bits := 64
	if float64(float32(t)) == t {
		bits = 32
	}
	return strconv.FormatFloat(t, 'g', -1, bits)
}

// Expand overwrites dst with the features of v, and behind those of each row what the knots add, in their order; of a missing feature it
// is missing. All are float32.
func (k Knots) Expand(dst, v *Vectors) {
	rows := v.Len() / v.Width
	dst.Width = v.Width + k.Count()
	dst.grow(Float32, rows*dst.Width)
	for i := range rows {
		from, to := i*v.Width, i*dst.Width
		for j := range v.Width {
			dst.Set(to+j, v.element(from+j))
		}
		to += v.Width
		for j, of := range k {
			x := v.element(from + j)
			for _, t := range of {
				dst.Set(to, math.Abs(x-t))
				to++
			}
		}
	}
}

// KnotsOf are up to n knots of a feature: those of its quantiles 1/(n+1), 2/(n+1), ... that lie between the least and the largest of its
// values, each once, and none of a feature of two values, which has no way to bend. It sorts values, which are of some rows that have it.
// Those of -x are minus those of x.
func KnotsOf(values []float64, n int) []float64 {
	knots := []float64{} // as JSON a list
	if len(values) == 0 {
		return knots
	}
	slices.Sort(values)
	last := len(values) - 1
	least, most := values[0], values[last]
	if !slices.ContainsFunc(values, func(x float64) bool { return x > least && x < most }) {
		return knots
	}
	for q := 1; q <= n; q++ {
		low := q * last / (n + 1)
		high := last - (n+1-q)*last/(n+1) // that below or above, where it lies between two
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
	return knots
}
