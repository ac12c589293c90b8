package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// judgedShare is the share of a column's sum of squares that has to be left, without the sample or group that has most of it, for
// the column to have weight 1. A share of at most roundedShare is rounding.
const (
	judgedShare  = 0.25
	roundedShare = 1e-12
)

// columnWeights returns a weight from 0 to 1 for each column of the centred samples x, or nil, for ones, where all samples are of one
// group. Leave-one-out, which chooses how strong the target's own part is, says nothing about a column in which only one sample
// differs from the others: without that sample it is constant. Its slope would be whatever makes that sample right, and rows
// elsewhere lie far beyond it. With q the share of a column's sum of squares that is left, about the mean of the rest, without the
// sample or group for which least is left,
//
//	w^2 = min(1, q / judgedShare).
func columnWeights(x *mat.Dense, groups Groups) []float64 {
	n, d := x.Dims()
	all, some := newColumnSums(d), newColumnSums(d)
	for i := range n {
		all.add(x.RawRowView(i))
	}
	least := slices.Clone(all.square)
	for samples := range groups.each() {
		if len(samples) == n {
			return nil
		}
		clear(some.sum)
		clear(some.square)
		for _, i := range samples {
			some.add(x.RawRowView(i))
		}
		for j := range least {
			rest := all.sum[j] - some.sum[j]
			least[j] = min(least[j], all.square[j]-some.square[j]-rest*rest/float64(n-len(samples)))
		}
	}
	out := slices.Repeat([]float64{1}, d)
	for j, q := range least {
		switch all := all.square[j]; {
		case q <= roundedShare*all:
			out[j] = 0
		case q < judgedShare*all:
			out[j] = math.Sqrt(q / all / judgedShare)
		}
	}
	return out
}

// Weigh multiplies the columns of x by their weights.
func Weigh(x *mat.Dense, weight []float64) {
	for j, w := range weight {
		linalg.ScaleColumn(x, j, w)
	}
}

// loneColumns returns the columns of weight 0 that vary, n by d with zeros in all others, or nil where there are none.
func loneColumns(x *mat.Dense, weight []float64) *mat.Dense {
	n, d := x.Dims()
	var out *mat.Dense
	for j, w := range weight {
		column := mat.Col(nil, j, x)
		if w > 0 || !slices.ContainsFunc(column, func(v float64) bool { return v != 0 }) {
			continue
		}
		if out == nil {
			out = mat.NewDense(n, d, nil)
		}
		out.SetCol(j, column)
	}
	return out
}

// columnSums holds for each column the sum of its elements and of their squares.
type columnSums struct{ sum, square []float64 }

func newColumnSums(d int) columnSums { return columnSums{make([]float64, d), make([]float64, d)} }

func (s columnSums) add(row []float64) {
	for j, v := range row {
		s.sum[j], s.square[j] = s.sum[j]+v, s.square[j]+v*v
	}
}
