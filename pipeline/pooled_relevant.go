package pipeline

import (
	"context"
	"math"
	"slices"
)

// relevantParts are the parts of the largest relevance that the sources have at least whose rows [Learner.pooledRelevant] takes.
var relevantParts = []float64{0.8, 0.4}

const (
	// relevantFolds is into how many parts the samples are dealt that choose sources for each other.
	relevantFolds = 5
	// relevantRows is the most rows of a regression of numbers, of which there are up to one for each part and fold.
	relevantRows = 1 << 16
	// enoughOfClass is how many rows of a class tell it.
	enoughOfClass = 10
	// lessRelevant is how many nats of [helps.less] it costs that the samples have chosen sources.
	lessRelevant = 2
)

// pooledRelevant is, for each of relevantParts, one regression on the rows of those sources alone whose nu_m for the outputs of the
// column is at least that part of the largest, with the target's samples among its rows, each as one of them. What is said of a sample,
// left out, is by the sources that the samples of the other folds choose: those which happen to fit a few samples would else predict
// these too well. Where all sources have a part, the regression is that on the rows of all, and not said again. There is none where the
// sources lack a class that others have, relevance is not [Transfer], or phi is not linear.
func (l *Learner) pooledRelevant(ctx context.Context, in Round, group []int, all *pooledFound, u units) ([][]prediction, error) {
	if l.relevance == nil || l.problem.Config.Representation != ClassLinear {
		return nil, nil
	}
	fold := stratified(make([]int, len(in.Target.Rows)), l.problem.together(in.Target.Rows))
	for i := range fold {
		fold[i] %= relevantFolds
	}
	nu := [][]float64{l.relevance(group, nil)} // by all samples, and without each fold
	for f := range slices.Max(fold) + 1 {
		times := make([]float64, len(fold))
		for i, of := range fold {
			if of != f {
				times[i] = 1
			}
		}
		nu = append(nu, l.relevance(group, times))
	}
	counts := l.problem.columnCounts(in.Sources, group)
	labelled := make([]byte, len(counts))
	for m, of := range counts {
		labelled[m] = byte(min(1, of.rows))
	}
	var helps [][]prediction
	for _, part := range relevantParts {
		chosen := relevantSources(nu[0], labelled, part)
		if slices.Equal(chosen, labelled) || l.problem.Classifies() && !holdClasses(counts, chosen) {
			continue
		}
		help, err := l.onSources(ctx, in, group, chosen, u, startAt(all, pooledStarts))
		if err != nil {
			return nil, err
		}
		if help == nil {
			continue
		}
		known, left := map[string]*pooledFound{string(chosen): help}, make([][]prediction, len(nu)-1)
		for f, without := range nu[1:] {
			chosen := relevantSources(without, labelled, part)
			of, is := known[string(chosen)]
			if !is {
				if of, err = l.onSources(ctx, in, group, chosen, u, startAt(help, 0)); err != nil {
					return nil, err
				}
				known[string(chosen)] = of
			}
			if of == nil { // fewer than two rows: what is said by those that all samples choose would be said too well
				left = nil
				break
			}
			left[f] = of.with[0]
		}
		if left != nil {
			helps = append(helps, leftOf(help.with[0], left, fold))
		}
	}
	return helps, nil
}

// onSources regresses on the rows of the marked sources.
func (l *Learner) onSources(ctx context.Context, in Round, group []int, marks []byte, u units, by pooledSearch) (*pooledFound, error) {
	in.Sources = slices.Clone(in.Sources)
	for m, is := range marks {
		if is == 0 {
			in.Sources[m] = Labelled{}
		}
	}
	if l.problem.Classifies() {
		return l.regressPooled(ctx, in, group, u, by)
	}
	return l.regressSquared(in, group, u, relevantRows)
}

// startAt starts at another regression, on the features, and goes so many steps from there; without it as far as any does.
func startAt(other *pooledFound, steps int) pooledSearch {
	if other.point == nil {
		return pooledSearch{pooledStart, nil, pooledStarts, addedWeights[:1]}
	}
	return pooledSearch{other.point.lambda, other.point, steps, addedWeights[:1]}
}

// columnCount is how many rows a source has for the regression of a column, and how many of these are of each class.
type columnCount struct {
	rows int
	of   []int
}

func (p *Problem) columnCounts(in []Labelled, group []int) []columnCount {
	counts := make([]columnCount, len(in))
	for m, s := range p.Sources {
		rows, y := p.rowsOfColumn(s, in[m], group, nil, nil)
		counts[m] = columnCount{len(rows), make([]int, len(group))}
		for i, v := range y {
			if v == 1 {
				counts[m].of[i%len(group)]++
			}
		}
	}
	return counts
}

// holdClasses says whether the marked sources have enough rows of each class, or all: what is known of a class that the target has no
// sample of comes from the rows of sources, and no sample would tell that it is missed.
func holdClasses(counts []columnCount, marks []byte) bool {
	for j := range counts[0].of {
		all, marked := 0, 0
		for m, of := range counts {
			all += of.of[j]
			marked += int(marks[m]) * of.of[j]
		}
		if marked < min(all, enoughOfClass) {
			return false
		}
	}
	return true
}

// relevantSources marks those of the marked sources whose nu is at least a part of the largest of these.
func relevantSources(nu []float64, among []byte, part float64) []byte {
	most := math.Inf(-1)
	for m, v := range nu {
		if among[m] == 1 {
			most = math.Max(most, v)
		}
	}
	marks := slices.Clone(among)
	for m, v := range nu {
		if !(v >= part*most) {
			marks[m] = 0
		}
	}
	return marks
}

// leftOf is a help that says of each sample what that of its fold does.
func leftOf(help []prediction, of [][]prediction, fold []int) []prediction {
	out := slices.Clone(help)
	for j := range out {
		out[j].left, out[j].logits = slices.Clone(out[j].left), slices.Clone(out[j].logits)
		for i, f := range fold {
			out[j].left[i] = of[f][j].left[i]
			if out[j].logits != nil {
				out[j].logits[i] = of[f][j].logits[i]
			}
		}
	}
	return out
}
