package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// bendScales are the factors on the units of the features that knots add which are compared. With 1 these features of a
// column vary together a quarter as much as the column, with 8 a 256th.
var bendScales = []float64{1, 2, 4, 8}

// The rows that bendScale goes by: at most bendRows of a source, and of at most bendSources sources beside the target.
const (
	bendRows    = 100
	bendSources = 15
)

// bendable returns the number of features that knots add to a set, whose units are chosen by the labels, 0 where the
// scaling fixes their units.
func bendable(set *dataset.Set, scaling string) int {
	if set.Columns == nil || set.Pools[0].Height > 0 || scaling != "" && scaling != ScalingGlobal {
		return 0
	}
	return set.Columns.Knots.Count()
}

// bendFactors returns the factor on the unit of each feature, nil where there are none but 1.
func bendFactors(set shifted, sources []Source, in []Labelled, scaling string) []float64 {
	knots, d := bendable(set.set, scaling), set.set.Pools[0].Cols
	if knots == 0 {
		return nil
	}
	f := bendScale(set, sources, in, knots)
	return append(slices.Repeat([]float64{1}, d-knots), slices.Repeat([]float64{f}, knots)...)
}

// bendScale returns the factor on the units of the last features, which knots add, that the labels call for: effects
// that are nearly lines have a large one. For each f of bendScales it takes the likelihood of the labels of each source
// and output on their own, under a regression whose slopes have a normal prior of one variance in these units
// ([regress.Evidences]). The result is the geometric mean of bendScales, each weighted by 1/f times the product of these
// likelihoods, to the nearest power of two, so that the methods of a run mostly agree and share what they compute of the
// target's samples. The outputs of a source, which are of the same rows, count as one together. in holds the labelled
// rows of the sources, the target's last.
func bendScale(set shifted, sources []Source, in []Labelled, knots int) float64 {
	logs := make([]float64, len(bendScales))
	every := 1 + (len(in)-2)/bendSources
	for m, l := range in {
		if m%every != 0 && m != len(in)-1 {
			continue
		}
		outputs := len(sources[m].Tasks)
		for _, of := range l.byRows(outputs, bendRows) {
			x := set.rowsAt(sources[m].Pool, l.Rows, of.places)
			for k, v := range regress.Evidences(x, of.labels, knots, bendScales) {
				logs[k] += v / float64(outputs)
			}
		}
	}
	most, sum, mean := slices.Max(logs), 0.0, 0.0
	for k, v := range logs {
		w := math.Exp(v-most) / bendScales[k]
		sum, mean = sum+w, mean+w*math.Log2(bendScales[k])
	}
	return math.Exp2(math.Round(mean / sum))
}

// sameRows holds the labels, less their mean, of outputs that have labels of the same rows, which are at the given
// places among the drawn ones.
type sameRows struct {
	places []int
	labels [][]float64
}

// byRows returns the labels of the first rows, at most so many, of all outputs that have three labels or more which are
// not all equal.
func (l Labelled) byRows(outputs, most int) []sameRows {
	var out []sameRows
	for c := range outputs {
		var places []int
		var y []float64
		for i := range min(len(l.Rows), most) {
			if v := float64(l.Y[i*outputs+c]); v == v {
				places, y = append(places, i), append(y, v)
			}
		}
		floats.AddConst(-floats.Sum(y)/float64(max(1, len(y))), y)
		if len(y) < 3 || floats.Norm(y, 2) == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(of sameRows) bool { return slices.Equal(of.places, places) })
		if at < 0 {
			at, out = len(out), append(out, sameRows{places: places})
		}
		out[at].labels = append(out[at].labels, y)
	}
	return out
}

// rowsAt returns the features of the rows at the given places, less their mean.
func (s shifted) rowsAt(pool int, rows []int32, places []int) *mat.Dense {
	d := s.set.Pools[0].Cols
	x, row := mat.NewDense(len(places), d, nil), make([]float32, d)
	for i, at := range places {
		s.readRow(pool, int(rows[at]), row)
		to := x.RawRowView(i)
		for j, v := range row {
			to[j] = float64(v)
		}
	}
	linalg.Centre(x)
	return x
}
