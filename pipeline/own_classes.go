package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ownWeights are the weights of the target's rows alone that are compared, and ownVariance is the variance of the intercepts.
var ownWeights = []float64{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000}

const ownVariance = 10

// ownClasses are the heads of classes of a column by multinomial logistic regression on the target's rows alone, whose kernel is
// weight XX'/t (see [targetRows]), and their log-odds of these rows, as helps of [Learner.mix]: none of one class, and where all rows
// are alike.
func (l *Learner) ownClasses(in Labelled, group []int, u units) [][]prediction {
	if len(group) < 2 {
		return nil
	}
	found, _ := l.remember(multinomialOnTarget, []Labelled{in}, group, u, func() (*pooledFound, error) {
		return &pooledFound{with: l.regressOwn(in, group, u)}, nil
	})
	return found.with
}

func (l *Learner) regressOwn(in Labelled, group []int, u units) [][]prediction {
	rows, class := l.targetRows(in.Rows, u), in.classes(group, len(l.problem.Target.Tasks))
	if rows.trace == 0 {
		return nil
	}
	var of logits
	if slices.Contains(class, noClass) {
		of.rest = 1
	}
	var x mat.Dense
	scale := 1 / math.Sqrt(rows.trace)
	x.Scale(scale, rows.x)
	none, variances := mat.NewDense(len(class), len(group), nil), slices.Repeat([]float64{ownVariance}, len(group))
	m := newMultinomial(of, none, class, newThinRoot(&x), variances)
	found := m.upwards(ownWeights, func(left *mat.Dense) float64 { return l.problem.unlikely(of, left, class) })
	if found == nil {
		return nil
	}
	best, gram := found[len(found)-1], pooledGram{centre: rows.mean}
	return [][]prediction{of.predictions(best.left, func(c int) []float32 {
		w := m.root.across(best.u.RawRowView(c))
		floats.Scale(scale, w)
		return gram.head(l.problem.Config.K, w, best.b[c], u)
	})}
}
