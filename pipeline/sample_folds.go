package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// sampleFolds are the target's samples with folds of them left out in turn, remembered: they are the same for all methods.
type sampleFolds struct {
	of   Labelled
	each []float32 // s_j, or nil
	// x are the rows as [targetRows] has them, n by d, or where that is less turned to n by n: a kernel is the same.
	x     *mat.Dense
	trace float64 // mean squared norm of x
	out   []*foldOut
}

// foldOut are the places of the samples of a fold and of all others.
type foldOut struct {
	left, kept []int
	rows       []*targetRows // remembered, of kept
}

// turnedUnits are the units that heads of x are in.
var turnedUnits = units{scale: 1}

// foldsOf deals the samples to folds in the order in which they were drawn, whatever their classes: were each class spread evenly, those
// that are left out would have the proportions that the others tell, which fresh rows need not have. But where there are as many of each
// class, they were hardly drawn by chance, and as many of each are left out (see [regress.Even]). Groups are whole.
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

// foldOf is the fold of each sample: even by the first column of several classes.
func (p *Problem) foldOf(in Labelled) []int {
	groups := p.together(in.Rows)
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

// places are those of rows of the target's pool among the samples, in whose order they are.
func (f *sampleFolds) places(rows []int32) []int {
	places, at := make([]int, len(rows)), 0
	for i, row := range rows {
		for f.of.Rows[at] != row {
			at++
		}
		places[i] = at
	}
	return places
}

// rowsAt are the rows at some places outside of a fold.
func (f *sampleFolds) rowsAt(p *Problem, out *foldOut, places []int) *targetRows {
	rows := someOf(f.of.Rows, places)
	if i := slices.IndexFunc(out.rows, func(t *targetRows) bool { return slices.Equal(t.rows, rows) }); i >= 0 {
		return out.rows[i]
	}
	x := linalg.SomeRows(f.x, places)
	off := mat.DenseCopyOf(x)
	linalg.Centre(off)
	if linalg.MeanSquareNorm(off) <= 1e-24*f.trace { // rows that are the same, turned
		for i := range places {
			x.SetRow(i, x.RawRowView(0))
		}
	}
	t := &targetRows{Rows: regress.NewRows(x, nil, false, p.together(rows)), rows: rows}
	out.rows = append(out.rows, t)
	return t
}

// says is what a head of [Learner.without], with w k wide, says of a sample, the at-th of its fold. phi is nil where w is 0.
func (f *sampleFolds) says(head []float32, k int, phi *mat.Dense, row, at int) float64 {
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
