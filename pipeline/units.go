package pipeline

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/backend"
)

// units are the units in which features and labels are measured, so that results do not depend on the units of the
// data: the fit sees z_j = (x_j - mu_j) / (s s_j), and the labels of a column in units of their own spread. They come
// from the rows of a method's first round and stay for all its rounds.
type units struct {
	centre []float32 // mu, d numbers
	scale  float64   // s: its square is the mean variance of a feature; 1 where each has a spread of its own
	each   []float32 // s_j of each feature, nil for 1: its spread or, of those that are computed from others, what derivedScale gives
	label  []float64 // spread by column, 1 for labels of 0 and 1; nil for 1 throughout
}

// ofFeature returns s s_j of feature j.
func (u units) ofFeature(j int) float64 {
	if u.each != nil {
		return u.scale * float64(u.each[j])
	}
	return u.scale
}

// same reports whether both measure features alike.
func (u units) same(as units) bool {
	return u.scale == as.scale && slices.Equal(u.centre, as.centre) && slices.Equal(u.each, as.each)
}

// inverse returns 1/s_j of each feature, empty where all are 1.
func (u units) inverse() []float32 {
	v := make([]float32, len(u.each))
	for j, s := range u.each {
		v[j] = 1 / s
	}
	return v
}

// labelOf returns the unit of the labels of a column.
func (u units) labelOf(column int) float64 {
	if u.label == nil {
		return 1
	}
	return u.label[column]
}

// newUnits returns the units for the labelled rows of sources; columns holds the column of each of their outputs in turn. A spread of 0
// counts as 1. The spread of labels is about the mean of their output, and that of features as scaling says, which must not be ScalingAuto,
// with features that are computed from others as [derivedFactors] says. Rows less the centres of their pools have mu 0.
func newUnits(set shifted, sources []Source, columns []int, in []Labelled, scaling string) units {
	d := set.set.Pools[0].Cols
	sum, squares, n := make([]float64, d), make([]float64, d), 0
	for row := range rowsOf(set, sources, in) {
		sum, squares := sum[:len(row)], squares[:len(row)]
		for j, v := range row {
			sum[j] += float64(v)
			squares[j] += float64(v) * float64(v)
		}
		n++
	}
	u := units{centre: make([]float32, d), scale: 1, label: slices.Repeat([]float64{1}, slices.Max(columns)+1)}
	square := floats.Sum(squares) / float64(max(1, n))
	if n > 0 && set.centres == nil {
		for j, v := range sum {
			mean := v / float64(n)
			square -= mean * mean
			u.centre[j] = float32(mean)
		}
	}
	factors := derivedFactors(set, sources, in, scaling)
	if factors != nil {
		square = 0
		for j, f := range factors {
			rows, mean := float64(max(1, n)), 0.0
			if set.centres == nil {
				mean = sum[j] / rows
			}
			square += (squares[j]/rows - mean*mean) / (f * f)
		}
	}
	for _, f := range factors {
		u.each = append(u.each, float32(f))
	}
	switch s := math.Sqrt(square / float64(d)); {
	case scaling == ScalingFeature:
		u.each = featureScales(set, sources, in, u.centre)
	case scaling != ScalingNone && s > 0:
		u.scale = s
	}
	for c := range u.label {
		if s := spread(sources, in, func(at int) bool { return columns[at] == c }); s > 0 && !set.set.Binary {
			u.label[c] = s
		}
	}
	return u
}

// meanLabel returns the mean of labels, 0 if there are none.
func meanLabel(y []float32) float64 {
	sum := 0.0
	for _, v := range y {
		sum += float64(v)
	}
	return sum / float64(max(1, len(y)))
}

// fillMeans sets the mean of each output without labels to the mean over the other outputs of its column.
func fillMeans(means []float32, counts, columns []int) {
	sum, n := map[int]float64{}, map[int]int{}
	for i, mean := range means {
		if counts[i] > 0 {
			sum[columns[i]] += float64(mean)
			n[columns[i]]++
		}
	}
	for i, c := range columns[:len(means)] {
		if counts[i] == 0 && n[c] > 0 {
			means[i] = float32(sum[c] / float64(n[c]))
		}
	}
}

// A feature counts as constant, with s_j = 1, up to a spread of constantFeature times its mean, or that of a pool, which in float32
// is hardly more than rounding, or of leastSpread.
const (
	constantFeature = 1e-6
	leastSpread     = 1e-30
)

// featureScales returns the spread of each feature of labelled rows about centre, 1 for a constant feature.
func featureScales(set shifted, sources []Source, in []Labelled, centre []float32) []float32 {
	squares, n := make([]float64, len(centre)), 0
	for row := range rowsOf(set, sources, in) {
		for j, v := range row {
			e := float64(v) - float64(centre[j])
			squares[j] += e * e
		}
		n++
	}
	scales := make([]float32, len(centre))
	for j, v := range squares {
		scales[j] = set.scaleOf(j, math.Sqrt(v/float64(max(1, n))), float64(centre[j]))
	}
	return scales
}

// scaleOf returns the spread of feature j about a mean as its scale, 1 for a constant feature.
func (s shifted) scaleOf(j int, spread, mean float64) float32 {
	size := math.Abs(mean)
	for _, c := range s.centres {
		size = math.Max(size, math.Abs(float64(c[j])))
	}
	if !(spread > max(leastSpread, constantFeature*size)) {
		return 1
	}
	return float32(spread)
}

// featureScale returns the root mean square of the features of labelled rows, less centre where it is not nil.
func featureScale(set shifted, sources []Source, in []Labelled, centre []float32) float64 {
	square, n := 0.0, 0
	for row := range rowsOf(set, sources, in) {
		for j, v := range row {
			e := float64(v)
			if centre != nil {
				e -= float64(centre[j])
			}
			square += e * e
		}
		n += len(row)
	}
	return math.Sqrt(square / float64(max(1, n)))
}

// rowsOf yields the features of each labelled row in turn, always in the same slice.
func rowsOf(set shifted, sources []Source, in []Labelled) iter.Seq[[]float32] {
	return func(yield func([]float32) bool) {
		row := make([]float32, set.set.Pools[0].Cols)
		for i, l := range in {
			for _, r := range l.Rows {
				set.readRow(sources[i].Pool, int(r), row)
				if !yield(row) {
					return
				}
			}
		}
	}
}

// spread returns the root mean square of labels less the mean of their output, over the outputs for which of reports
// true. Outputs are numbered over all sources.
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

// in returns labelled rows with their labels, which belong to the given columns, in units u.
func (u units) in(l Labelled, columns []int) Labelled {
	y := make([]float32, len(l.Y))
	for i, v := range l.Y {
		y[i] = float32(float64(v) / u.labelOf(columns[i%len(columns)]))
	}
	return Labelled{l.Rows, y}
}

// values returns the units as they are stored among the parameters: mu, s or all s s_j, and the unit of each column of
// labels.
func (u units) values() []float32 {
	scales := []float32{float32(u.scale)}
	if u.each != nil {
		scales = make([]float32, len(u.each))
		for j, v := range u.each {
			scales[j] = float32(u.scale) * v
		}
	}
	v := slices.Concat(u.centre, scales)
	for _, s := range u.label {
		v = append(v, float32(s))
	}
	return v
}

// unitsAt reads back the values of units for rows of d features, with one s or d of them, as scales says. Where derived is
// set, s_j is 1 for the first feature, and powers of two times s, which are exact, are divided by s.
func unitsAt(b backend.Queue, at backend.Vector, d, scales int, derived bool) (units, error) {
	v := make([]float32, at.Len)
	err := backend.Get(b, v, at.Buf, at.Off)
	u := units{centre: v[:d], scale: float64(v[d])}
	if scales > 1 {
		u.each = v[d : d+scales]
		if !derived {
			u.scale = 1
		}
		for j := range u.each {
			u.each[j] /= float32(u.scale)
		}
	}
	for _, s := range v[d+scales:] {
		u.label = append(u.label, float64(s))
	}
	return u, err
}

// centre views mu.
func (l *linear) centre() backend.Vector { return section(l.all, l.theta.Len, l.d) }

// setUnits stores intercepts as b, and the units after the parameters.
func (l *linear) setUnits(u units, intercepts []float32) error {
	return backend.Put(l.b, l.all.Buf, l.intercepts(l.theta).Off, slices.Concat(intercepts, u.values()))
}

// units reads the units back. A model without intercepts takes rows and labels as they are.
func (l *linear) units() (units, error) {
	if !l.intercept {
		return units{scale: 1}, nil
	}
	return unitsAt(l.b, section(l.all, l.theta.Len, l.d+l.scales+l.columns), l.d, l.scales, l.derived)
}

// inUnits returns the round with its labels in the units of the fit, which the first round of a method sets and later
// rounds keep. Where the fit does not continue from the round before, it also stores the units and the mean labels as
// intercepts.
func (l *Learner) inUnits(in Round, first bool) (Round, error) {
	if !l.problem.Config.Intercept {
		return in, nil
	}
	u, err := l.model.units()
	if err != nil {
		return in, err
	}
	p := l.problem
	if first {
		u = newUnits(p.shifted(), append(slices.Clone(p.Sources), p.Target), p.columns, append(slices.Clone(in.Sources), in.Target),
			p.Config.Scaling)
	}
	in.Sources = slices.Clone(in.Sources)
	var means []float32
	for m, s := range in.Sources {
		outputs := len(p.Sources[m].Tasks)
		at := len(means)
		in.Sources[m] = u.in(s, p.columns[at:at+outputs])
		for c := range outputs {
			means = append(means, float32(meanLabel(in.Sources[m].column(c, outputs))))
		}
	}
	in.Target = u.in(in.Target, p.targetColumns())
	fillMeans(means, labelCounts(p.Sources, in.Sources), p.columns)
	if first || !l.problem.Config.warmStart() {
		err = l.model.setUnits(u, means)
	}
	return in, err
}

// fromOrigins returns labelled rows of the sources with the labels that the fit sees, less their origins.
func (l *Learner) fromOrigins(in []Labelled) ([]Labelled, error) {
	origins, err := l.model.origins()
	if err != nil || origins == nil {
		return in, err
	}
	out := make([]Labelled, len(in))
	for m, s := range l.problem.Sources {
		outputs := len(s.Tasks)
		y := slices.Clone(in[m].Y)
		for i := range y {
			y[i] -= origins[i%outputs]
		}
		out[m], origins = Labelled{in[m].Rows, y}, origins[outputs:]
	}
	return out, nil
}
