package pipeline

import (
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

// leaveOneOut returns the mean squared leave-one-out residual in the units of the data. Over several numbers it is the geometric mean.
func (p *Problem) leaveOneOut(left [][]float32, labels []float32, groups regress.Groups) float64 {
	all := squaredErrors(left, labels, func(int) float64 { return 1 }, groups)
	return all.comparable(!p.Set.Binary)
}
