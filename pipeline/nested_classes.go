package pipeline

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// nestedMostClasses is the most samples of classes whose score is of [Learner.nested]: of more, what choosing takes from it is little
// beside its own error, and the fits take long.
const nestedMostClasses = 200

// nests says whether what is stated of a round is of [Learner.nested]: of the last of a method, of classes of up to nestedMostClasses
// samples, without test rows. Rounds before it state what their heads left out.
func (l *Learner) nests(in Round) bool {
	p, n := l.problem, len(in.Target.Rows)
	return in.Epoch == p.RoundsOf(in.Method) && p.Set.Binary && p.Config.leavesOneOut() && p.Set.Model == nil && len(in.Test.Rows) == 0 &&
		n <= nestedMostClasses && p.together(in.Target.Rows).Count() > 2
}

// nestedFit is how the heads of the samples outside of a fold are fitted.
type nestedFit struct {
	heads headsOf
	phi   *mat.Dense // of all samples, with a constant behind it, nil where heads want none
	// pooled are the regressions on the rows of all sources by all samples.
	pooled []pooledColumn
	// join has the helps of [Learner.mix] for a fit of some samples. It is nil where nothing is mixed.
	join func(fit *headFit, in Labelled, by helpers) helpsOf
}

// nested are predictions of each sample by what the samples of all other folds choose and fit: kappa, penalties, whether the head draws
// towards the mean of the sources' heads, the fits and discriminants of classes, the regression on the samples alone, the weights of
// the join and the level (nested cross-validation; Varma and Simon 2006). What fit has left out of itself has chosen all that, and errs
// too little by the choice. A group is in one fold. The regressions on the rows of all sources say of a sample what they say without it
// in fit, with as many rows for each of the samples as those of the other folds choose: their penalty is chosen by all samples, and what
// those on relevant sources say of the samples of other folds, which choose the weights, is by sources that all but a fifth choose. What
// [Learner.ownSpread] says without a sample is by the part and the weight that all choose. Fits for each fold would take as long as the
// rest of the round together. Nothing is uploaded.
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
	work.SetLimit(runtime.GOMAXPROCS(0))
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
							stated[c][row] = float32(folds.says(part.fits[i].final, l.problem.Config.K, fit.by.phi, row, at))
						}
					}
				}
			}
			return nil
		})
	}
	return stated, work.Wait()
}

// without fits the heads of the samples outside of a fold. They are w, K wide, an intercept, what weighs the turned rows, and, where
// helps are mixed in, what pooledWithout has of each sample of the fold.
func (l *Learner) without(ctx context.Context, folds *sampleFolds, out *foldOut, u units, by nestedFit) (headFit, error) {
	p := l.problem
	_, width := folds.x.Dims()
	width += p.Config.K + 1
	some := folds.of.some(out.kept, len(p.Target.Tasks))
	of, err := p.fitParts(some, u, width, func(in labelGroup) ([]headFit, error) {
		places := folds.places(in.Rows)
		return by.heads(folds.rowsAt(p, out, places), linalg.SomeRows(by.phi, places), turnedUnits, in)
	})
	if err != nil || by.join == nil {
		return of, err
	}
	for _, part := range of.parts {
		for i := range part.fits {
			part.fits[i].final = slices.Concat(part.fits[i].final, make([]float32, len(out.left)))
		}
	}
	_, err = l.mix(&of, some, u, by.join(&of, some, helpers{
		pooled:   func(group []int) ([][]prediction, error) { return p.pooledWithout(by.pooled, group, out, width), nil },
		relevant: func(group []int) ([][]prediction, error) { return relevantWithout(by.pooled, group, out, width), nil },
		own: func(group []int) ([][]prediction, error) {
			helps, err := p.ownClasses(ctx, folds.rowsAt(p, out, out.kept), some, group, turnedUnits)
			for _, help := range helps {
				for c, of := range help {
					help[c].head = slices.Concat(of.head, make([]float32, len(out.left)))
				}
			}
			if at := columnOf(by.pooled, group); at >= 0 && by.pooled[at].spread != nil && len(helps) > 0 {
				helps = append(helps, by.pooled[at].without(by.pooled[at].spread, group, out, width))
			}
			return helps, err
		},
	}))
	return of, err
}

// pooledWithout are helps of a column on the rows of all sources as the samples outside of a fold have them.
func (p *Problem) pooledWithout(all []pooledColumn, group []int, out *foldOut, width int) (helps [][]prediction) {
	if at := columnOf(all, group); at >= 0 && all[at].found != nil {
		for _, help := range all[at].found.chosenBy(out.kept).helps(p.Config.Representation) {
			helps = append(helps, all[at].without(help, group, out, width))
		}
	}
	return helps
}

// relevantWithout are those on the rows of the most relevant sources.
func relevantWithout(all []pooledColumn, group []int, out *foldOut, width int) (helps [][]prediction) {
	if at := columnOf(all, group); at >= 0 {
		for _, help := range all[at].relevant {
			helps = append(helps, all[at].without(help, group, out, width))
		}
	}
	return helps
}

// columnOf is the place of the column of some outputs, -1 for none.
func columnOf(all []pooledColumn, group []int) int {
	return slices.IndexFunc(all, func(of pooledColumn) bool { return slices.Contains(of.group, group[0]) })
}

// without is a help of some outputs of the column as the samples outside of a fold have it. Its heads say of each sample of the fold what
// they said without it, and of no features.
func (c pooledColumn) without(help []prediction, group []int, out *foldOut, width int) []prediction {
	some := make([]prediction, len(group))
	for j, output := range group {
		of := help[slices.Index(c.group, output)]
		some[j] = prediction{head: make([]float32, width), left: someOf(of.left, out.kept), rest: of.rest}
		if of.logits != nil {
			some[j].logits = someOf(of.logits, out.kept)
		}
		for _, row := range out.left {
			some[j].head = append(some[j].head, float32(of.says(row)))
		}
	}
	return some
}

func someOf[E any](v []E, places []int) []E {
	out := make([]E, len(places))
	for at, i := range places {
		out[at] = v[i]
	}
	return out
}
