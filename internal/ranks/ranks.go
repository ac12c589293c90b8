// Package ranks orders numbers of which some may be equal.
package ranks

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Of returns the ranks of values, from 0, of which equal ones share the mean of theirs.
func Of(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	out := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

// Correlation returns the correlation of two lists of ranks (Spearman 1904), NaN where all of one are equal.
func Correlation(a, b []float64) float64 { return stat.Correlation(a, b, nil) }
