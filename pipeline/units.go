package pipeline

import (
	"math"
	"slices"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// units are what features and labels are measured in, so that results do not
// depend on the units that the data come in: the fit sees z = (x - mu) / s, with
// one s for all features, and the labels of a column in units of their own spread.
// Both come from the rows of a method's first round and stay for all its rounds.
type units struct {
	centre []float32 // mu, d numbers
	scale  float64   // s: its square is the mean variance of a feature
	label  []float64 // by column, 1 for labels of 0 and 1; nil for 1
}

// labelOf is the unit of the labels of a column.
func (u units) labelOf(column int) float64 {
	if u.label == nil {
		return 1
	}
	return u.label[column]
}

// newUnits measures the labelled rows of sources, whose outputs one after the other
// are of these columns. A spread of nothing counts as 1. Labels are measured against
// the mean of their output.
func newUnits(set *dataset.Set, sources []Source, columns []int, in []Labelled) units {
	d := set.Pools[0].Cols
	sum, row := make([]float64, d), make([]float32, d)
	square, n := 0.0, 0
	for i, l := range in {
		pool := set.Pools[sources[i].Pool]
		for _, r := range l.Rows {
			readRow(pool, int(r), row)
			for j, v := range row {
				sum[j] += float64(v)
				square += float64(v) * float64(v)
			}
		}
		n += len(l.Rows)
	}
	u := units{centre: make([]float32, d), scale: 1, label: slices.Repeat([]float64{1}, slices.Max(columns)+1)}
	if n == 0 {
		return u
	}
	square /= float64(n)
	for j, v := range sum {
		mean := v / float64(n)
		square -= mean * mean
		u.centre[j] = float32(mean)
	}
	if s := math.Sqrt(square / float64(d)); s > 0 {
		u.scale = s
	}
	for c := range u.label {
		if s := spread(sources, in, func(at int) bool { return columns[at] == c }); s > 0 && !set.Binary {
			u.label[c] = s
		}
	}
	return u
}

// meanLabel is the mean of labels, 0 of none.
func meanLabel(y []float32) float64 {
	sum := 0.0
	for _, v := range y {
		sum += float64(v)
	}
	return sum / float64(max(1, len(y)))
}

// featureScale is the root mean square of the features of labelled rows.
func featureScale(set *dataset.Set, sources []Source, in []Labelled) float64 {
	row, square, n := make([]float32, set.Pools[0].Cols), 0.0, 0
	for i, l := range in {
		for _, r := range l.Rows {
			readRow(set.Pools[sources[i].Pool], int(r), row)
			for _, v := range row {
				square += float64(v) * float64(v)
			}
		}
		n += len(l.Rows) * len(row)
	}
	return math.Sqrt(square / float64(max(1, n)))
}

// spread is the root mean square of labels less the mean of their output, over the
// outputs that of says, counted over all sources.
func spread(sources []Source, in []Labelled, of func(output int) bool) float64 {
	sum, n, at := 0.0, 0, 0
	for m, l := range in {
		outputs := len(sources[m].Tasks)
		for c := range outputs {
			if at++; !of(at - 1) {
				continue
			}
			labels := l.column(c, outputs)
			mean := meanLabel(labels)
			for _, y := range labels {
				sum += (float64(y) - mean) * (float64(y) - mean)
			}
			n += len(labels)
		}
	}
	return math.Sqrt(sum / float64(max(1, n)))
}

// readRow writes the features of row i of a pool to dst.
func readRow(p *dataset.Pool, i int, dst []float32) {
	lo, hi := i*p.Cols, (i+1)*p.Cols
	switch {
	case p.U8 != nil:
		for j, v := range p.U8[lo:hi] {
			dst[j] = p.Scale * float32(v)
		}
	case p.F16 != nil:
		for j, v := range p.F16[lo:hi] {
			dst[j] = p.Scale * float16.Frombits(v).Float32()
		}
	default:
		for j, v := range p.F32[lo:hi] {
			dst[j] = p.Scale * v
		}
	}
}

// in returns labelled rows with their labels, of these columns, in these units.
func (u units) in(l Labelled, columns []int) Labelled {
	y := make([]float32, len(l.Y))
	for i, v := range l.Y {
		y[i] = float32(float64(v) / u.labelOf(columns[i%len(columns)]))
	}
	return Labelled{l.Rows, y}
}

// values are the units as parameters keep them: mu, s, and the unit of each column of
// labels.
func (u units) values() []float32 {
	v := append(slices.Clone(u.centre), float32(u.scale))
	for _, s := range u.label {
		v = append(v, float32(s))
	}
	return v
}

// unitsAt reads values of rows of d features back.
func unitsAt(b backend.Queue, at backend.Vector, d int) (units, error) {
	v := make([]float32, at.Len)
	err := backend.Get(b, v, at.Buf, at.Off)
	u := units{centre: v[:d], scale: float64(v[d])}
	for _, s := range v[d+1:] {
		u.label = append(u.label, float64(s))
	}
	return u, err
}

// centre views mu.
func (l *linear) centre() backend.Vector { return section(l.all, l.theta.Len, l.d) }

// setUnits keeps the units behind the parameters and sets b.
func (l *linear) setUnits(u units, intercepts []float32) error {
	return backend.Put(l.b, l.all.Buf, l.intercepts(l.theta).Off, slices.Concat(intercepts, u.values()))
}

// units reads them back. A model without intercepts takes rows and labels as they
// are.
func (l *linear) units() (units, error) {
	if !l.intercept {
		return units{scale: 1}, nil
	}
	return unitsAt(l.b, section(l.all, l.theta.Len, l.d+1+l.columns), l.d)
}
