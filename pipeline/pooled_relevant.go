package pipeline

import (
	"context"
	"math"
	"slices"

	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// relevantParts holds the fractions of the largest relevance from which on [Learner.pooledRelevant] takes the rows of a source.
var relevantParts = []float64{0.8, 0.4}

// singleMost is the largest number of sources of which each has a regression of numbers on its rows alone.
var singleMost = 16

const (
	// relevantFolds is the number of folds of the samples: the sources for the samples of a fold are chosen by the other folds.
	relevantFolds = 5
	// relevantRows is the largest number of rows of a regression of numbers, of which there is up to one for each part and fold.
	relevantRows = 1 << 16
	// singleLeast is the least number of rows of a source that has a regression of numbers on its rows alone.
	singleLeast = 20
	// enoughOfClass is the number of rows that is enough to learn a class from.
	enoughOfClass = 10
)

// pooledRelevant returns, for each of relevantParts, one regression on the rows of those sources alone whose nu_m for the outputs of the
// column is at least that part of the largest, with each of the target's samples added as one row. The leave-one-out prediction of a sample
// uses the sources that the samples of the other folds choose: sources that happen to fit a few samples would otherwise predict these too
// well. A part is skipped if all sources have it, since its regression is the one on the rows of all, if it has the same sources as a part
// before, or if its sources lack a class that others have. For numbers there is one for each source too ([singleSources]). There are no
// regressions where relevance is not [Transfer] or phi is not linear.
func (l *Learner) pooledRelevant(ctx context.Context, in Round, group []int, pooled *pooledFound, u units) ([][]prediction, error) {
	if l.relevance == nil || l.problem.Config.Representation != ClassLinear {
		return nil, nil
	}
	nu, fold := l.relevanceWithout(in.Target, group)
	counts := l.problem.columnCounts(in.Sources, group)
	all, labelled := make([]byte, len(counts)), make([]byte, len(counts)) // sources with rows, and with rows of the target's classes
	for m, of := range counts {
		all[m], labelled[m] = byte(min(1, of.rows)), byte(min(1, of.rows))
		if l.problem.Classifies() {
			labelled[m] = byte(min(1, sumInts(of.of)))
		}
	}
	var models [][]prediction
	var before [][]string
	known := map[[2]string]*pooledFound{}
	var choices [][]string // sources chosen by all samples, and without each fold
	for _, part := range relevantParts {
		var chosen []string
		for _, v := range nu {
			chosen = append(chosen, string(relevantSources(v, labelled, part)))
		}
		choices = append(choices, chosen)
	}
	if !l.problem.Classifies() {
		for _, marks := range singleSources(counts) {
			choices = append(choices, slices.Repeat([]string{marks}, len(nu)))
		}
	}
	for _, chosen := range choices {
		same := func(was []string) bool { return slices.Equal(was, chosen) }
		if chosen[0] == string(all) || slices.ContainsFunc(before, same) || l.problem.Classifies() && !holdClasses(counts, chosen[0]) {
			continue
		}
		before = append(before, chosen)
		var found []*pooledFound
		for _, marks := range chosen {
			of, is := known[[2]string{marks, chosen[0]}] // at the penalty of those chosen by all
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
			if of == nil { // fewer than two rows; the other regressions would predict the fold too well
				break
			}
			found = append(found, of)
		}
		if len(found) == len(chosen) {
			models = append(models, leftOf(found[0].with[0], found[1:], fold))
		}
	}
	return models, nil
}

// relevanceWithout returns nu by all samples, followed by nu without each fold of them, and the fold of each sample.
func (l *Learner) relevanceWithout(in Labelled, group []int) (nu [][]float64, fold []int) {
	fold = regress.Stratified(make([]int, len(in.Rows)), l.problem.groupsOf(in.Rows))
	for i := range fold { // twice as large as the folds that predictions leave out: each costs regressions
		fold[i] %= relevantFolds
	}
	relevance := l.relevance.of(group)
	nu = [][]float64{relevance.nu(relevance.heads, nil)}
	for f := range slices.Max(fold) + 1 {
		times := make([]float64, len(fold))
		for _, i := range regress.SamplesWithout(fold, f) {
			times[i] = 1
		}
		nu = append(nu, relevance.nu(relevance.heads, times))
	}
	return nu, fold
}

// onSources fits the regression to the rows of the marked sources.
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
	return l.regressSquared(ctx, in, group, u, relevantRows)
}

// startAt returns a search of a regression of classes that starts at another regression and takes at most the given steps.
func startAt(other *pooledFound, steps int) pooledSearch {
	return pooledSearch{other.point, steps, addedWeights[:1]}
}

// columnCount holds the number of rows that a source has for the regression of a column, and the number of these in each class.
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

// holdClasses reports whether the marked sources have enoughOfClass rows of each class, or all rows of it. What is known about a class
// without a sample of the target comes from the rows of sources, and no sample would show that the class is missing.
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

// relevantSources marks the sources among the marked ones whose nu is at least part times the largest nu of these.
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

// singleSources marks each source alone that has singleLeast rows or more, in turn, where there are no more than singleMost sources. The
// sources above a part of the largest relevance may be some with few rows that are like the target, and one with many that has a bias.
func singleSources(counts []columnCount) (marks []string) {
	if len(counts) > singleMost {
		return nil
	}
	for m, of := range counts {
		if of.rows >= singleLeast {
			alone := make([]byte, len(counts))
			alone[m] = 1
			marks = append(marks, string(alone))
		}
	}
	return marks
}

// leftOf returns base with the leave-one-out prediction of each sample taken from the regression of its fold.
func leftOf(model []prediction, of []*pooledFound, fold []int) []prediction {
	out := slices.Clone(model)
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
