package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// transferAgain computes [transfer.nu], up to rounding, for many heads and resamples of the target's n samples. With
// sample i counted c_i times, v_i = c_i (y_i - mean of y) has the mean 0, so that its covariance with any predictions f
// is f'v: one matrix product for all heads, or where all outputs that are compared are named, one sum for each pair.
type transferAgain struct {
	*transfer
	// present holds the distinct rows of 0 and 1 that say which samples have a label of an output; that of output c is
	// present[mask[c]].
	present  [][]float64
	mask     []int
	allNamed bool // all pairs that are compared are of the same column and class
	// f, T by n, holds predictions; v and y are C by n, with labels 0 where they are missing.
	f, v, covariance mat.Dense
	y                *mat.Dense
}

func (t *transfer) again() *transferAgain {
	n, _ := t.phi.Dims()
	a := &transferAgain{transfer: t, mask: make([]int, len(t.y)), allNamed: true, y: mat.NewDense(len(t.y), n, nil)}
	a.v.ReuseAs(len(t.y), n)
	for c, labels := range t.y {
		present := make([]float64, n)
		for i, y := range labels {
			if y == y {
				present[i] = 1
				a.y.Set(c, i, y)
			}
		}
		a.mask[c] = slices.IndexFunc(a.present, func(known []float64) bool { return slices.Equal(known, present) })
		if a.mask[c] < 0 {
			a.mask[c], a.present = len(a.present), append(a.present, present)
		}
	}
	for _, of := range t.named {
		for _, c := range t.outputs {
			a.allNamed = a.allNamed && of[c]
		}
	}
	return a
}

// nu returns the relevance of each source for heads W' (T by K or more), with sample i counted times[i] times.
func (a *transferAgain) nu(heads *mat.Dense, times []float64) []float64 {
	outputs, _ := heads.Dims()
	n, k := a.phi.Dims()
	a.f.Reset()
	a.f.Mul(heads.Slice(0, outputs, 0, k), a.phi.T())
	for t := range outputs { // centre, so that the sums of squares below are not differences of large numbers
		row := a.f.RawRowView(t)
		mean := 0.0
		for _, v := range row {
			mean += v / float64(n)
		}
		for i := range row {
			row[i] -= mean
		}
	}
	ofF := make([][]float64, len(a.present))
	for g, present := range a.present {
		ofF[g] = a.variation(present, times)
	}
	ofY := make([]float64, len(a.y.RawMatrix().Data)/n)
	for _, c := range a.outputs {
		ofY[c] = a.weigh(c, times)
	}
	if !a.allNamed {
		a.covariance.Reset()
		a.covariance.Mul(&a.f, a.v.T())
	}
	nu := make([]float64, len(a.compared))
	for m, compared := range a.compared {
		for _, c := range a.outputs {
			best := 0.0
			for _, o := range compared[c] {
				covariance := 0.0
				if a.allNamed {
					covariance = linalg.Dot(a.f.RawRowView(o), a.v.RawRowView(c))
				} else {
					covariance = a.covariance.At(o, c)
				}
				r := covariance / math.Sqrt(ofF[a.mask[c]][o]*ofY[c])
				if math.Abs(r) <= 1+1e-9 && (r > 0 || !a.transfer.named[m][c]) { // as in [correlation]
					best = math.Max(best, r*r)
				}
			}
			nu[m] += best / float64(len(a.outputs))
		}
	}
	return nu
}

// variation returns sum c_i (f_i - mean)^2, c being times, for each row of f over the samples that are present.
func (a *transferAgain) variation(present, times []float64) []float64 {
	weights, all := make([]float64, len(times)), 0.0
	for i, v := range times {
		weights[i] = v * present[i]
		all += weights[i]
	}
	out := make([]float64, a.f.RawMatrix().Rows)
	for t := range out {
		sum, square := 0.0, 0.0
		for i, f := range a.f.RawRowView(t) {
			sum += weights[i] * f
			square += weights[i] * f * f
		}
		out[t] = square - sum*sum/all
	}
	return out
}

// weigh writes v of output c, and returns sum c_i (y_i - mean)^2 over its labels, the c_i being times.
func (a *transferAgain) weigh(c int, times []float64) float64 {
	present, y, v := a.present[a.mask[c]], a.y.RawRowView(c), a.v.RawRowView(c)
	all, mean, square := 0.0, 0.0, 0.0
	for i := range y {
		v[i] = times[i] * present[i]
		all += v[i]
		mean += v[i] * y[i]
	}
	mean /= all
	for i := range y {
		d := y[i] - mean
		square += v[i] * d * d
		v[i] *= d
	}
	return square
}
