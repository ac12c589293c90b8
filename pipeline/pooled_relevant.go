package pipeline

import (
	"context"
	"math"
	"slices"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
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
)

// pooledRelevant is, for each of relevantParts, one regression on the rows of those sources alone whose nu_m for the outputs of the
// column is at least that part of the largest, with the target's samples among its rows, each as one of them. What is said of a sample,
// left out, is by the sources that the samples of the other folds choose: those which happen to fit a few samples would else predict
// these too well. Where all sources have a part, the regression is that on the rows of all, and not said again. There is none where the
// sources lack a class that others have, relevance is not [Transfer], or phi is not linear.
func (l *Learner) pooledRelevant(ctx context.Context, in Round, group []int, pooled *pooledFound, u units) ([][]prediction, error) {
	if l.relevance == nil || l.problem.Config.Representation != ClassLinear {
		return nil, nil
	}
	nu, fold := l.relevanceWithout(in.Target, group)
	counts := l.problem.columnCounts(in.Sources, group)
	all, labelled := make([]byte, len(counts)), make([]byte, len(counts)) // with rows, and with rows of the target's classes
	for m, of := range counts {
		all[m], labelled[m] = byte(min(1, of.rows)), byte(min(1, of.rows))
		if l.problem.Classifies() {
			labelled[m] = byte(min(1, sumInts(of.of)))
		}
	}
	var helps [][]prediction
	var before [][]string
	known := map[[2]string]*pooledFound{}
	for _, part := range relevantParts {
		var chosen []string // by all samples, and without each fold
		for _, v := range nu {
			chosen = append(chosen, string(relevantSources(v, labelled, part)))
		}
		same := func(was []string) bool { return slices.Equal(was, chosen) }
		if chosen[0] == string(all) || slices.ContainsFunc(before, same) || l.problem.Classifies() && !holdClasses(counts, chosen[0]) {
			continue
		}
		before = append(before, chosen)
		var found []*pooledFound
		for _, marks := range chosen {
			of, is := known[[2]string{marks, chosen[0]}] // at the penalty of these
			if !is {
				start := startAt(pooled, pooledStarts)
				if len(found) > 0 {
					start = startAt(found[0], 0)
				}
				var err error
				if of, err = l.onSources(ctx, in, group, marks, u, start); err != nil {
					return nil, err
				}
				known[[2]string{marks, chosen[0]}] = of
			}
			if of == nil { // of fewer than two rows; what the others say of a sample would be said too well
				break
			}
			found = append(found, of)
		}
		if len(found) == len(chosen) {
			helps = append(helps, leftOf(found[0].with[0], found[1:], fold))
		}
	}
	return helps, nil
}

// relevanceWithout is nu by all samples, and behind it without each fold of them, with the fold of each sample.
func (l *Learner) relevanceWithout(in Labelled, group []int) (nu [][]float64, fold []int) {
	fold = regress.Stratified(make([]int, len(in.Rows)), l.problem.together(in.Rows))
	for i := range fold { // twice as large as those that a prediction is left out in: each costs regressions
		fold[i] %= relevantFolds
	}
	nu = [][]float64{l.relevance(group, nil)}
	for f := range slices.Max(fold) + 1 {
		times := make([]float64, len(fold))
		for _, i := range regress.SamplesWithout(fold, f) {
			times[i] = 1
		}
		nu = append(nu, l.relevance(group, times))
	}
	return nu, fold
}

// onSources regresses on the rows of the marked sources.
func (l *Learner) onSources(ctx context.Context, in Round, group []int, marks string, u units, by pooledSearch) (*pooledFound, error) {
	in.Sources = slices.Clone(in.Sources)
	for m := range in.Sources {
		if marks[m] == 0 {
			in.Sources[m] = Labelled{}
		}
	}
	if l.problem.Classifies() {
		return l.regressPooled(ctx, in, group, u, by)
	}
	return l.regressSquared(in, group, u, relevantRows)
}

// startAt starts at another regression, of classes, and goes so many steps from there.
func startAt(other *pooledFound, steps int) pooledSearch {
	return pooledSearch{other.point, steps, addedWeights[:1]}
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
func holdClasses(counts []columnCount, marks string) bool {
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
func leftOf(help []prediction, of []*pooledFound, fold []int) []prediction {
	out := slices.Clone(help)
	for j := range out {
		out[j].left, out[j].logits = slices.Clone(out[j].left), slices.Clone(out[j].logits)
		for i, f := range fold {
			out[j].left[i] = of[f].with[0][j].left[i]
			if out[j].logits != nil {
				out[j].logits[i] = of[f].with[0][j].logits[i]
			}
		}
	}
	return out
}
