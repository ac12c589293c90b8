package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// classScales holds the factors that regressions of classes compare on the unit of what knots add and on that of products, beside those of
// [derivedScale]. The last leaves features out, at any penalty. Tests compare with none.
var classScales = []float32{1, 4, 1 << 10}

// classUnitRows is the largest number of rows that choose units of features for a regression of classes.
const classUnitRows = 1 << 11

// classUnits returns units of features for a multinomial regression of the outputs in group on rows of in. They are u but for the
// factors of [derivedScale]. These suit least squares, for which the middle step of a scale is a bend of every column, and a product of
// every two, where logits are straight lines; and they are those of the first round, which may have few rows. So one of classScales is
// taken for what knots add, and one for products, where fits to the rows of other folds make the labels of rows e times as likely with
// these ([Learner.penaltyOfRows]). All pairs are compared: where products matter and have too large a factor, larger ones alone would leave
// them out. Fewer than three classes have no middle one. rest is that of the logits.
func (l *Learner) classUnits(ctx context.Context, in []Labelled, group []int, u units, rest float64) (units, error) {
	p, d := l.problem, len(u.each)
	knots, products := derivedFeatures(p.Set, p.Config.Scaling)
	if knots+products == 0 || float64(len(group))+rest < 3 {
		return u, nil
	}
	rows, y := p.pooledRows(in, group, pooledLimit(d, classUnitRows))
	x := p.centred(rows, p.meanRow(rows), u.each)
	lambda := pooledStart * math.Max(floats.Dot(x, x)/float64(d), regress.LeastCurvature)
	tried := [][]float32{u.each}
	for _, f := range classScales {
		for _, g := range classScales {
			if f > 1 && knots == 0 || g > 1 && products == 0 {
				continue
			}
			each := slices.Concat(slices.Repeat([]float32{1}, d-knots-products), slices.Repeat([]float32{f}, knots),
				slices.Repeat([]float32{g}, products))
			if !slices.Equal(each, u.each) {
				tried = append(tried, each)
			}
		}
	}
	least := math.Inf(1)
	for i, each := range tried {
		at, loss, err := l.penaltyOfRows(ctx, rows, y, group, each, rest, lambda, pooledStarts)
		if err != nil {
			return u, err
		}
		if i == 0 {
			loss-- // the others are to be e times as likely
		}
		if loss < least {
			lambda, least, u.each = at, loss, each
		}
	}
	return u, nil
}

// across returns the weights, for features in units as, of what has weights w for features in units u.
func (u units) across(w []float64, as units) []float64 {
	w = slices.Clone(w)
	for j := range u.each {
		w[j] *= float64(as.each[j]) / float64(u.each[j])
	}
	return w
}
