package boost

import (
	"context"
	"math"
	"slices"
)

const (
	// StageTrees is the number of trees for each output in a stage.
	StageTrees = 40
	rate       = 0.1
)

// Kind says what labels are.
type Kind int

const (
	// Numbers are fitted by squares, one output at a time.
	Numbers Kind = iota
	// Classes are fitted as log-odds: one output, of a class against the rest, by the logistic loss, and several, of
	// classes that exclude each other, by the multinomial loss.
	Classes
)

// Fit fits a forest to some rows of c, with labels y: for each row of c a number for each output, 0 or 1 for Classes.
// Outputs are one group. Where rows have more than Cells cells times outputs, each tree tries some columns (see
// [some]). start holds what is predicted for each row without a tree: numbers, logits of one class or, of several,
// multinomial logits. The forest, whose Start is 0, has StageTrees trees for each output and stage. Columns may serve
// several goroutines. Once ctx is done, the error is that of ctx.
func Fit(ctx context.Context, c *Columns, y, start []float64, outputs int, kind Kind, rows []int32, stages int) (*Forest, error) {
	b := newBooster(c, y, start, outputs, kind, rows, nil)
	d := len(c.bins)
	f := &Forest{Group: make([]int, outputs), Classes: kind == Classes, Start: make([]float32, outputs), Gain: make([]float64, outputs*d)}
	for range stages {
		for range StageTrees {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, t := range b.step() {
				tree, gain := t.of(c.own)
				for k, n := range tree.Nodes {
					f.Gain[t.Output*d+n.Column] += gain[k]
				}
				f.Trees = append(f.Trees, tree)
			}
		}
	}
	return f, nil
}

// LeftOut is [Fit] to rows, of which none is in left. It returns the predictions of those in left after each stage: for
// each row a prediction for each output, as start has them. Only labels of rows are used.
func LeftOut(ctx context.Context, c *Columns, y, start []float64, outputs int, kind Kind, rows []int32, left []int, stages int) (
	predicted [][]float64, err error) {
	b := newBooster(c, y, start, outputs, kind, rows, left)
	predicted = make([][]float64, stages)
	for s := range predicted {
		for range StageTrees {
			if err := ctx.Err(); err != nil {
				return predicted, err
			}
			b.step()
		}
		for _, i := range left {
			predicted[s] = append(predicted[s], b.predicted[i*outputs:][:outputs]...)
		}
	}
	return predicted, nil
}

type booster struct {
	grower
	y         []float64
	outputs   int
	kind      Kind
	predicted []float64 // predictions so far, multinomial logits for several classes, a number for each output of each row
	rows      []int32   // that are fitted
	left      []int     // that are predicted
	order     []int32   // what a tree makes of them
	some      []*some   // the columns that the trees of each output try
	likely    []float64 // probabilities of classes
}

func newBooster(c *Columns, y, start []float64, outputs int, kind Kind, rows []int32, left []int) *booster {
	b := &booster{grower: grower{columns: c, gradient: make([]float64, c.rows), curvature: make([]float64, c.rows),
		ofSource: make([]sums, c.sources), step: make([]float64, c.sources)}, y: y,
		outputs: outputs, kind: kind, predicted: slices.Clone(start), rows: rows, left: left}
	for k := range outputs {
		b.some = append(b.some, newSome(len(c.bins), len(rows), outputs, k))
	}
	return b
}

// step adds a tree for each output, all of which are fitted to the same predictions, and returns them.
func (b *booster) step() (trees []grown) {
	p := b.probabilities()
	for k := range b.outputs {
		for _, i := range b.rows {
			at := int(i)*b.outputs + k
			b.gradient[i], b.curvature[i] = b.predicted[at]-b.y[at], 1
			if b.kind == Classes {
				b.gradient[i], b.curvature[i] = p[at]-b.y[at], math.Max(p[at]*(1-p[at]), 1e-6)
			}
		}
		b.order = append(b.order[:0], b.rows...)
		b.tried = b.some[k].next()
		t := b.grow(b.order, rate)
		t.Output = k
		b.some[k].add(t)
		for _, l := range t.leaves {
			value := float64(t.Nodes[l.node].Value)
			for _, i := range l.rows {
				b.predicted[int(i)*b.outputs+k] += value
			}
		}
		for _, i := range b.left {
			b.predicted[i*b.outputs+k] += float64(t.at(b.columns, i))
		}
		trees = append(trees, t)
	}
	return trees
}

// probabilities returns the probability of each class for each row that is fitted, nil for numbers.
func (b *booster) probabilities() []float64 {
	if b.kind != Classes {
		return nil
	}
	if b.likely == nil {
		b.likely = make([]float64, len(b.predicted))
	}
	p := b.likely
	for _, i := range b.rows {
		of := p[int(i)*b.outputs:][:b.outputs]
		copy(of, b.predicted[int(i)*b.outputs:])
		if b.outputs == 1 {
			of[0] = 1 / (1 + math.Exp(-of[0]))
		} else {
			softmax(of)
		}
	}
	return p
}
