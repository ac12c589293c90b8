package dataset

import "slices"

// quantile returns the quantile of sorted numbers at a share from 0 to 1, without interpolation. There must be at least one number.
func quantile(sorted []float64, share float64) float64 {
	return sorted[int(share*float64(len(sorted)-1))]
}

// above returns the index of the first of the sorted numbers that is greater than x, or their number where none is.
func above(sorted []float64, x float64) int {
	i, _ := slices.BinarySearchFunc(sorted, x, func(v, x float64) int {
		if v > x {
			return 1
		}
		return -1
	})
	return i
}
