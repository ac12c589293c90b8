package pipeline

import (
	"math"
	"slices"
)

// ownNumbers returns the heads of [Target] for outputs that are numbers, fitted to the target's rows alone, with their leave-one-out
// predictions, as a base model of [Learner.mix]: where the sources say nothing, f has chosen among more fits than these.
func (l *Learner) ownNumbers(in Labelled, u units) ([]prediction, error) {
	outputs, heads := len(l.problem.Target.Tasks), l.ownHead()
	found := make([]prediction, outputs)
	for _, part := range in.parts(outputs) {
		if len(part.Rows) == 0 {
			continue
		}
		fits, err := heads(l.targetRows(part.Rows, u), nil, u, part)
		if err != nil {
			return nil, err
		}
		for i, c := range part.outputs {
			found[c] = fits[i].byRidge(fits[i].final, widened(part.column(i, len(fits))))
			of := found[c].left
			found[c].left = slices.Repeat([]float64{math.NaN()}, len(in.Rows))
			for at, row := range in.labelled(c, outputs) {
				found[c].left[row] = of[at]
			}
		}
	}
	return found, nil
}
