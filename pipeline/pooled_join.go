package pipeline

import (
	"context"
	"math"
	"slices"
)

// joins says whether the classes of the target are told apart with the help of [Learner.join]:
// in the last round of a method, where some source has a class of the target. A network, which sees more than a
// regression can, has it with pools alone.
func (l *Learner) joins(in Round) bool {
	p := l.problem
	if p.Config.Representation == ClassConv && p.Config.Sources != SourcesPools {
		return false
	}
	return p.Classifies() && in.Epoch == p.RoundsOf(in.Method) && p.TooFew(in.Target) == "" && p.sameOutputs(l.counts) != nil
}

// joinParts are the parts of the log-odds that may be of the regression on all rows.
var joinParts = []float64{0.25, 0.5, 0.75, 1}

// adaptLeast is how many labelled samples for each class the regression beyond that on all rows takes: of fewer, what is left out says
// too much for it.
const adaptLeast = 20

// join makes the log-odds of the classes of a column
//
//	(1 - a) f + a g  or  (1 - a) f + a (g + h),
//
// f those of fit, g those of the logistic regression on the rows of all sources as those of one
// (see [pooledLogistic]), and h what the target's samples tell beyond g, a regression on the kernels of fit with g
// as its offset. It is that and the a of joinParts that make the labels of the samples likeliest, each
// left out of f, g and h, if they make them e times as likely as a = 0 does, and else f.
// Where sources are like the target g has the loss that classes call for and all rows for
// one head, where f has a head for each; h corrects it where they are not, given samples enough and a linear phi.
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
		labelled := make([][]int, len(group))
		for j, c := range group {
			labelled[j] = in.Target.labelled(c, outputs)
		}
		candidates := [][]prediction{pooled}
		if l.problem.Config.Representation == ClassLinear && len(labelled[0]) >= adaptLeast*max(2, len(group)) {
			adapted := make([]prediction, len(group))
			for j, c := range group {
				adapted[j] = of[c].adaptTo(pooled[j], labelled[j])
			}
			candidates = append(candidates, adapted)
		}
		at := func(with []prediction, a float64, j, row int) float64 {
			return (1-a)*float64(fit.left[group[j]][row]) + a*with[j].left[row]
		}
		logLoss := func(with []prediction, a float64) float64 {
			sum := 0.0
			for j, c := range group {
				for _, row := range labelled[j] {
					sum += logOfLabel(at(with, a, j, row), float64(in.Target.Y[row*outputs+c]))
				}
			}
			return sum
		}
		best, part, least := 0, 0.0, logLoss(pooled, 0)-1
		for c, with := range candidates {
			for _, a := range joinParts {
				if loss := logLoss(with, a); loss < least {
					best, part, least = c, a, loss
				}
			}
		}
		if i == 0 {
			fit.Pooled, fit.Adapted = part, best > 0
		}
		if part == 0 {
			continue
		}
		with := candidates[best]
		for j, c := range group {
			for row := range fit.left[c] {
				fit.left[c][row] = float32(at(with, part, j, row))
			}
			for k, v := range of[c].classifier {
				of[c].classifier[k] = float32((1-part)*float64(v) + part*float64(with[j].head[k]))
			}
		}
	}
	return nil
}

// adaptTo is log-odds g of all of the target's rows, those with a label at these places, with what these tell
// beyond it, and g itself where that is nothing.
func (f *headFit) adaptTo(g prediction, labelled []int) prediction {
	some := prediction{head: g.head}
	for _, row := range labelled {
		some.left = append(some.left, g.left[row])
	}
	found := f.adapt(some)
	if found == nil {
		return g
	}
	left := slices.Repeat([]float64{math.NaN()}, len(g.left))
	for i, row := range labelled {
		left[row] = found.left[i]
	}
	return prediction{found.head, left}
}
