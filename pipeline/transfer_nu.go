package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// nu returns the relevance of each source for heads W' (T by K or more), with target sample i counted times[i] times, once
// where times is nil. With sample i counted c_i times, v_i = c_i (y_i - mean of y) has the mean 0, so that n times its
// covariance with any predictions f is f'v: one matrix product for all heads, or where all outputs that are compared are
// named, one sum for each pair.
func (t *transfer) nu(heads *mat.Dense, times []float64) []float64 {
	outputs, _ := heads.Dims()
	n, k := t.phi.Dims()
	if times == nil {
		times = slices.Repeat([]float64{1}, n)
	}
	t.predict(heads.Slice(0, outputs, 0, k))
	ofF, part := make([][]float64, len(t.present)), make([]float64, len(t.present)) // part of the labels that counts
	for g, present := range t.present {
		ofF[g], part[g] = t.variation(present, times), linalg.Dot(present, times)/floats.Sum(present)
	}
	ofY := make([]float64, len(t.mask))
	for _, c := range t.outputs {
		ofY[c] = t.weigh(c, times)
	}
	if !t.allNamed {
		t.covariance.Reset()
		t.covariance.Mul(&t.f, t.v.T())
	}
	nu := make([]float64, len(t.compared))
	for m, compared := range t.compared {
		for _, c := range t.outputs {
			best := 0.0
			for _, o := range compared[c] {
				covariance := 0.0
				if t.allNamed {
					covariance = linalg.Dot(t.f.RawRowView(o), t.v.RawRowView(c))
				} else {
					covariance = t.covariance.At(o, c)
				}
				square, most := covariance*covariance, ofF[t.mask[c]][o]*ofY[c]
				if covariance < 0 && t.named[m][c] || !(square <= most*(1+1e-9)) { // rounding alone can have any correlation
					continue
				}
				if t.byNoise != nil {
					square -= part[t.mask[c]] * part[t.mask[c]] * t.byNoise.At(o, c)
				}
				if square > 0 {
					best = math.Max(best, square/most)
				}
			}
			nu[m] += best / float64(len(t.outputs))
		}
	}
	return nu
}

// predict writes f, the predictions of heads, T by K, for the target's samples. They are less their means, so that sums of
// squares are not differences of large numbers.
func (t *transfer) predict(heads mat.Matrix) {
	t.f.Reset()
	t.f.Mul(heads, t.phi.T())
	linalg.EachRow(&t.f, func(f []float64) { floats.AddConst(-floats.Sum(f)/float64(len(f)), f) })
}

// variation returns sum c_i (f_i - mean)^2, c being times, for each row of f over the samples that are present.
func (t *transfer) variation(present, times []float64) []float64 {
	weights, all := make([]float64, len(times)), 0.0
	for i, v := range times {
		weights[i] = v * present[i]
		all += weights[i]
	}
	out := make([]float64, t.f.RawMatrix().Rows)
	for o := range out {
		sum, square := 0.0, 0.0
		for i, f := range t.f.RawRowView(o) {
			sum += weights[i] * f
			square += weights[i] * f * f
		}
		out[o] = square - sum*sum/all
	}
	return out
}

// weigh writes v of output c, and returns sum c_i (y_i - mean)^2 over its labels, the c_i being times.
func (t *transfer) weigh(c int, times []float64) float64 {
	present, y, v := t.present[t.mask[c]], t.y.RawRowView(c), t.v.RawRowView(c)
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
