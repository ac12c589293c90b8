package pipeline

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// nestedMostClasses is the largest number of samples of classes whose score comes from [Learner.nested]. With more samples, what choosing
// takes from the error is little beside its sampling error, and the fits take long.
const nestedMostClasses = 200

// nests reports whether the stated score of a round comes from [Learner.nested]: in the last round of a method, for classes with up to
// nestedMostClasses samples and without test rows. Earlier rounds state the leave-one-out predictions of their heads.
func (l *Learner) nests(in Round) bool {
	p, n := l.problem, len(in.Target.Rows)
	return in.Epoch == p.RoundsOf(in.Method) && p.Set.Binary && p.Config.leavesOneOut() && p.Set.Model == nil && len(in.Test.Rows) == 0 &&
		n <= nestedMostClasses && p.groupsOf(in.Target.Rows).Count() > 2
}

// nestedFit holds what is needed to fit the heads of the samples outside of a fold.
type nestedFit struct {
	heads headsOf
	phi   *mat.Dense // of all samples, followed by a constant; nil where heads do not use it
	// pooled holds the regressions on the rows of all sources, fitted with all samples.
	pooled []pooledColumn
	// novel reports whether classes of a column of some of the samples are new, see baseLearners. It is nil where nothing is mixed.
	novel func(in Labelled, group []int) bool
	// stack returns the base models of [Learner.mix] for a fit to some of the samples. It is nil where nothing is mixed.
	stack func(fit *headFit, in Labelled, by baseLearners) baseModelsOf
}

// nested returns predictions of each sample, by output, from a fit to the samples of all other folds, which also make all choices (nested
// cross-validation; Varma and Simon 2006): kappa, the penalties, whether the head is drawn towards the mean of the sources' heads, the fits
// and discriminants of classes, the regression on the samples alone, the weights of the stack and the level. For the leave-one-out
// predictions of fit, all samples have made these choices, so that their error is too small. A group is in one fold.
//
// The regressions on the rows of all sources are not fitted for each fold, which would take as long as the rest of the round. Their
// prediction of a sample is the one without it in fit, at the sample weight that the other folds choose, but at the penalty that all
// samples choose. The regressions on relevant sources predict the samples of other folds, which choose the weights, by sources that all but
// a fifth of the samples choose. [Learner.ownSpread] predicts without the sample, at the part and the weight that all samples choose.
// Nothing is uploaded.
func (l *Learner) nested(ctx context.Context, in Labelled, fit headFit) ([][]float32, error) {
	u, err := l.model.units()
	if err != nil {
		return nil, err
	}
	folds := l.foldsOf(in, u)
	stated := make([][]float32, len(fit.left))
	for c, left := range fit.left {
		stated[c] = slices.Clone(left)
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(l.data.threads)
	for _, out := range folds.out {
		work.Go(func() error {
			of, err := l.without(ctx, folds, out, u, fit.by)
			if err != nil {
				return err
			}
			for _, part := range of.parts {
				for i, c := range part.outputs {
					for at, row := range out.left {
						if v := stated[c][row]; v == v && part.fits[i].final != nil {
							stated[c][row] = float32(folds.predict(part.fits[i].final, l.problem.Config.K, fit.by.phi, row, at))
						}
					}
				}
			}
			return nil
		})
	}
	return stated, work.Wait()
}

// without fits the heads to the samples outside of a fold. A head holds w (K numbers), an intercept and the weights of the turned rows.
// Where base models are mixed in, it ends with an element for each sample of the fold, for the predictions of base models that are not
// fitted again (see pooledColumn.without).
func (l *Learner) without(ctx context.Context, folds *sampleFolds, out *foldOut, u units, by nestedFit) (headFit, error) {
	p := l.problem
	_, width := folds.x.Dims()
	width += p.Config.K + 1
	some := folds.of.some(out.kept, len(p.Target.Tasks))
	of, err := p.fitParts(some, u, width, func(in labelGroup) ([]headFit, error) {
		places := placesOf(in.Rows, folds.of.Rows)
		return by.heads(folds.rowsAt(p, out, places), linalg.SomeRows(by.phi, places), rotatedUnits, in)
	})
	if err != nil || by.stack == nil {
		return of, err
	}
	for _, part := range of.parts {
		for i := range part.fits {
			part.fits[i].final = slices.Concat(part.fits[i].final, make([]float32, len(out.left)))
		}
	}
	_, err = l.mix(&of, some, u, by.stack(&of, some, baseLearners{
		pooled:   func(group []int) ([][]prediction, error) { return p.pooledWithout(by.pooled, group, out, width), nil },
		relevant: func(group []int) ([][]prediction, error) { return relevantWithout(by.pooled, group, out, width), nil },
		own: func(group []int) ([][]prediction, error) {
			models, err := p.ownClasses(ctx, folds.rowsAt(p, out, out.kept), some, group, rotatedUnits)
			for _, model := range models {
				for c, of := range model {
					model[c].head = slices.Concat(of.head, make([]float32, len(out.left)))
				}
			}
			if at := columnOf(by.pooled, group); at >= 0 && by.pooled[at].spread != nil && len(models) > 0 {
				models = append(models, by.pooled[at].without(by.pooled[at].spread, group, out, width))
			}
			return models, err
		},
		novel: func(group []int) bool { return by.novel != nil && by.novel(some, group) },
	}))
	return of, err
}

// pooledWithout returns the base models of a column from the regression on the rows of all sources, at the sample weight that the samples
// outside of a fold choose.
func (p *Problem) pooledWithout(all []pooledColumn, group []int, out *foldOut, width int) (models [][]prediction) {
	if at := columnOf(all, group); at >= 0 && all[at].found != nil {
		for _, model := range all[at].found.chosenBy(out.kept).baseModels(p.Config.Representation) {
			models = append(models, all[at].without(model, group, out, width))
		}
	}
	return models
}

// relevantWithout returns the base models of a column from the regressions on the rows of the most relevant sources.
func relevantWithout(all []pooledColumn, group []int, out *foldOut, width int) (models [][]prediction) {
	if at := columnOf(all, group); at >= 0 {
		for _, model := range all[at].relevant {
			models = append(models, all[at].without(model, group, out, width))
		}
	}
	return models
}

// columnOf returns the index of the column with the outputs of group, or -1.
func columnOf(all []pooledColumn, group []int) int {
	return slices.IndexFunc(all, func(of pooledColumn) bool { return slices.Contains(of.group, group[0]) })
}

// without restricts a base model of the column to the outputs of group and to the samples outside of a fold. Its heads have 0 for all
// features, followed by the leave-one-out prediction of each sample of the fold.
func (c pooledColumn) without(model []prediction, group []int, out *foldOut, width int) []prediction {
	some := make([]prediction, len(group))
	for j, output := range group {
		of := model[slices.Index(c.group, output)]
		some[j] = prediction{head: make([]float32, width), left: elementsAt(of.left, out.kept), rest: of.rest}
		if of.logits != nil {
			some[j].logits = elementsAt(of.logits, out.kept)
		}
		for _, row := range out.left {
			some[j].head = append(some[j].head, float32(of.leftOut(row)))
		}
	}
	return some
}

func elementsAt[E any](v []E, places []int) []E {
	out := make([]E, len(places))
	for at, i := range places {
		out[at] = v[i]
	}
	return out
}
