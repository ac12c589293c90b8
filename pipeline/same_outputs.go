package pipeline

import (
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// sameOutputs returns weights, T by C, by which the heads of the T outputs of the sources average to a mean head for
// each of the C outputs of the target, over the outputs of the same column and class. An output with n labels has a
// weight in proportion to n / (n + a), a being the mean of n over these outputs: outputs of which the rounds drew more
// count for more, up to the size at which sources differ by more than their noise. It returns nil where the data do not
// name the outputs, and where no source has an output of the target.
func (p *Problem) sameOutputs(labels []int) *mat.Dense {
	tasks := p.Set.Tasks
	weights, any := mat.NewDense(len(labels), len(p.Target.Tasks), nil), false
	for c, own := range p.Target.Tasks {
		var same []int
		sum, at := 0.0, 0
		for _, s := range p.Sources {
			for _, t := range s.Tasks {
				if labels[at] > 0 && tasks[t].Output != (dataset.Output{}) && tasks[t].Output == tasks[own].Output {
					same = append(same, at)
					sum += float64(labels[at])
				}
				at++
			}
		}
		total := 0.0
		for _, i := range same {
			n := float64(labels[i])
			weights.Set(i, c, n/(n+sum/float64(len(same))))
			total += weights.At(i, c)
		}
		if total > 0 {
			linalg.ScaleColumn(weights, c, 1/total)
			any = true
		}
	}
	if !any {
		return nil
	}
	return weights
}

// mean returns the weighted mean of heads W' (T by K+1) of the sources for each of the given outputs of the target, K+1
// by C (see [Problem.sameOutputs]); nil where no source has any of them.
func (p headPrior) mean(heads *mat.Dense, outputs []int) *mat.Dense {
	if p.same == nil {
		return nil
	}
	_, k := heads.Dims()
	mean := mat.NewDense(k, len(outputs), nil)
	for i, o := range outputs {
		mean.ColView(i).(*mat.VecDense).MulVec(heads.T(), p.same.ColView(o))
	}
	return mean
}
