package boost

import (
	"slices"
	"sort"
)

// maxBins is the largest number of bins of a column.
const maxBins = 64

// Columns holds the columns of a table by the bin of each cell.
type Columns struct {
	rows int
	// source holds the source of each row, of which there are sources (see [Columns.SplitBySource]), where trees split by it.
	source  []int32
	sources int
	own     int32
	bins    [][]uint8   // of each column, a bin for each row
	cuts    [][]float32 // of each column, the cut above each bin but the last: cells up to it are in that bin or below
}

// NewColumns divides each column of x, which holds rows of d cells, into at most 64 bins: a bin for each value where
// there are no more, else bins of about equally many rows. Cells are not NaN.
func NewColumns(x []float32, d int) *Columns {
	c := &Columns{rows: len(x) / d, bins: make([][]uint8, d), cuts: make([][]float32, d)}
	column := make([]float32, c.rows)
	for j := range d {
		for i := range column {
			column[i] = x[i*d+j]
		}
		cuts := cutsOf(column)
		c.bins[j], c.cuts[j] = make([]uint8, c.rows), cuts
		for i := range column {
			v := x[i*d+j]
			c.bins[j][i] = uint8(sort.Search(len(cuts), func(k int) bool { return v <= cuts[k] }))
		}
	}
	return c
}

// cutsOf returns the cuts between bins in ascending order, each between two values. It sorts values.
func cutsOf(values []float32) []float32 {
	slices.Sort(values)
	distinct := slices.Compact(slices.Clone(values))
	var cuts []float32
	if len(distinct) <= maxBins {
		for k := 1; k < len(distinct); k++ {
			cuts = append(cuts, between(distinct[k-1], distinct[k]))
		}
		return cuts
	}
	for k := 1; k < maxBins; k++ {
		first := values[k*len(values)/maxBins] // the least value above the cut
		if at, _ := slices.BinarySearch(distinct, first); at > 0 {
			cuts = append(cuts, between(distinct[at-1], first))
		}
	}
	return slices.Compact(cuts)
}

// between returns a number from low up to below high, near their middle. It is not the middle, which would often be the
// value of other rows where values are whole numbers: rounding, in other units, would then decide on their side.
func between(low, high float32) float32 {
	if v := float32(float64(low) + 0.4713*(float64(high)-float64(low))); v < high {
		return v
	}
	return low
}
