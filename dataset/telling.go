package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// tellingRows is the least number of rows of a class, and of the others, that a single feature does not separate by chance.
	tellingRows = 20
	// tellingFeatures is the largest number of columns that are looked at.
	tellingFeatures = 1000
	// tellingCorrelation is the squared correlation with a numeric label above which a feature is taken for the label, and leakCorrelation
	// the one above which it may be what is known of the label afterwards.
	tellingCorrelation = 0.9999
	leakCorrelation    = 0.98
)

// telling gathers how features relate to the labels of an output, over the rows of all pools.
type telling struct {
	output Output
	// features lists the features that may still tell the output, ascending
	features []int
	// of classes: the number of rows of the others (0) and of the class (1), and the range of each feature in them
	rows      [2]int
	low, high [2][]float32
	// of numbers: sums of the differences from the first row; before holds them as they were before the source that is read, and between
	// sums, over sources, n times the products of the source's means
	labelSums
	before, between labelSums
	firstY          float64
	firstX          []float64
	classes, primed bool
	opinions        opinions
}

// labelSums holds the number of rows n, and the sums over them of numbers y, of features x, and of their products.
type labelSums struct {
	n, y, yy  float64
	x, xx, xy []float64
}

func newLabelSums(cols int) labelSums {
	return labelSums{x: make([]float64, cols), xx: make([]float64, cols), xy: make([]float64, cols)}
}

// tellingOddities lists the features that tell a label alone: over all rows, those of a class lie on one side of all others, or numbers are
// the feature in another unit. Such a column is known after the label, or is the label. The same may hold for a two-valued feature that
// nearly equals a class, such as what somebody else says of it, and for a feature that numeric labels nearly equal.
func (s *Set) tellingOddities() []Oddity {
	alone, nearly := s.telling(true)
	return append(alone, nearly...)
}

func (s *Set) telling(opinions bool) (alone, nearly []Oddity) {
	cols := s.Pools[0].Cols
	if !s.featuresNamed() {
		return nil, nil
	}
	read := s.Columns.read()
	if read > tellingFeatures {
		return nil, nil
	}
	var all []*telling
	row := make([]float32, read)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		at := slices.IndexFunc(all, func(o *telling) bool { return o.output == t.Output })
		if at < 0 {
			at, all = len(all), append(all, newTelling(t.Output, read, s.Binary, opinions))
		}
		p, of := s.Pools[t.Pool], all[at]
		for r := range t.labelledRows {
			if len(of.features)+len(of.opinions) == 0 {
				break
			}
			for _, j := range of.features {
				row[j] = p.feature(int(r)*cols + j)
			}
			for i := range of.opinions {
				j := of.opinions[i].feature
				row[j] = p.feature(int(r)*cols + j)
			}
			of.add(row, t.Labels[r])
			of.opinions.add(row, t.Labels[r])
		}
		of.endSource()
	}
	ranks := s.rankCorrelations(read)
	const advice = "leave it out of columns: features unless new rows have it before they are labelled"
	for j := range read {
		what := func(o *telling) string { return strings.TrimRight("the label "+o.output.Name, " ") }
		if i := slices.IndexFunc(all, func(o *telling) bool { return o.tells(j) }); i >= 0 {
			alone = append(alone, Oddity{"", fmt.Sprintf("the feature %s tells %s alone", s.place(j), what(all[i])), advice})
		} else if i := slices.IndexFunc(all, func(o *telling) bool { return ranks.of(o.output.Name, j) > tellingCorrelation }); i >= 0 {
			alone = append(alone, Oddity{"", fmt.Sprintf("the order of rows by the feature %s is that by %s", s.place(j), what(all[i])), advice})
		} else if i := slices.IndexFunc(all, func(o *telling) bool { return o.opinions.of(j) != nil }); i >= 0 {
			class := ""
			if len(all) > 1 && all[i].output.Class != "" {
				class = ", whether it is " + text.OneLine(all[i].output.Class, 80) + ","
			}
			nearly = append(nearly, Oddity{"", fmt.Sprintf("the feature %s tells %s%s in %.3g %% of the rows", s.place(j), what(all[i]), class,
				math.Min(99.9, 100*all[i].opinions.of(j).agrees())), advice})
		} else if i := slices.IndexFunc(all, func(o *telling) bool { return opinions && o.squaredCorrelation(j) > leakCorrelation }); i >= 0 {
			nearly = append(nearly, Oddity{"", fmt.Sprintf("the feature %s has a squared correlation of %.3g with %s", s.place(j),
				math.Min(0.999, all[i].squaredCorrelation(j)), what(all[i])), advice})
		} else if i := slices.IndexFunc(all, func(o *telling) bool { return opinions && ranks.of(o.output.Name, j) > leakCorrelation }); i >= 0 {
			nearly = append(nearly, Oddity{"", fmt.Sprintf("the feature %s has a squared rank correlation of %.3g with %s", s.place(j),
				math.Min(0.999, ranks.of(all[i].output.Name, j)), what(all[i])), advice})
		}
	}
	return alone, nearly
}

func newTelling(o Output, cols int, classes, opinions bool) *telling {
	t := &telling{output: o, classes: classes, features: make([]int, cols)}
	for j := range t.features {
		t.features[j] = j
	}
	if classes {
		if opinions {
			t.opinions = newOpinions(cols)
		}
		for k := range t.low {
			t.low[k] = slices.Repeat([]float32{float32(math.Inf(1))}, cols)
			t.high[k] = slices.Repeat([]float32{float32(math.Inf(-1))}, cols)
		}
		return t
	}
	t.firstX = make([]float64, cols)
	t.labelSums, t.before, t.between = newLabelSums(cols), newLabelSums(cols), newLabelSums(cols)
	return t
}

// endSource must be called after the rows of each source: it adds the source whose rows were added last to between.
func (t *telling) endSource() {
	n, y := t.n-t.before.n, t.y-t.before.y
	if t.classes || n == 0 {
		return
	}
	t.between.yy += y * y / n
	for j := range t.x {
		x := t.x[j] - t.before.x[j]
		t.between.xx[j] += x * x / n
		t.between.xy[j] += x * y / n
	}
	t.before.n, t.before.y = t.n, t.y
	copy(t.before.x, t.x)
}

// add counts a row, of which only the features that may still tell the output are read.
func (t *telling) add(row []float32, label float32) {
	if t.classes {
		k := 0
		if label == 1 {
			k = 1
		}
		t.rows[k]++
		for _, j := range t.features {
			t.low[k][j], t.high[k][j] = min(t.low[k][j], row[j]), max(t.high[k][j], row[j])
		}
		if (t.rows[0]+t.rows[1])%tellingRows == 0 { // ranges that overlap never separate again
			t.features = slices.DeleteFunc(t.features, func(j int) bool { return !t.parted(j) })
		}
		return
	}
	if !t.primed {
		t.primed, t.firstY = true, float64(label)
		for j, v := range row {
			t.firstX[j] = float64(v)
		}
	}
	y := float64(label) - t.firstY
	t.n, t.y, t.yy = t.n+1, t.y+y, t.yy+y*y
	for j, v := range row {
		x := float64(v) - t.firstX[j]
		t.x[j], t.xx[j], t.xy[j] = t.x[j]+x, t.xx[j]+x*x, t.xy[j]+x*y
	}
}

// tells reports whether feature j tells the output alone.
func (t *telling) tells(j int) bool {
	if t.classes {
		return min(t.rows[0], t.rows[1]) >= tellingRows && t.parted(j)
	}
	if t.n < 2*tellingRows {
		return false
	}
	ofX, ofY, both := t.xx[j]-t.x[j]*t.x[j]/t.n, t.yy-t.y*t.y/t.n, t.xy[j]-t.x[j]*t.y/t.n
	return ofX > 0 && ofY > 0 && both*both > tellingCorrelation*ofX*ofY
}

// squaredCorrelation returns the squared correlation of feature j with numeric labels within sources, and 0 for classes and where chance
// may explain it. Differences between sources do not count: what is the same in all rows of a source, such as its size, goes with its
// labels.
func (t *telling) squaredCorrelation(j int) float64 {
	if t.classes || t.n < 2*tellingRows {
		return 0
	}
	ofX, ofY, both := t.xx[j]-t.between.xx[j], t.yy-t.between.yy, t.xy[j]-t.between.xy[j]
	const rounding = 1e-9
	if !(ofX > rounding*t.xx[j] && ofY > rounding*t.yy) {
		return 0
	}
	return both * both / ofX / ofY
}

// parted reports whether the ranges of a feature in the class and in the others are disjoint, as they are while one of the two has no row.
func (t *telling) parted(j int) bool { return t.high[0][j] < t.low[1][j] || t.high[1][j] < t.low[0][j] }
