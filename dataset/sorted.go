package dataset

import "slices"

// quantile is the number below which a share of sorted numbers lies, of which there are some.
func quantile(sorted []float64, share float64) float64 {
	return sorted[int(share*float64(len(sorted)-1))]
}

// above is the place of the first of sorted numbers that is more than x.
func above(sorted []float64, x float64) int {
	i, _ := slices.BinarySearchFunc(sorted, x, func(v, x float64) int {
		if v > x {
			return 1
		}
		return -1
	})
	return i
}
