package pipeline

import (
	"math"

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

// squaredErrors returns the mean squared residual of the predictions of each output, with residuals in units of unit(output). labels are
// row after row; a missing label does not count.
func squaredErrors(pred [][]float32, labels []float32, unit func(output int) float64, groups regress.Groups) (all overOutputs) {
	for c, of := range pred {
		square := 0.0
		var labelled []int
		for i, v := range of {
			if e := (float64(v) - float64(labels[i*len(pred)+c])) / unit(c); e == e {
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
		unit = func(c int) float64 { return math.Sqrt(varianceOf(labels, len(left), c)) }
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
	for _, n := range counts {
		enough = enough || n >= dataset.FewestSamples
	}
	weights, columns, all := make([]float64, outputs), 0, 0
	for c, n := range counts {
		if n > 0 && (n >= dataset.FewestSamples || !enough) {
			weights[c], columns, all = 1/(float64(n)*varianceOf(labels, outputs, c)), columns+1, all+n
		}
	}
	floats.Scale(float64(all)/float64(columns), weights)
	return weights
}

// varianceOf returns the variance of the labels of an output, 1 where they are all the same.
func varianceOf(labels []float32, outputs, c int) float64 {
	var of []float64
	for i := c; i < len(labels); i += outputs {
		if v := float64(labels[i]); v == v {
			of = append(of, v)
		}
	}
	if v := stat.PopVariance(of, nil); v > 0 {
		return v
	}
	return 1
}
