package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// overOutputs computes a mean over the outputs with at least dataset.FewestSamples independent labels, or over all outputs if there are
// none.
type overOutputs struct {
	enough, few []float64
}

// add adds the value of an output with the given number of independent labels.
func (o *overOutputs) add(v float64, labels int) {
	if labels < dataset.FewestSamples {
		o.few = append(o.few, v)
	} else {
		o.enough = append(o.enough, v)
	}
}

func (o *overOutputs) counted() []float64 {
	if o.enough == nil {
		return o.few
	}
	return o.enough
}

func (o *overOutputs) mean() float64 {
	of := o.counted()
	return floats.Sum(of) / float64(max(1, len(of)))
}

// comparable returns the mean or, for several numbers, the geometric mean, which the units of the outputs change by the same factor for all
// methods.
func (o *overOutputs) comparable(numbers bool) float64 {
	if of := o.counted(); numbers && len(of) > 1 {
		return stat.GeometricMean(of, nil)
	}
	return o.mean()
}

// squaredErrors returns the mean squared residual of the predictions of each output, with residuals in units of
// unit(output), of which those of 0 do not count. labels are row after row; a missing label does not count.
func squaredErrors(pred [][]float32, labels []float32, unit func(output int) float64, groups regress.Groups) (all overOutputs) {
	for c, of := range pred {
		u, square := unit(c), 0.0
		if u == 0 {
			continue
		}
		var labelled []int
		for i, v := range of {
			if e := (float64(v) - float64(labels[i*len(pred)+c])) / u; e == e {
				square, labelled = square+e*e, append(labelled, i)
			}
		}
		if n := len(labelled); n > 0 {
			all.add(square/float64(n), groups.Some(labelled).Count())
		}
	}
	return all
}

// leaveOneOut returns the mean squared leave-one-out residual in the units of the data. In a set with several columns of numbers it is the
// geometric mean over the target's columns of these residuals divided by the variance of the labels.
func (p *Problem) leaveOneOut(left [][]float32, labels []float32, groups regress.Groups) float64 {
	unit := func(int) float64 { return 1 }
	if p.metric() == MetricRelative {
		variances := variancesOf(labels, len(left))
		unit = func(c int) float64 { return math.Sqrt(variances[c]) }
	}
	all := squaredErrors(left, labels, unit, groups)
	return all.comparable(!p.Set.Binary)
}

// metric returns the metric of predictions that are compared with labels.
func (p *Problem) metric() string {
	switch {
	case p.Set.Binary:
		return MetricError
	case countOutputs(p.Set) > 1:
		return MetricRelative
	}
	return MetricMSE
}

// lossWeights returns the weight of a squared residual of each output for [MetricRelative], which is then the mean over all labels. labels
// are row after row, NaN where there is none.
func lossWeights(labels []float32, outputs int) []float64 {
	counts, enough := make([]int, outputs), false
	for i, v := range labels {
		if v == v {
			counts[i%outputs]++
		}
	}
	variances := variancesOf(labels, outputs)
	for c, v := range variances {
		enough = enough || v > 0 && counts[c] >= dataset.FewestSamples
	}
	weights, columns, all := make([]float64, outputs), 0, 0
	for c, n := range counts {
		if variances[c] > 0 && (n >= dataset.FewestSamples || !enough) {
			weights[c], columns, all = 1/(float64(n)*variances[c]), columns+1, all+n
		}
	}
	floats.Scale(float64(all)/float64(columns), weights)
	return weights
}

// variancesOf returns the variance of the labels of each output, 0 where it has none or they are all the same: then it
// does not count. Where that is so for all outputs, it is 1 for those with labels.
func variancesOf(labels []float32, outputs int) []float64 {
	each := make([][]float64, outputs)
	for i, v := range labels {
		if v == v {
			each[i%outputs] = append(each[i%outputs], float64(v))
		}
	}
	variances := make([]float64, outputs)
	for c, of := range each {
		if len(of) > 0 && slices.Min(of) < slices.Max(of) {
			variances[c] = stat.PopVariance(of, nil)
		}
	}
	if floats.Max(variances) == 0 {
		for c, of := range each {
			variances[c] = float64(min(1, len(of)))
		}
	}
	return variances
}
