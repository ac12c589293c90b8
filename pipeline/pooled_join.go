package pipeline

import (
	"context"
	"slices"
)

// joins says whether the classes of the target are told apart with the help of [Learner.join]:
// in the last round of a method, with sources that are pools.
func (p *Problem) joins(in Round) bool {
	return p.Classifies() && p.Config.Sources == SourcesPools && in.Epoch == p.RoundsOf(in.Method) && p.TooFew(in.Target) == ""
}

// joinParts are the parts of the log-odds that may be of the regression on all rows.
var joinParts = []float64{0.25, 0.5, 0.75, 1}

// join makes the log-odds of the classes of a column
//
//	(1 - a) f + a g
//
// f those of fit and g those of the logistic regression on the rows of all sources as those of one
// (see [pooledLogistic]), with the a of joinParts that makes the labels of the target's samples likeliest, each
// left out of both, if it makes them e times as likely as a = 0 does, and else with that.
// Where sources are like the target g has the loss that classes call for and all rows for
// one head, where f has a head for each.
func (l *Learner) join(ctx context.Context, fit *headFit, in Round) error {
	u, err := l.model.units()
	if err != nil {
		return err
	}
	outputs := len(l.problem.Target.Tasks)
	of := make([]*headFit, outputs)
	for _, part := range fit.parts {
		for i, c := range part.outputs {
			of[c] = &part.fits[i]
		}
	}
	for i, group := range l.problem.columnGroups() {
		group = slices.DeleteFunc(group, func(c int) bool { return of[c] == nil }) // without a label
		if len(group) == 0 {
			continue
		}
		pooled, err := l.pooledClasses(ctx, in, group, u)
		if err != nil {
			return err
		}
		if pooled == nil {
			continue
		}
		at := func(a float64, j, row int) float64 {
			return (1-a)*float64(fit.left[group[j]][row]) + a*pooled[j].left[row]
		}
		logLoss := func(a float64) float64 {
			sum := 0.0
			for j, c := range group {
				for row := range in.Target.Rows {
					if y := in.Target.Y[row*outputs+c]; y == y {
						sum += logOfLabel(at(a, j, row), float64(y))
					}
				}
			}
			return sum
		}
		best, least := 0.0, logLoss(0)-1
		for _, a := range joinParts {
			if loss := logLoss(a); loss < least {
				best, least = a, loss
			}
		}
		if i == 0 {
			fit.Pooled = best
		}
		if best == 0 {
			continue
		}
		for j, c := range group {
			for row := range fit.left[c] {
				fit.left[c][row] = float32(at(best, j, row))
			}
			for k, v := range of[c].classifier {
				of[c].classifier[k] = float32((1-best)*float64(v) + best*float64(pooled[j].head[k]))
			}
		}
	}
	return nil
}
