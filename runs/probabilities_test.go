package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// slowProbabilities computes the losses of the rows p with labels from their definitions, and the area by all pairs.
func slowProbabilities(p [][]float32, labels []int, classes int) *Probabilities {
	shares, n := make([]float64, classes), float64(len(p))
	for _, y := range labels {
		shares[y] += 1 / n
	}
	out, scale := &Probabilities{}, 1.0
	if classes == 2 {
		scale = 0.5 // both classes miss by the same
	}
	larger, pairs := map[[2]int]float64{}, map[[2]int]float64{}
	for i, y := range labels {
		out.LogLoss -= math.Log(float64(p[i][y])) / n
		out.ConstantLogLoss -= math.Log(shares[y]) / n
		for k := range classes {
			is := float64(b2i(k == y))
			out.Brier += scale * math.Pow(float64(p[i][k])-is, 2) / n
			out.ConstantBrier += scale * math.Pow(shares[k]-is, 2) / n
		}
		for j, z := range labels {
			if y != z {
				pairs[[2]int{y, z}]++
				larger[[2]int{y, z}] += float64(b2i(p[j][z] > p[i][z])) + 0.5*float64(b2i(p[j][z] == p[i][z]))
			}
		}
	}
	sum, seen := 0.0, 0
	for y := range classes {
		for z := range classes {
			if n := pairs[[2]int{y, z}]; n > 0 && (classes > 2 || z == 1) {
				sum, seen = sum+larger[[2]int{y, z}]/n, seen+1
			}
		}
	}
	if seen > 0 {
		out.AUC = new(sum / float64(seen))
	}
	return out
}

// sameProbabilities compares losses and areas.
func sameProbabilities(t *testing.T, name string, got, want *Probabilities, tolerance float64) {
	t.Helper()
	same := got != nil && want != nil && (got.AUC == nil) == (want.AUC == nil) && (got.AUC == nil || near(*got.AUC, *want.AUC, tolerance))
	for _, of := range []func(p *Probabilities) float64{
		func(p *Probabilities) float64 { return p.LogLoss }, func(p *Probabilities) float64 { return p.ConstantLogLoss },
		func(p *Probabilities) float64 { return p.Brier }, func(p *Probabilities) float64 { return p.ConstantBrier },
	} {
		same = same && near(of(got), of(want), tolerance)
	}
	must.Hold(t, same, "%s: %+v, expected %+v", name, got, want)
}

// The losses and the area are those of the definitions, with and without equal probabilities, and where all rows are of one class.
func TestProbabilities(t *testing.T) {
	rng := testrand.New(t)
	for _, rows := range []int{1, 2, 3, 40, 300} {
		for _, classes := range []int{2, 3, 5} {
			for _, steps := range []float64{2, 5, 1 << 20} {
				s := newProbabilitySums(classes)
				var all [][]float32
				var labels []int
				for range rows {
					p, sum := make([]float64, classes), 0.0
					for k := range p {
						p[k] = math.Ceil(steps * rng.Float64())
						sum += p[k]
					}
					var narrow []float32
					for _, v := range p {
						narrow = append(narrow, float32(v/sum))
					}
					all, labels = append(all, narrow), append(labels, rng.IntN(classes))
					s.add(labels[len(labels)-1], narrow)
				}
				got := s.finish()
				sameProbabilities(t, fmt.Sprint(rows, classes, steps), got, slowProbabilities(all, labels, classes), 1e-6)
				must.Hold(t, (len(got.Bins) > 0) == (classes == 2), "%d classes have %d bins", classes, len(got.Bins))
			}
		}
	}
}

// The area is that below the curve of gonum.
func TestAreaUnderROC(t *testing.T) {
	rng := testrand.New(t)
	var of [2][]float32
	var p []float64
	var is []bool
	for range 500 {
		yes := rng.IntN(8) == 0
		v := float32(math.Round(20*(rng.Float64()+0.3*float64(b2i(yes))))) / 26
		of[b2i(yes)] = append(of[b2i(yes)], v)
		p, is = append(p, float64(v)), append(is, yes)
	}
	stat.SortWeightedLabeled(p, is, nil)
	tpr, fpr, _ := stat.ROC(nil, p, is, nil)
	slices.Sort(of[0])
	slices.Sort(of[1])
	got, want := areaUnderROC(of[0], of[1]), integrate.Trapezoidal(fpr, tpr)
	must.Hold(t, near(got, want, 1e-12), "%g, gonum has %g", got, want)
	must.Equal(t, areaUnderROC([]float32{0.1, 0.2}, []float32{0.3}), 1, "all larger")
	must.Equal(t, areaUnderROC([]float32{0.2, 0.2}, []float32{0.2}), 0.5, "all equal")
}

// Bins hold all rows in the order of their probabilities, about equally many, and rows of equal probability are in one. Means and shares
// are those of the rows between the ends.
func TestProbabilityBins(t *testing.T) {
	rng := testrand.New(t)
	for _, n := range []int{1, 4, 5, 23, 50, 61, 1000} {
		for _, steps := range []int{1, 3, 12, n} {
			var of [2][]float32
			for _, i := range rng.Perm(n) {
				p := float32(i%steps+1) / float32(steps)
				k := rng.IntN(2)
				of[k] = append(of[k], p)
			}
			slices.Sort(of[0])
			slices.Sort(of[1])
			bins, last, rows := probabilityBins(of[0], of[1]), -1.0, 0
			for _, b := range bins {
				sum, counts := 0.0, [2]int{}
				for k, values := range of {
					for _, p := range values {
						if p := float64(p); p >= b.From && p <= b.To {
							sum += p
							counts[k]++
						}
					}
				}
				all := counts[0] + counts[1]
				must.Hold(t, b.From > last && b.To >= b.From && b.Rows == all && near(b.Probability, sum/float64(all), 1e-9) &&
					near(b.Share, float64(counts[1])/float64(all), 1e-12), "%d rows, %d steps: %+v after %g has %v rows", n, steps, b, last, counts)
				last, rows = b.To, rows+b.Rows
			}
			parts := max(1, min(10, n/5))
			must.Equal(t, rows, n, "rows of %d", n)
			must.Hold(t, len(bins) <= parts, "%d bins of %d rows", len(bins), n)
			if steps == n {
				must.Equal(t, len(bins), parts, "bins of %d rows", n)
				for _, b := range bins {
					must.Hold(t, b.Rows >= n/parts && b.Rows <= n/parts+1, "%d rows in one of %d bins of %d", b.Rows, parts, n)
				}
			}
		}
	}
	must.EqualSlices(t, probabilityBins([]float32{0.25, 0.25, 0.25, 0.25}, []float32{0.25, 0.25, 0.25, 0.25, 0.25, 0.25}),
		[]ProbabilityBin{{0.25, 0.25, 10, 0.25, 0.6}}, "bins of a constant")
}

// A label whose probability is 0 has a finite loss. Rows of a class that the model does not know are left out, and without others, or with
// a probability that is NaN, there is nothing to say.
func TestProbabilitiesAtTheEdge(t *testing.T) {
	of := func(truths []int, p []float32) *Evaluation {
		e := newEvaluation(OutputColumn{Classes: []string{"no", "yes"}})
		e.weighProbabilities()
		for _, truth := range truths {
			e.addClass(truth, 0, p)
		}
		e.finish()
		return e
	}
	e := of([]int{0, 1, -1, -1}, []float32{1, 0})
	must.Hold(t, near(e.LogLoss, 26*math.Ln2, 1e-12) && e.Brier == 0.5 && *e.AUC == 0.5, "%+v", e.Probabilities)
	must.Hold(t, near(e.ConstantLogLoss, math.Ln2, 1e-12) && e.ConstantBrier == 0.25 && *e.Error == 0.75, "%+v", e.Probabilities)
	e = of([]int{0, 0}, []float32{0.75, 0.25})
	must.Hold(t, e.AUC == nil && e.ConstantLogLoss == 0 && e.ConstantBrier == 0, "%+v", e.Probabilities)
	must.EqualSlices(t, e.Bins, []ProbabilityBin{{0.25, 0.25, 2, 0.25, 0}}, "bins of one class")
	must.Hold(t, of([]int{-1}, []float32{1, 0}).Probabilities == nil, "probabilities of no class")
	nan := float32(math.NaN())
	must.Hold(t, of([]int{0, 1}, []float32{nan, nan}).Probabilities == nil, "probabilities that are NaN")
}

// writtenProbabilities computes losses and area of the scores of two classes in a file, for the test rows of a task.
func writtenProbabilities(t *testing.T, out [][]string, task *dataset.Task) *Probabilities {
	t.Helper()
	var p [][]float32
	var labels []int
	must.EqualSlices(t, out[0], []string{"id", "label", "score_0", "score_1"}, "columns")
	for i, row := range task.Test {
		no, yes := must.Get(strconv.ParseFloat(out[i+1][2], 32))(t), must.Get(strconv.ParseFloat(out[i+1][3], 32))(t)
		p, labels = append(p, []float32{float32(no), float32(yes)}), append(labels, int(task.Labels[row]))
	}
	return slowProbabilities(p, labels, 2)
}
