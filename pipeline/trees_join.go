package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// leastTreePart is the least part of trees in the predictions of a column: less is not worth their file.
const leastTreePart = 0.05

// joinsTrees reports whether [Learner.joinTrees] adds trees to the target's predictor: in the last round of a method, where
// [Trees] is among the methods.
func (l *Learner) joinsTrees(in Round) bool {
	p := l.problem
	return slices.Contains(p.Config.Methods, Trees) && in.Epoch == p.RoundsOf(in.Method) && p.Config.Head.Prior == PriorResidual &&
		(p.Classifies() || !p.Set.Binary)
}

// joinedTrees holds the predictions of trees for the target's samples, by output and sample, and the part that they have in
// those of the predictor. The part in the prediction of a sample is chosen by the other folds.
type joinedTrees struct {
	left, parts [][]float32
}

// joinTrees replaces the predictions f of the target's predictor for the outputs of each column by
//
//	(1 - a) f + a g
//
// where g are those of trees on the rows of the round, whose labels are in the units of the data. a is the mean over 0 and
// joinParts by the likelihood of the samples, each left out of f, and of g with its fold, where 0 is at first as likely as
// joinParts together (see [Learner.treePart]). It sets the trees of the learner and overwrites the leave-one-out and nested
// predictions of fit.
func (l *Learner) joinTrees(ctx context.Context, rec *Epoch, in Round, fit *headFit) error {
	found, err := l.fitTrees(ctx, in)
	if err != nil {
		return err
	}
	p, out := l.problem, &joinedTrees{left: found.left, parts: make([][]float32, len(fit.left))}
	parts := make([]float32, len(fit.left))
	for _, group := range p.columnGroups() {
		part, ofFold := l.treePart(in.Target, group, fit.left, found, -1), make([]float32, slices.Max(found.fold)+1)
		rec.HeadTrees = append(rec.HeadTrees, float64(part))
		for f := range ofFold {
			ofFold[f] = l.treePart(in.Target, group, fit.left, found, f)
		}
		for _, c := range group {
			parts[c], out.parts[c] = part, make([]float32, len(found.fold))
			for i, f := range found.fold {
				out.parts[c][i] = ofFold[f]
			}
		}
	}
	if slices.Max(parts) > 0 {
		l.forest, l.treeParts = found.forest, parts
	} else {
		rec.HeadTrees = nil
	}
	fit.left = out.joined(fit.left)
	if fit.stated != nil {
		fit.stated = out.joined(fit.stated)
	}
	if !p.Classifies() {
		fit.LeaveOneOut = p.leaveOneOut(fit.left, fit.labels, p.groupsOf(in.Target.Rows))
		rec.LeaveOneOut = fit.LeaveOneOut
	}
	return nil
}

// joined returns predictions of the samples, by output and sample, with the part of trees.
func (t *joinedTrees) joined(said [][]float32) [][]float32 {
	out := make([][]float32, len(said))
	for c, of := range said {
		out[c] = slices.Clone(of)
		for i, v := range of {
			if tree := t.left[c][i]; tree == tree {
				out[c][i] = v + t.parts[c][i]*(tree-v)
			}
		}
	}
	return out
}

// treePart returns the part of trees in the predictions of a column that the samples outside of a fold choose, of all samples
// where fold is -1. left holds the leave-one-out predictions that trees are added to. The part is 0 where the samples cannot
// tell, no tree has a split, or it would be less than leastTreePart.
func (l *Learner) treePart(in Labelled, group []int, left [][]float32, found *fittedTrees, fold int) float32 {
	p := l.problem
	if !p.tells(in, group) || !found.splits(group) {
		return 0
	}
	y := in.of(group, len(p.Target.Tasks))
	var rows []int
	for i := range in.Rows {
		known := slices.ContainsFunc(y[i*len(group):][:len(group)], func(v float64) bool { return v == v })
		if of, tree := left[group[0]][i], found.left[group[0]][i]; known && found.fold[i] != fold && of == of && tree == tree {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return 0
	}
	of := candidates{groups: p.groupsOf(in.Rows).Some(rows), numbers: !p.Classifies()}
	all := func(rate float64) (losses [][]float64) {
		for _, a := range slices.Concat([]float64{0}, joinParts) {
			losses = append(losses, p.mixedLosses(y, rows, len(group), rate, func(j, row int) float64 {
				f, g := float64(left[group[j]][row]), float64(found.left[group[j]][row])
				return f + a*(g-f)
			}))
		}
		return losses
	}
	rate := 0.0
	if p.doubtsLabels() {
		rate, _ = regress.NoiseRate(all, of.groups.Evidence())
	}
	of.losses = all(rate)
	of.less = []float64{0}
	for range joinParts {
		of.less = append(of.less, math.Log(float64(len(joinParts))))
	}
	part := of.weights(stream(p.Config.Seed, "trees", p.TargetName()))[0]
	if part < leastTreePart {
		return 0
	}
	return float32(part)
}

// splits reports whether the trees of some outputs have splits.
func (t *fittedTrees) splits(outputs []int) bool {
	d := len(t.forest.Gain) / len(t.forest.Start)
	return slices.ContainsFunc(outputs, func(c int) bool { return floats.Max(t.forest.Gain[c*d:][:d]) > 0 })
}

// addTrees adds the part of trees to predictions for rows of the target's pool.
func (l *Learner) addTrees(said [][]float32, rows []int32) {
	for c, of := range l.forestPredictions(rows) {
		for i, v := range of {
			said[c][i] = withTrees(said[c][i], v, l.treeParts[c])
		}
	}
}

// withTrees returns (1 - part) f + part g, and g where part is 1, since there need not be an f then.
func withTrees(f, g, part float32) float32 {
	if part == 1 {
		return g
	}
	return (1-part)*f + part*g
}
