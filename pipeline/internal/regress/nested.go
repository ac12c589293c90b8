package regress

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// NestedMost is the largest number of samples for which [Regression.Nested] replaces the residuals. With more, what the choice of
// three numbers takes from residuals is small beside their own error.
const NestedMost = 500

// Regression is the input of a [KernelRidge]: the rows, A, the labels Y, and Mean, the predictions of the sources' mean head for
// the rows, or nil; and what a search chooses from: kappa from Kappas and, where Lambda is [Chosen], lambda from 10^Least on.
type Regression struct {
	Rows       *Rows
	A, Y, Mean *mat.Dense
	Rho, Least float64
	Kappas     []float64
	Lambda     float64
	// Normal says that labels are numbers with normal noise, for which a lambda has a likelihood.
	Normal bool
}

// Found is the fit of a regression of the labels less G times Mean.
type Found struct {
	*KernelRidge
	Fit KernelFit
	G   float64
}

// Search chooses kappa, lambda and g by leave-one-out prediction, and the lambda of normal labels by its likelihood too.
func (r *Regression) Search() (Found, error) {
	k, err := NewKernelRidge(r.Rows, r.A, r.Y, r.Rho, r.Least)
	if err != nil {
		return Found{}, err
	}
	k.normal = r.Normal
	k, fit, g := k.searchTowards(r.Mean, r.Kappas, r.Lambda)
	return Found{k, fit, g}, nil
}

// Nested overwrites the residuals of a search, which are too small because they have chosen its kappa, lambda and g, with those of nested
// cross-validation (Varma and Simon 2006): each sample is left out of the fit at the kappa, lambda and g that the samples of all other
// folds choose. The samples of a group are in one fold. Residuals of more than NestedMost samples, or of fewer than three groups, stay.
func (r *Regression) Nested(found Found) error {
	n, _ := r.Y.Dims()
	if n > NestedMost || r.Rows.Groups.Count() < 3 {
		return nil
	}
	fold := Stratified(make([]int, n), r.Rows.Groups)
	out := mat.DenseCopyOf(found.Fit.Residual)
	for f, rows := range r.Rows.withoutEach(fold) {
		inner := r.of(SamplesWithout(fold, f), rows)
		chosen, err := inner.Search()
		if err != nil {
			return err
		}
		left := r.Y
		if chosen.G != 0 {
			left = mat.DenseCopyOf(r.Mean)
			left.Scale(-chosen.G, left)
			left.Add(left, r.Y)
		}
		regression := found.Of(left)
		residual := r.Refined(regression, regression.At(chosen.Fit.Kappa, chosen.Fit.Lambda)).Residual
		if residual == nil {
			continue
		}
		for i, of := range fold {
			if of == f {
				out.SetRow(i, residual.RawRowView(i))
			}
		}
	}
	found.Fit.Residual.Copy(out)
	return nil
}

// of returns the regression of some of the samples, whose rows are given.
func (r *Regression) of(samples []int, rows *Rows) Regression {
	some := *r
	some.Rows, some.A, some.Y, some.Mean = rows, linalg.SomeRows(r.A, samples), linalg.SomeRows(r.Y, samples), linalg.SomeRows(r.Mean, samples)
	return some
}

// withoutEach returns the rows without each fold, computed once: they are the same in all rounds.
func (t *Rows) withoutEach(fold []int) []*Rows {
	for f := len(t.without); f <= slices.Max(fold); f++ {
		samples := SamplesWithout(fold, f)
		some := NewRows(linalg.SomeRows(t.X, samples), t.Groups.Some(samples))
		some.X = nil // only the kernel made of it is used
		t.without = append(t.without, some)
	}
	return t.without
}

// SamplesWithout returns the samples that are in other folds than f.
func SamplesWithout(fold []int, f int) (samples []int) {
	for i, of := range fold {
		if of != f {
			samples = append(samples, i)
		}
	}
	return samples
}
