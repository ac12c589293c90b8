package pipeline

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// overOutputs is a mean over outputs: over those of which there are labels enough to tell something, where there are such, and else all.
type overOutputs struct {
	enough, few []float64
}

// add adds what an output with so many labels that are on their own has.
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

// comparable is the mean, or of several numbers the geometric mean, which the units of the outputs move for all methods alike.
func (o *overOutputs) comparable(numbers bool) float64 {
	if of := o.counted(); numbers && len(of) > 1 {
		return stat.GeometricMean(of, nil)
	}
	return o.mean()
}

// squaredErrors are the mean squared residuals of predictions, by output, each in a unit of its own. Labels are row after row.
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

// leaveOneOut is the mean square of what is left of labels by predictions without them, in the units of the data: of several numbers the
// geometric mean over these.
func (p *Problem) leaveOneOut(left [][]float32, labels []float32, groups regress.Groups) float64 {
	all := squaredErrors(left, labels, func(int) float64 { return 1 }, groups)
	return all.comparable(!p.Set.Binary)
}
