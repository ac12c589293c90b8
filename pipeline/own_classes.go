package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// ownWeights holds the weights of the kernel of the target's rows that are compared (see [Problem.ownClasses]), and ownVariance is the
// variance of the intercepts.
var ownWeights = []float64{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000}

const ownVariance = 10

// ownFound is a multinomial logistic regression of the labels of outputs on the target's rows alone. It is the same in all rounds of all
// methods, since units only shift the features and scale them by one factor, except for the s_j.
type ownFound struct {
	in     Labelled
	group  []int
	logits regress.Logits
	left   *mat.Dense  // leave-one-out logits, n by C, or nil
	w      [][]float64 // weights of the centred features, divided by the s_j
	b      []float64
}

// ownClasses returns the heads of the classes of a column by multinomial logistic regression on the target's rows alone, with the kernel
// matrix weight XX'/t (see [targetRows]), and their leave-one-out log-odds, as a base model of [Learner.mix]. It returns none for a single
// class and where all rows are alike. rows caches the regression.
func (p *Problem) ownClasses(ctx context.Context, rows *targetRows, in Labelled, group []int, u units) ([][]prediction, error) {
	if len(group) < 2 || rows.Trace == 0 {
		return nil, nil
	}
	at := slices.IndexFunc(rows.own, func(was *ownFound) bool { return slices.Equal(was.group, group) && sameLabelled(was.in, in) })
	if at < 0 {
		found, err := p.regressOwn(ctx, rows.Rows, in, group)
		if err != nil {
			return nil, err
		}
		if len(rows.own) == len(p.Target.Tasks) { // more than there can be in one round
			rows.own = rows.own[1:]
		}
		at = len(rows.own)
		rows.own = append(rows.own, found)
	}
	if rows.own[at].left == nil {
		return nil, nil
	}
	return [][]prediction{rows.own[at].predictions(pooledGram{centre: rows.Mean}, p.Config.K, u)}, nil
}

// predictions returns the heads, whose w has length k, and their leave-one-out predictions.
func (f *ownFound) predictions(gram pooledGram, k int, u units) []prediction {
	return predictionsOf(f.logits, f.left, func(c int) []float32 { return gram.head(k, f.w[c], f.b[c], u) })
}

// regressOwn fits the regression at the best of ownWeights. Its result has no left where X X' is not finite.
func (p *Problem) regressOwn(ctx context.Context, rows *regress.Rows, in Labelled, group []int) (*ownFound, error) {
	class := in.classes(group, len(p.Target.Tasks))
	out := &ownFound{in: in, group: group}
	if slices.Contains(class, regress.NoClass) {
		out.logits.Rest = 1
	}
	var x mat.Dense
	scale := 1 / math.Sqrt(rows.Trace)
	x.Scale(scale, rows.X)
	none, by := mat.NewDense(len(class), len(group), nil), regress.Recalibration{B: slices.Repeat([]float64{ownVariance}, len(group))}
	m := regress.NewMultinomial(out.logits, none, class, rows.Groups, regress.NewThinRoot(&x), by)
	found, _, err := m.Upwards(ctx, ownWeights, func(left *mat.Dense) float64 {
		return p.negLogLik(out.logits, left, class, rows.Groups)
	})
	if err != nil || found == nil {
		return out, err
	}
	best := found[len(found)-1]
	linalg.EachRow(best.U, func(u []float64) {
		w := m.Root.Across(u)
		floats.Scale(scale, w)
		if rows.Weight != nil {
			floats.Mul(w, rows.Weight)
		}
		out.w = append(out.w, w)
	})
	out.left, out.b = best.Left, best.B
	return out, nil
}
