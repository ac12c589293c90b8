package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// A column counts as it is where this share of its squares or more is left without the samples that have most of them; up to roundedShare
// nothing is left of it.
const (
	judgedShare  = 0.25
	roundedShare = 1e-12
)

// judged are weights of the columns of samples less their mean, from 0 to 1, nil for 1 where all are of one group. Leaving samples out,
// which chooses how strong the target's own part is, says nothing of a column in which only one of them differs from the others: without
// that one it is constant. Its slope would be whatever makes that one right, and rows elsewhere lie far beyond it. With q the share of the
// sum of squares of a column that is left, about their own mean, without the sample, or group, of which least is left,
//
//	w^2 = min(1, q / judgedShare).
func judged(x *mat.Dense, groups Groups) []float64 {
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

// Weigh multiplies columns by their weights.
func Weigh(x *mat.Dense, weight []float64) {
	for j, w := range weight {
		linalg.ScaleColumn(x, j, w)
	}
}

// loneColumns are the columns of weight 0 that vary, nil where there are none.
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

// columnSums are the sums of columns and of their squares.
type columnSums struct{ sum, square []float64 }

func newColumnSums(d int) columnSums { return columnSums{make([]float64, d), make([]float64, d)} }

func (s columnSums) add(row []float64) {
	for j, v := range row {
		s.sum[j], s.square[j] = s.sum[j]+v, s.square[j]+v*v
	}
}
