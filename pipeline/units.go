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
// one s for all features, and labels in units of their own spread. Both come
// from the rows of a method's first round and stay for all its rounds.
type units struct {
	centre []float32 // mu, d numbers
	scale  float64   // s: its square is the mean variance of a feature
	label  float64   // 1 for labels of 0 and 1
}

// newUnits measures the labelled rows of tasks. A spread of nothing counts as 1.
// Labels are measured against the mean of their task.
func newUnits(set *dataset.Set, tasks []int, in []Labelled) units {
	d := set.Pools[0].Cols
	sum, row := make([]float64, d), make([]float32, d)
	square, n, spread := 0.0, 0, 0.0
	for i, l := range in {
		pool := set.Pools[set.Tasks[tasks[i]].Pool]
		for _, r := range l.Rows {
			readRow(pool, int(r), row)
			for j, v := range row {
				sum[j] += float64(v)
				square += float64(v) * float64(v)
			}
		}
		n += len(l.Rows)
		mean := meanLabel(l.Y)
		for _, y := range l.Y {
			spread += (float64(y) - mean) * (float64(y) - mean)
		}
	}
	u := units{centre: make([]float32, d), scale: 1, label: 1}
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
	if s := math.Sqrt(spread / float64(n)); s > 0 && !set.Binary {
		u.label = s
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
func featureScale(set *dataset.Set, tasks []int, in []Labelled) float64 {
	row, square, n := make([]float32, set.Pools[0].Cols), 0.0, 0
	for i, l := range in {
		for _, r := range l.Rows {
			readRow(set.Pools[set.Tasks[tasks[i]].Pool], int(r), row)
			for _, v := range row {
				square += float64(v) * float64(v)
			}
		}
		n += len(l.Rows) * len(row)
	}
	return math.Sqrt(square / float64(max(1, n)))
}

// spread is the root mean square of labels less the mean of their source.
func spread(in []Labelled) float64 {
	sum, n := 0.0, 0
	for _, l := range in {
		mean := meanLabel(l.Y)
		for _, y := range l.Y {
			sum += (float64(y) - mean) * (float64(y) - mean)
		}
		n += len(l.Y)
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

// in returns labelled rows with their labels in these units.
func (u units) in(l Labelled) Labelled {
	if u.label == 1 {
		return l
	}
	y := make([]float32, len(l.Y))
	for i, v := range l.Y {
		y[i] = float32(float64(v) / u.label)
	}
	return Labelled{l.Rows, y}
}

// centre views mu.
func (l *linear) centre() backend.Vector { return section(l.all, l.theta.Len, l.d) }

// setUnits keeps the units behind the parameters and sets b.
func (l *linear) setUnits(u units, intercepts []float32) error {
	v := slices.Concat(intercepts, u.centre, []float32{float32(u.scale), float32(u.label)})
	return backend.Put(l.b, l.all.Buf, l.intercepts(l.theta).Off, v)
}

// units reads them back. A model without intercepts takes rows and labels as they
// are.
func (l *linear) units() (units, error) {
	u := units{scale: 1, label: 1}
	if !l.intercept {
		return u, nil
	}
	v := make([]float32, l.d+2)
	err := backend.Get(l.b, v, l.all.Buf, l.all.Off+l.theta.Len)
	u.centre, u.scale, u.label = v[:l.d], float64(v[l.d]), float64(v[l.d+1])
	return u, err
}
