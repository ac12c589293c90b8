package pipeline

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// stacks reports whether [Learner.stack] adds its base models to the target's predictor: in the last round of a method, where some source
// has a class of the target, or its number, or where the target has several classes. A network sees more than a regression can: it is
// helped only where sources are pools.
func (l *Learner) stacks(in Round) bool {
	p := l.problem
	if p.Config.Head.Prior != PriorResidual || p.Set.Binary && !p.Classifies() {
		return false
	}
	if p.Config.Representation == ClassConv && p.Config.Sources != SourcesPools {
		return false
	}
	return in.Epoch == p.RoundsOf(in.Method) &&
		(p.sameOutputs(l.counts) != nil || p.Classifies() && len(p.columnGroups()) < len(p.Target.Tasks))
}

// stackParts holds the parts a of a base model in the candidates of [Learner.mix].
var stackParts = []float64{0.25, 0.5, 0.75, 1}

// stack mixes the predictions of fit with those of its base models: one regression on the rows of all sources as if they were one source,
// without the target's samples and, but for numbers by a network, with them among its rows (see [Learner.pooledClasses],
// [Learner.pooledOnPhi] and [Learner.pooledSquared]); those on the rows of the most relevant sources and, for numbers, of each source alone
// (see [Learner.pooledRelevant]); and, for several classes and for numbers, those on the target's rows alone (see [Problem.ownClasses] and
// [Learner.ownNumbers]). Where sources are like the target, the first has all rows to fit one head to. For classes, all base models have
// the loss of classes that exclude each other, where fit has a head for each class.
func (l *Learner) stack(ctx context.Context, fit *headFit, in Round) error {
	u, err := l.model.units()
	if err != nil {
		return err
	}
	var first baseModels // of the first column
	alone := sync.OnceValues(func() ([]prediction, error) { return l.ownNumbers(in.Target, u) })
	fit.by.novel = func(target Labelled, group []int) bool {
		some := in
		some.Target = target
		sampled, novel := l.problem.countNovel(some, group)
		return l.problem.Config.Representation == ClassLinear && sampled > 1 && 2*novel >= sampled
	}
	all := l.baseModelsStacked(fit, in.Target, baseLearners{
		pooled: func(group []int) ([][]prediction, error) {
			of, err := l.pooledOf(ctx, in, group, u)
			if err != nil {
				return nil, err
			}
			fit.by.pooled = append(fit.by.pooled, pooledColumn{group: group, found: of})
			return of.baseModels(l.problem.Config.Representation), nil
		},
		novel: func(group []int) bool { return fit.by.novel(in.Target, group) },
		relevant: func(group []int) (_ [][]prediction, err error) {
			column := &fit.by.pooled[len(fit.by.pooled)-1] // the column whose pooled was found just before
			column.relevant, err = l.pooledRelevant(ctx, in, group, column.found, u)
			return column.relevant, err
		},
		own: func(group []int) ([][]prediction, error) {
			if l.problem.Classifies() {
				own, err := l.problem.ownClasses(ctx, l.targetRows(in.Target.Rows, u), in.Target, group, u)
				if err != nil || own == nil {
					return nil, err
				}
				spread, err := l.ownSpread(ctx, in, group, u)
				if spread != nil {
					fit.by.pooled[len(fit.by.pooled)-1].spread = spread // of the column whose pooled was found just before
					own = append(own, spread)
				}
				return own, err
			}
			of, err := alone()
			if err != nil {
				return nil, err
			}
			return [][]prediction{{of[group[0]]}}, nil
		},
	})
	weights, err := l.mix(fit, in.Target, u, func(group []int, of []*headFit) (baseModels, error) {
		model, err := all(group, of)
		if slices.Contains(l.problem.columnGroups()[0], group[0]) {
			first = model
		}
		return model, err
	})
	if err != nil {
		return err
	}
	fit.by.stack = l.baseModelsStacked
	if pooled := len(first.pooled); pooled > 0 {
		relevant := pooled + len(first.relevant)
		fit.Pooled, fit.Relevant = floats.Sum(weights[:pooled]), floats.Sum(weights[pooled:relevant])
		fit.Adapted = fit.Pooled - weights[0]
		weights = weights[relevant:]
	}
	if fit.Alone = floats.Sum(weights); len(first.own) > 1 {
		fit.Spread = weights[1]
		fit.Alone -= fit.Spread
	}
	for c, predicted := range fit.stated {
		if predicted == nil { // a column whose weights no sample chose
			fit.stated[c] = fit.left[c]
		}
	}
	if !l.problem.Classifies() {
		fit.LeaveOneOut = l.problem.leaveOneOut(fit.left, fit.labels, l.problem.groupsOf(in.Target.Rows))
	}
	return nil
}

// pooledColumn holds the regressions for one column that use rows of the sources.
type pooledColumn struct {
	group []int
	found *pooledFound
	// relevant holds the regressions on the rows of the most relevant sources, and spread the one of [Learner.ownSpread], or nil.
	relevant [][]prediction
	spread   []prediction
}

// baseLearners holds functions that find the base models of a column: from one regression on the rows of all sources, from those on the
// rows of the most relevant sources, and from those on the samples alone.
type baseLearners struct {
	pooled, relevant, own func(group []int) ([][]prediction, error)
	// novel reports whether at least half of the classes of the samples have no row in any source. A nil novel stands for false.
	novel func(group []int) bool
}

// baseModelsOf returns the base models of the outputs of a column. of holds the fit of each output of the target.
type baseModelsOf func(group []int, of []*headFit) (baseModels, error)

// baseModelsStacked returns the baseModelsOf that [Learner.stack] uses for fit, which was fitted to the samples in.
func (l *Learner) baseModelsStacked(fit *headFit, in Labelled, by baseLearners) baseModelsOf {
	return func(group []int, of []*headFit) (found baseModels, err error) {
		choose := l.problem.samplesChoose(in, group)
		if !choose && l.problem.Classifies() && l.problem.Config.Sources != SourcesPools {
			return found, nil
		}
		if found.pooled, err = by.pooled(group); err != nil {
			return found, err
		}
		if !choose && by.novel != nil && by.novel(group) {
			found.pooled = nil
			found.own, err = by.own(group)
			return found, err
		}
		if !choose && found.pooled != nil && l.contradicts(fit, in, group, found.pooled[withSamples(found.pooled)]) {
			return baseModels{}, nil
		}
		if choose && found.pooled != nil {
			if found.relevant, err = by.relevant(group); err != nil {
				return found, err
			}
		}
		alone := l.problem.Config.Representation == ClassLinear && choose
		switch {
		case !l.problem.Classifies():
			alone = alone && found.pooled != nil
		case len(group) < 2:
			alone = false
		case found.pooled != nil:
			fit.replaceScarce(l.problem, in, group, of, found.pooled[0])
		}
		if alone {
			found.own, err = by.own(group)
		}
		return found, err
	}
}

// baseModels holds the predictors g that can be mixed with f, each with a prediction for every output of a column.
type baseModels struct {
	pooled [][]prediction // on the rows of all sources: without the samples and, but for numbers by a network, with them
	// relevant holds those on the rows of the most relevant sources, and own those on the samples alone.
	relevant, own [][]prediction
}

func (h baseModels) all() [][]prediction { return slices.Concat(h.pooled, h.relevant, h.own) }

// mix replaces the predictions of the outputs of each column by a weighted mean of the candidates
//
//	(1 - a) f + a g
//
// over a = 0 and a in stackParts and over each base model g, of which there may be none; f are the predictions of fit. The weight of a
// candidate follows from the likelihood that it gives the labels of the samples, which are left out of f and g (see
// [Learner.stackWeights]); where the samples cannot choose, the weights are those of [Learner.undecidedWeights]. mix also adds the level.
// It overwrites the final heads and the leave-one-out predictions of fit, and returns the weights of the base models of the first column.
// For numbers it sets stated of fit, in which each sample is predicted with the weights of [Learner.stackWeightsByOthers].
func (l *Learner) mix(fit *headFit, target Labelled, u units, from baseModelsOf) (first []float64, err error) {
	columns := l.problem.targetColumns()
	of := make([]*headFit, len(columns))
	for _, part := range fit.parts {
		for i, c := range part.outputs {
			of[c] = &part.fits[i]
		}
	}
	groups := l.problem.groupsOf(target.Rows)
	for i, group := range l.problem.columnGroups() {
		group = slices.DeleteFunc(group, func(c int) bool { return of[c] == nil }) // without a label
		if len(group) == 0 {
			continue
		}
		found, err := from(group, of)
		if err != nil {
			return nil, err
		}
		choose := l.problem.samplesChoose(target, group)
		if choose && l.problem.Classifies() {
			found = l.lowerAbsent(target, group, found)
		}
		models := found.all()
		if len(models) == 0 {
			continue
		}
		label := 1.0
		if !l.problem.Classifies() {
			label = u.labelOf(columns[group[0]])
		}
		left := func(c, row int) float64 { return float64(fit.left[c][row]) / label }
		weights := l.undecidedWeights(groups.Some(target.labelled(group[0], len(columns))).Count(), found)
		if choose {
			weights = l.stackWeights(target, group, left, found)
		}
		if i == 0 {
			first = weights
		}
		heads := make([][]float64, len(group))
		for j, c := range group {
			sum := func(f float64, weights []float64, part func(prediction) float64) float64 {
				out := f
				for k, w := range weights {
					if w > 0 { // a base model without weight may be NaN or infinite
						out += w * (part(models[k][j]) - f)
					}
				}
				return out
			}
			leftOut := func(row int, weights []float64) float64 {
				return sum(left(c, row), weights, func(p prediction) float64 { return p.leftOut(row) })
			}
			heads[j] = make([]float64, len(fit.left[c]))
			for row := range heads[j] {
				heads[j][row] = leftOut(row, weights)
			}
			if choose && !l.problem.Classifies() {
				if fit.stated == nil {
					fit.stated = make([][]float32, len(columns))
				}
				for row, weights := range l.stackWeightsByOthers(target, c, left, found, weights) {
					fit.stated[c] = append(fit.stated[c], float32(label*leftOut(row, weights)))
				}
			}
			for k, v := range of[c].final {
				of[c].final[k] = float32(sum(float64(v), weights, func(p prediction) float64 { return float64(p.head[k]) }))
			}
		}
		level := 0.0
		if len(group) > 1 {
			level = regress.LevelOf(heads, target.classes(group, len(columns)))
		}
		for j, c := range group {
			of[c].final[l.problem.Config.K] += float32(level)
			for row, v := range heads[j] {
				fit.left[c][row] = float32(label * (v + level))
			}
		}
	}
	return first, nil
}

// undecidedWeights returns the weights of the base models where the samples of a column cannot choose between f and the base models.
// labelled is the number of independent samples with a label. For numbers, f and the g that has the samples as one row each count half: the
// squared error of a mean is no more than the mean of the squared errors. For a single number f is just that number, and with pools whose
// samples are all of one class, or all but one, f says just that the other classes do not occur: g counts alone, unless the samples
// contradict it. (With tasks f is better even then: it has the mean of the heads of their class.) Where at least half of the classes of the
// samples have no row in any source, g takes their samples to be of other classes, and the regression on the samples alone counts.
func (l *Learner) undecidedWeights(labelled int, found baseModels) []float64 {
	weights := make([]float64, len(found.all()))
	if len(found.pooled) == 0 {
		weights[len(weights)-1] = 1
		return weights
	}
	with := withSamples(found.pooled)
	weights[with] = 1
	if !l.problem.Classifies() && labelled > 1 {
		weights[with] = 0.5
	}
	return weights
}

// withSamples returns the index in base models of the g that has the samples as one row each; for numbers by a network, of the g without
// them.
func withSamples(models [][]prediction) int { return min(1, len(models)-1) }

// contradicts reports whether f makes the classes of a column, for left-out samples, more than e^4 times as likely as g does, as where a
// class that sources often have is rare in the target. f is then kept as it is.
func (l *Learner) contradicts(fit *headFit, in Labelled, group []int, g []prediction) bool {
	if !l.problem.Classifies() {
		return false
	}
	more, y := 0.0, in.of(group, len(l.problem.Target.Tasks))
	byF, byG := make([]float64, len(group)), make([]float64, len(group))
	for row := range in.Rows {
		for j, c := range group {
			byF[j], byG[j] = float64(fit.left[c][row]), g[j].left[row]
		}
		labels := y[row*len(group) : (row+1)*len(group)]
		more += regress.LogOfLabels(labels, byG, 0) - regress.LogOfLabels(labels, byF, 0)
	}
	return l.problem.groupsOf(in.Rows).Evidence()*more > 4
}

// pooledOf returns the regression g on the rows of all sources for a column, or nil without enough rows.
func (l *Learner) pooledOf(ctx context.Context, in Round, group []int, u units) (*pooledFound, error) {
	switch {
	case !l.problem.Classifies():
		return l.pooledSquared(ctx, in, group, u)
	case l.problem.Config.Representation != ClassLinear:
		return l.pooledOnPhi(ctx, in, group)
	}
	return l.pooledClasses(ctx, in, group, u)
}
