package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// doubtsLabels reports whether labels of the target's samples may be wrong: classes where sources are pools. (In a task
// the rows of all other classes are one class.)
func (p *Problem) doubtsLabels() bool { return p.Config.Sources == SourcesPools && p.Classifies() }

// negLogLik returns the negative log-likelihood of the classes of samples under logits z, times [regress.Groups.Evidence];
// samples without a label do not count. Where labels may be wrong, it is the one at the likeliest rate of wrong labels (see
// [regress.NoiseRate]).
func (p *Problem) negLogLik(of regress.Logits, z *mat.Dense, class []int, groups regress.Groups) float64 {
	var losses []float64
	for i, at := range class {
		if at != regress.NoLabel {
			losses = append(losses, of.Loss(slices.Clone(z.RawRowView(i)), at))
		}
	}
	evidence := labelledGroups(class, groups).Evidence()
	if !p.doubtsLabels() {
		return evidence * floats.Sum(losses)
	}
	_, c := z.Dims()
	_, sum := regress.NoiseRate(func(rate float64) [][]float64 {
		at := make([]float64, len(losses))
		for i, v := range losses {
			at[i] = regress.Noisy(v, rate, float64(c)+of.Rest)
		}
		return [][]float64{at}
	}, evidence)
	return sum
}

// labelledGroups returns the groups of the samples that have a class.
func labelledGroups(class []int, groups regress.Groups) regress.Groups {
	var labelled []int
	for i, at := range class {
		if at != regress.NoLabel {
			labelled = append(labelled, i)
		}
	}
	return groups.Some(labelled)
}
