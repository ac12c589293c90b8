package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// leastBeside is the least part of trees or of a kernel in the predictions of a column: less is not worth their file.
const leastBeside = 0.05

// kernelHandicap is what a kernel must gain in log-likelihood: most vectors are embeddings, which a linear model suits.
const kernelHandicap = 2

// stacksBeside reports whether [Learner.stackBeside] adds trees or a kernel to the target's predictor: in the last round of a method, where
// [Trees] or [Kernel] is among the methods.
func (l *Learner) stacksBeside(in Round) bool {
	p := l.problem
	return slices.ContainsFunc(p.Config.Methods, IsBeside) && in.Epoch == p.RoundsOf(in.Method) && p.Config.Head.Prior == PriorResidual &&
		(p.Classifies() || !p.Set.Binary)
}

// stackedBeside holds the predictions of trees or of a kernel for the target's samples, by output and sample, and the part that they have
// in those of the predictor. The part in the prediction of a sample is chosen by the other folds.
type stackedBeside struct {
	left, parts [][]float32
}

// stackBeside replaces the predictions f of the target's predictor for the outputs of each column by
//
//	(1 - a) f + a g
//
// where g are those of trees or of a kernel on the rows of the round, whose labels are in the units of the data. a is the mean over 0 and
// stackParts by the likelihood of the samples, each left out of f and of g, where 0 is at first as likely as stackParts together (see
// [Learner.besidePart]). It sets what is beside the head and overwrites the leave-one-out and nested predictions of fit.
func (l *Learner) stackBeside(ctx context.Context, rec *Epoch, in Round, fit *headFit) error {
	found, err := l.fitBeside(ctx, in)
	if err != nil {
		return err
	}
	p, out := l.problem, &stackedBeside{left: found.left, parts: make([][]float32, len(fit.left))}
	parts := make([]float32, len(fit.left))
	var ofColumns []float64
	for _, group := range p.columnGroups() {
		part, ofFold := l.besidePart(in.Target, group, fit.left, found, -1), make([]float32, slices.Max(found.fold)+1)
		ofColumns = append(ofColumns, float64(part))
		for f := range ofFold {
			ofFold[f] = l.besidePart(in.Target, group, fit.left, found, f)
		}
		for _, c := range group {
			parts[c], out.parts[c] = part, make([]float32, len(found.fold))
			for i, f := range found.fold {
				out.parts[c][i] = ofFold[f]
			}
		}
	}
	if slices.Max(parts) > 0 {
		l.beside = beside{found.forest, found.kernel, parts}
		if found.forest != nil {
			rec.HeadTrees = ofColumns
		} else {
			rec.HeadKernel = ofColumns
		}
	}
	fit.left = out.stacked(fit.left)
	if fit.stated != nil {
		fit.stated = out.stacked(fit.stated)
	}
	if !p.Classifies() {
		fit.LeaveOneOut = p.leaveOneOut(fit.left, fit.labels, p.groupsOf(in.Target.Rows))
		rec.LeaveOneOut = fit.LeaveOneOut
	}
	return nil
}

// stacked returns predictions of the samples, by output and sample, with the part of trees or of a kernel.
func (t *stackedBeside) stacked(predicted [][]float32) [][]float32 {
	out := make([][]float32, len(predicted))
	for c, of := range predicted {
		out[c] = slices.Clone(of)
		for i, v := range of {
			if g := t.left[c][i]; g == g {
				out[c][i] = v + t.parts[c][i]*(g-v)
			}
		}
	}
	return out
}

// besidePart returns the part of trees or of a kernel in the predictions of a column that the samples outside of a fold choose, of all
// samples where fold is -1. left holds the leave-one-out predictions that they are added to. The part is 0 where the samples cannot tell,
// nothing but constants would be added, or it would be less than leastBeside.
func (l *Learner) besidePart(in Labelled, group []int, left [][]float32, found *fittedBeside, fold int) float32 {
	p := l.problem
	if !p.samplesChoose(in, group) || !found.predicts(group) {
		return 0
	}
	y := in.of(group, len(p.Target.Tasks))
	var rows []int
	for i := range in.Rows {
		known := slices.ContainsFunc(y[i*len(group):][:len(group)], func(v float64) bool { return v == v })
		if f, g := left[group[0]][i], found.left[group[0]][i]; known && found.fold[i] != fold && f == f && g == g {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return 0
	}
	of := candidates{groups: p.groupsOf(in.Rows).Some(rows), numbers: !p.Classifies()}
	all := func(rate float64) (losses [][]float64) {
		for _, a := range slices.Concat([]float64{0}, stackParts) {
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
	of.handicap = []float64{0}
	for range stackParts {
		handicap := math.Log(float64(len(stackParts)))
		if found.kernel != nil {
			handicap += kernelHandicap
		}
		of.handicap = append(of.handicap, handicap)
	}
	part := of.weights(stream(p.Config.Seed, found.name(), p.TargetName()))[0]
	if part < leastBeside {
		return 0
	}
	return float32(part)
}

// name returns the method that fits this alone.
func (t *fittedBeside) name() string {
	if t.kernel != nil {
		return Kernel
	}
	return Trees
}

// predicts reports whether more is said of some outputs than a constant.
func (t *fittedBeside) predicts(outputs []int) bool {
	if t.kernel != nil {
		return slices.ContainsFunc(outputs, t.kernel.predicts)
	}
	d := len(t.forest.Gain) / len(t.forest.Start)
	return slices.ContainsFunc(outputs, func(c int) bool { return floats.Max(t.forest.Gain[c*d:][:d]) > 0 })
}
