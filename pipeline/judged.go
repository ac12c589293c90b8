package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
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
func judged(x *mat.Dense, groups together) []float64 {
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

// weigh multiplies columns by their weights.
func weigh(x *mat.Dense, weight []float64) {
	for j, w := range weight {
		scaleColumn(x, j, w)
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

// withoutLone is phi of the samples, with a constant behind it, as it would be without the lone columns, which heads are fitted to: what
// the sources' heads combine to could have any slope there too. It is phi itself where there are none, and of networks, which have no
// columns.
func (l *Learner) withoutLone(rows *targetRows, phi *mat.Dense, u units) (*mat.Dense, error) {
	linear, is := l.model.(*linearClass)
	if rows.lone == nil || !is {
		return phi, nil
	}
	b, err := download64(l.queue, linear.representation(linear.theta))
	if err != nil {
		return nil, err
	}
	var part mat.Dense
	part.Mul(rows.lone, b.T())
	part.Scale(1/u.scale, &part)
	n, k := part.Dims()
	out := mat.DenseCopyOf(phi)
	features := out.Slice(0, n, 0, k).(*mat.Dense)
	features.Sub(features, &part)
	return out, nil
}

// hasColumns says whether features are columns, each of its own kind: those of a table, or such as have scales of their own.
func (p *Problem) hasColumns(u units) bool {
	c := p.Set.Columns
	return u.each != nil || c != nil && len(c.Features) == p.Set.Pools[0].Cols
}

// columnSums are the sums of columns and of their squares.
type columnSums struct{ sum, square []float64 }

func newColumnSums(d int) columnSums { return columnSums{make([]float64, d), make([]float64, d)} }

func (s columnSums) add(row []float64) {
	for j, v := range row {
		s.sum[j], s.square[j] = s.sum[j]+v, s.square[j]+v*v
	}
}
