package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// sampleFolds divides the target's samples into folds, each of which is left out in turn. It is remembered, since it is
// the same for all methods with the same s_j.
type sampleFolds struct {
	of   Labelled
	each []float32 // the s_j of features, nil where all are 1
	// x holds the rows as [targetRows] has them, n by d, or where n < d rotated to n by n, which leaves their kernel
	// the same.
	x     *mat.Dense
	trace float64 // mean squared norm of the rows of x
	out   []*foldOut
}

// foldOut holds the indices of the samples in a fold, left, and of all others, kept.
type foldOut struct {
	left, kept []int
	rows       []*targetRows // of samples in kept, remembered by rowsAt
}

// rotatedUnits are the units of heads that are fitted to x.
var rotatedUnits = units{scale: 1}

// foldsOf deals the samples to folds in the order in which they were drawn, whatever their classes: if each class were
// spread evenly, the left-out samples would have the class proportions of the others, which fresh rows need not have.
// But where all classes have equally many samples, these were hardly drawn by chance, and equally many of each are left
// out (see [regress.Even]). Groups stay whole.
func (l *Learner) foldsOf(in Labelled, u units) *sampleFolds {
	if f := l.folds; f != nil && sameLabelled(f.of, in) && slices.Equal(f.each, u.each) {
		return f
	}
	x := l.measuredRows(in.Rows, u).X
	if n, d := x.Dims(); n < d {
		_, r := linalg.ThinQR(mat.DenseCopyOf(x.T()))
		x = mat.DenseCopyOf(r.T())
	}
	l.folds = &sampleFolds{of: in, each: u.each, x: x, trace: linalg.MeanSquareNorm(x)}
	fold := l.problem.foldOf(in)
	for f := range slices.Max(fold) + 1 {
		out := &foldOut{kept: regress.SamplesWithout(fold, f)}
		for i, at := range fold {
			if at == f {
				out.left = append(out.left, i)
			}
		}
		l.folds.out = append(l.folds.out, out)
	}
	return l.folds
}

// foldOf returns the fold of each sample, with equally many of each class of the first column of several classes where
// [regress.Even] has such folds.
func (p *Problem) foldOf(in Labelled) []int {
	groups := p.groupsOf(in.Rows)
	if groups.Group == nil && p.Classifies() {
		for _, group := range p.columnGroups() {
			if len(group) < 2 {
				continue
			}
			if fold := regress.Even(in.classes(group, len(p.Target.Tasks))); fold != nil {
				return fold
			}
			break
		}
	}
	return regress.Stratified(make([]int, len(in.Rows)), groups)
}

// rowsAt returns the samples with the given indices, which are outside of the fold out. They are remembered there.
func (f *sampleFolds) rowsAt(p *Problem, out *foldOut, places []int) *targetRows {
	rows := elementsAt(f.of.Rows, places)
	if i := slices.IndexFunc(out.rows, func(t *targetRows) bool { return slices.Equal(t.rows, rows) }); i >= 0 {
		return out.rows[i]
	}
	x := linalg.SomeRows(f.x, places)
	off := mat.DenseCopyOf(x)
	linalg.Centre(off)
	if linalg.MeanSquareNorm(off) <= 1e-24*f.trace { // rows are the same, but for the rounding of the rotation
		for i := range places {
			x.SetRow(i, x.RawRowView(0))
		}
	}
	t := &targetRows{Rows: regress.NewRows(x, p.groupsOf(rows)), rows: rows}
	out.rows = append(out.rows, t)
	return t
}

// predict returns the prediction of a head of [Learner.without] for the sample of index row, which is number at in its
// fold. The head has k numbers of w, the intercept, the weights of x, and, where other candidates are averaged with it,
// what these contribute to the prediction of each sample of the fold. phi is nil where w is 0.
func (f *sampleFolds) predict(head []float32, k int, phi *mat.Dense, row, at int) float64 {
	x, sum := f.x.RawRowView(row), float64(head[k])
	if phi != nil {
		for j, v := range phi.RawRowView(row)[:k] {
			sum += v * float64(head[j])
		}
	}
	for j, v := range x {
		sum += v * float64(head[k+1+j])
	}
	if beside := head[k+1+len(x):]; len(beside) > 0 {
		sum += float64(beside[at])
	}
	return sum
}
