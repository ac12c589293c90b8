package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// nestedMost is the most samples whose residuals are those of [targetRegression.nested]: of more, what the choice of three
// numbers takes from them is little beside their own error.
const nestedMost = 500

// targetRegression is what [kernelRidge] is of: the target's rows, A and the labels, and what the sources' heads say of the rows, nil for
// nothing.
type targetRegression struct {
	rows       *targetRows
	a, y, mean *mat.Dense
	rho, least float64
	kappas     []float64
	lambda     float64
}

// regressed is the fit of a regression, of labels less g times the mean.
type regressed struct {
	*kernelRidge
	fit kernelFit
	g   float64
}

// regress searches, refines what is found, and of numbers replaces the residuals. (For classes they tell the regression from a logistic
// one, both chosen so.)
func (l *Learner) regress(r targetRegression) (regressed, error) {
	found, err := r.search()
	if err != nil {
		return found, err
	}
	found.fit = r.refined(found.kernelRidge, found.fit)
	if !l.problem.Set.Binary {
		err = r.nested(found)
	}
	return found, err
}

// search chooses kappa, lambda and g by leaving out the samples.
func (r *targetRegression) search() (regressed, error) {
	k, err := newKernelRidge(r.rows, r.a, r.y, r.rho, r.least)
	if err != nil {
		return regressed{}, err
	}
	k, fit, g := k.searchTowards(r.mean, r.kappas, r.lambda)
	return regressed{k, fit, g}, nil
}

// nested overwrites the residuals of a search, which have chosen its kappa, lambda and g and are too small by that, with those of nested
// cross-validation (Varma and Simon 2006): each sample is left out of the fit at what the samples of all other folds choose. A group is
// in one fold.
func (r *targetRegression) nested(found regressed) error {
	n, _ := r.y.Dims()
	if n > nestedMost || r.rows.together.count() < 3 {
		return nil
	}
	fold := stratified(make([]int, n), r.rows.together)
	out := mat.DenseCopyOf(found.fit.residual)
	for f, rows := range r.rows.withoutEach(fold) {
		inner := r.of(samplesWithout(fold, f), rows)
		chosen, err := inner.search()
		if err != nil {
			return err
		}
		left := r.y
		if chosen.g != 0 {
			left = mat.DenseCopyOf(r.mean)
			left.Scale(-chosen.g, left)
			left.Add(left, r.y)
		}
		regression := found.of(left)
		residual := r.refined(regression, regression.at(chosen.fit.kappa, chosen.fit.lambda)).residual
		if residual == nil {
			continue
		}
		for i, of := range fold {
			if of == f {
				out.SetRow(i, residual.RawRowView(i))
			}
		}
	}
	found.fit.residual.Copy(out)
	return nil
}

// of is the regression of some of the samples, whose rows are given.
func (r *targetRegression) of(samples []int, rows *targetRows) targetRegression {
	some := *r
	some.rows, some.a, some.y, some.mean = rows, someRows(r.a, samples), someRows(r.y, samples), someRows(r.mean, samples)
	return some
}

// withoutEach are the rows without those of each fold, remembered: they are the same in all rounds.
func (t *targetRows) withoutEach(fold []int) []*targetRows {
	for f := len(t.without); f <= slices.Max(fold); f++ {
		samples := samplesWithout(fold, f)
		some := newTargetRows(someRows(t.x, samples), nil, false, t.together.some(samples))
		some.x = nil // of which the kernel is made
		t.without = append(t.without, some)
	}
	return t.without
}

// samplesWithout are those that are in other folds than f.
func samplesWithout(fold []int, f int) (samples []int) {
	for i, of := range fold {
		if of != f {
			samples = append(samples, i)
		}
	}
	return samples
}

// someRows are some rows of m, nil where m is.
func someRows(m *mat.Dense, rows []int) *mat.Dense {
	if m == nil {
		return nil
	}
	_, c := m.Dims()
	out := mat.NewDense(len(rows), c, nil)
	for at, i := range rows {
		out.SetRow(at, m.RawRowView(i))
	}
	return out
}
