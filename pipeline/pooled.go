package pipeline

import (
	"context"
	"slices"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// learnPooled carries out the round of the baseline Pooled. It fits one regression, with an intercept for each source, to the rows that
// uniform sampling draws from all sources and to the target's samples: for each output of the target, on the rows with labels of its
// column. A row whose source lacks the class of the output is of another class, if its own class is known. Numbers have a ridge regression,
// and classes a logistic one as well. A column of which the sources have fewer than two rows is predicted as by [Constant].
func (l *Learner) learnPooled(ctx context.Context, rec Epoch, in Round) (Epoch, error) {
	u, err := l.model.units()
	if err != nil {
		return rec, err
	}
	if err := l.queue.Fill(l.head, 0); err != nil {
		return rec, err
	}
	l.logOdds = false
	p, fit := l.problem, headFit{labels: slices.Clone(in.Target.Y)}
	columns := p.targetColumns()
	left := make([][]float64, len(columns)) // leave-one-out predictions of the squared-loss heads
	var alone []int
	for _, group := range p.columnGroups() {
		part, found, err := l.pooledPart(ctx, in, group, u, left)
		if err != nil {
			return rec, err
		}
		if found {
			fit.parts = append(fit.parts, part)
			continue
		}
		for _, c := range group {
			if part, err = l.constant(in.Target, c, left); err != nil {
				return rec, err
			}
			fit.parts = append(fit.parts, part)
		}
		alone = append(alone, group...)
	}
	if err := l.scorePooled(&fit, in.Target.Rows, u, left); err != nil {
		return rec, err
	}
	if err := l.finish(fit); err != nil {
		return rec, err
	}
	for _, part := range fit.parts {
		for j, c := range part.outputs {
			for i, v := range part.fits[j].odds {
				fit.left[c][i] = float32(v)
			}
		}
	}
	rec.record(fit)
	rec.Fit.Stop, rec.Nu = "no representation", make([]float64, len(rec.Counts))
	err = l.measure(&rec, in, fit)
	if l.logOdds && len(alone) > 0 {
		predicted := frequencies(in.Target, len(columns), p.groupsOf(in.Target.Rows))
		fit.left = slices.Clone(fit.left)
		for _, c := range alone {
			fit.left[c] = predicted[c]
		}
		rec.setLogLoss(fit, p, in.Target)
	}
	return rec, err
}

// pooledPart fits the outputs of a column, uploads their squared-loss heads and stores the leave-one-out predictions of these in left.
// found is false where the sources have fewer than two rows of the column.
func (l *Learner) pooledPart(ctx context.Context, in Round, group []int, u units, left [][]float64) (part fittedPart, found bool,
	err error) {
	squared, err := l.pooledSquared(ctx, in, group, u)
	if err != nil || squared == nil {
		return part, false, err
	}
	part = fittedPart{labelGroup{outputs: group}, make([]headFit, len(group))}
	for j, of := range squared.with[0] {
		if err := l.putHead(group[j], of.head); err != nil {
			return part, false, err
		}
		left[group[j]] = of.left
	}
	if !l.problem.Classifies() {
		return part, true, nil
	}
	classes, err := l.pooledClasses(ctx, in, group, u)
	if err != nil {
		return part, false, err
	}
	joint, level := classes.with[0], 0.0
	if a := l.problem.absentOf(in.Target, group); a != nil && l.problem.samplesChoose(in.Target, group) {
		joint = a.lower(joint, l.problem.Config.K)
	}
	if len(group) > 1 {
		heads := make([][]float64, len(group))
		for j, of := range joint {
			heads[j] = of.logits
		}
		level = regress.LevelOf(heads, in.Target.classes(group, len(left)))
	}
	for j, of := range joint {
		head, predicted := slices.Clone(of.head), make([]float64, len(of.left))
		head[l.problem.Config.K] += float32(level)
		for i := range predicted {
			predicted[i] = of.leftOut(i) + level
		}
		part.fits[j].classify(prediction{head: head, left: predicted})
	}
	return part, true, nil
}

// scorePooled converts the labels of fit, and the leave-one-out predictions in left, to the units of the data, and sets the predictions and
// losses of fit.
func (l *Learner) scorePooled(fit *headFit, rows []int32, u units, left [][]float64) (err error) {
	p := l.problem
	columns := p.targetColumns()
	for i, y := range fit.labels {
		fit.labels[i] = float32(u.labelOf(columns[i%len(columns)]) * float64(y))
	}
	counted := fit.labels
	if p.Classifies() {
		counted = p.seenLabels(fit.labels)
	}
	if fit.left, fit.Loss, err = l.inSamplePredictions(rows, counted); err != nil {
		return err
	}
	for c, column := range columns {
		for i, v := range left[c] {
			fit.left[c][i] = float32(u.labelOf(column) * v)
		}
	}
	fit.LeaveOneOut = p.leaveOneOut(fit.left, counted, p.groupsOf(rows))
	return nil
}

// constant fits the head of [Constant] to an output of the target and stores its predictions of the samples in left: of numbers each is
// left out, of classes it is not.
func (l *Learner) constant(in Labelled, output int, left [][]float64) (fittedPart, error) {
	part := labelGroup{outputs: []int{output}, Labelled: Labelled{Y: in.column(output, len(left))}}
	rows := in.labelled(output, len(left))
	if len(rows) == 0 {
		return fittedPart{}, nil
	}
	for _, i := range rows {
		part.Rows = append(part.Rows, in.Rows[i])
	}
	fits, err := l.constants(part)
	if err != nil {
		return fittedPart{}, err
	}
	left[output] = slices.Repeat(part.means(), len(in.Rows))
	for at, i := range rows {
		left[output][i] = float64(part.Y[at]) - fits[0].residuals[at]
	}
	if l.problem.Classifies() {
		fits[0].odds = slices.Repeat(fits[0].odds[:1], len(in.Rows))
	}
	return fittedPart{part, fits}, nil
}

// inSamplePredictions returns the predictions of the heads for the target's samples, by output, and the mean over outputs of their mean
// squared residual. Predictions and labels are in the units of the data, the residual in the labels' own units.
func (l *Learner) inSamplePredictions(rows []int32, labels []float32) ([][]float32, float64, error) {
	u, err := l.model.units()
	if err != nil {
		return nil, 0, err
	}
	predicted, err := l.predictions(rows, u)
	if err != nil {
		return nil, 0, err
	}
	columns := l.problem.targetColumns()
	all := squaredErrors(predicted, labels, func(c int) float64 { return u.labelOf(columns[c]) }, l.problem.groupsOf(rows))
	return predicted, all.mean(), nil
}

// columnGroups returns the outputs of the target, grouped by column.
func (p *Problem) columnGroups() [][]int {
	var groups [][]int
	at := map[int]int{}
	for c, column := range p.targetColumns() {
		if _, known := at[column]; !known {
			at[column] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[column]] = append(groups[at[column]], c)
	}
	return groups
}

// centred returns rows less the centre, n by d, divided by the s_j where each feature has its own.
func (p *Problem) centred(rows []poolRow, centre []float64, each []float32) []float64 {
	return lessCentre[float64](p, nil, rows, centre, each)
}

// lessCentre is [Problem.centred] in either precision. It uses the memory of out where that is large enough.
func lessCentre[E float32 | float64](p *Problem, out []E, rows []poolRow, centre []float64, each []float32) []E {
	d := len(centre)
	out, x := slices.Grow(out[:0], len(rows)*d)[:len(rows)*d], make([]float32, d)
	for i, r := range rows {
		p.readRow(r.pool, r.row, x)
		to, centre := out[i*d:][:len(x)], centre[:len(x)]
		if each == nil {
			for j, v := range x {
				to[j] = E(float64(v) - centre[j])
			}
			continue
		}
		for j, s := range each {
			to[j] = E((float64(x[j]) - centre[j]) / float64(s))
		}
	}
	return out
}
