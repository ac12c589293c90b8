package pipeline

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

const (
	// spreadRows is the number of rows from which on the scatter takes no more sources. Sources are taken whole, in random order.
	spreadRows = 4096
	// spreadSamples is the largest number of samples for which the scatter is used: more samples tell by themselves which directions are of
	// no use.
	spreadSamples = 200
)

// spreadParts holds the values of a that are compared: the part of S that is the same in all directions.
var spreadParts = []float64{0.3, 0.03}

// ownSpread returns the regression of [Problem.ownClasses] with another prior of the weights of a class. In place of N(0, weight I/t) it is
//
//	N(0, weight S^-1/t),  S = (1 - a) W d/tr W + a I,
//
// W being the scatter of the sources' rows within the classes of each source (Fisher 1936), and t the mean of x'S^-1 x over the samples.
// What differs between rows of one class is of no use to tell classes apart; for this the sources need not have the classes of the target.
// a is the one of spreadParts that makes the left-out samples most likely. ownSpread returns nil where the sources have all classes of the
// samples, so that a regression on their rows tells more, where no source has rows with labels of the column, for more than spreadSamples
// samples, and for more than pooledWide features.
func (l *Learner) ownSpread(ctx context.Context, in Round, group []int, u units) ([]prediction, error) {
	p, rows, d := l.problem, l.targetRows(in.Target.Rows, u), l.problem.Set.Pools[0].Cols
	if len(rows.rows) > spreadSamples || onRoot(d) {
		return nil, nil
	}
	if _, novel := p.countNovel(in, group); novel == 0 {
		return nil, nil
	}
	scatter := p.scatter(in.Sources, group, u.each)
	linalg.ScaleBoth(scatter, rows.Weight)
	unit := mat.Trace(scatter) / float64(d)
	if !(unit > regress.LeastCurvature) {
		return nil, nil
	}
	class := in.Target.classes(group, len(p.Target.Tasks))
	var best *ownFound
	least := math.Inf(1)
	for _, part := range spreadParts {
		s := mat.NewSymDense(d, nil)
		s.ScaleSym((1-part)/unit, scatter)
		for j := range d {
			s.SetSym(j, j, s.At(j, j)+part)
		}
		root, ok := linalg.Factor(s)
		if !ok {
			continue
		}
		x := mat.DenseCopyOf(rows.X)
		blas64.Trsm(blas.Right, blas.NoTrans, 1, root, x.RawMatrix())
		turned := &regress.Rows{X: x, Mean: rows.Mean, Trace: linalg.MeanSquareNorm(x), Groups: rows.Groups}
		found, err := p.regressOwn(ctx, turned, in.Target, group)
		if err != nil {
			return nil, err
		}
		if found.left == nil {
			continue
		}
		loss := p.negLogLik(found.logits, found.left, class, rows.Groups)
		if !(loss < least) {
			continue
		}
		for _, w := range found.w {
			blas64.Trsv(blas.NoTrans, root, blas64.Vector{N: d, Data: w, Inc: 1})
			if rows.Weight != nil {
				floats.Mul(w, rows.Weight)
			}
		}
		best, least = found, loss
	}
	if best == nil {
		return nil, nil
	}
	return best.predictions(pooledGram{centre: rows.Mean}, p.Config.K, u), nil
}

// scatter returns the sum, over the sources and the classes of a column, of the scatter of their rows about their mean, d by d, for
// features divided by their s_j.
func (p *Problem) scatter(in []Labelled, group []int, each []float32) *mat.SymDense {
	var rows []poolRow
	var y []float64
	for _, m := range stream(p.Config.Seed, "spread", p.TargetName()).Perm(len(p.Sources)) {
		if rows, y = p.rowsOfColumn(p.Sources[m], in[m], group, rows, y); len(rows) >= spreadRows {
			break
		}
	}
	type part struct{ pool, class int }
	of := map[part][]poolRow{}
	var parts []part // in the order of the rows
	for i, class := range regress.ClassesOf(y, len(group)) {
		at := part{rows[i].pool, class}
		if of[at] == nil {
			parts = append(parts, at)
		}
		of[at] = append(of[at], rows[i])
	}
	d := p.Set.Pools[0].Cols
	out := mat.NewSymDense(d, nil)
	for _, at := range parts {
		if at.class == regress.NoClass {
			continue
		}
		x := mat.NewDense(len(of[at]), d, p.centred(of[at], p.meanRow(of[at]), each))
		blas64.Syrk(blas.Trans, 1, x.RawMatrix(), 1, out.RawSymmetric())
	}
	return out
}
