package pipeline

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

const (
	// penaltyFolds is the number of folds of [Learner.lossOfRows].
	penaltyFolds = 3
	// mostSay is the largest number of independent rows that have a say in a penalty, sayRows the largest number of rows that say it, and
	// enoughToChoose the number of independent samples of each class from which on they choose alone; see [Problem.sayOfRows].
	mostSay        = 150
	sayRows        = 1024
	enoughToChoose = 20
)

// sayOfRows returns how many independent rows have a say in the penalty of a regression of two classes, beside the samples:
//
//	min over lambda:  loss of the samples + say (mean loss of independent rows, by lossOfRows),
//	say = mostSay (1 - k/enoughToChoose), at least 0,
//
// for k samples of the class that has fewer. A few samples of a rare class, all of them right at any penalty, would choose one so small
// that other rows are far too sure. With three classes or more, those of the others tell the penalty. Where sources are tasks, rows of
// other classes take part by their positives alone, so that their mix is not the target's: then they have no say.
func (p *Problem) sayOfRows(class []int, groups regress.Groups, outputs int) float64 {
	if p.Config.Sources != SourcesPools || outputs > 2 {
		return 0
	}
	of := map[int][]int{}
	for i, c := range class {
		if c != regress.NoLabel {
			of[c] = append(of[c], i)
		}
	}
	fewer := math.Inf(1)
	for _, samples := range of {
		fewer = math.Min(fewer, groups.Some(samples).Effective())
	}
	return mostSay * math.Max(0, 1-fewer/enoughToChoose)
}

// penaltyOfRows returns the penalty of a [pooledLogistic], of start times a power of ten, with the least [Learner.lossOfRows], by
// [downhill], and that loss. It takes the place of the one that the target's samples choose where these cannot choose, as those of a single
// class.
func (l *Learner) penaltyOfRows(ctx context.Context, rows []poolRow, y []float64, group []int, each []float32, rest, start float64,
	most int) (at, least float64, err error) {
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	loss, err := l.lossOfRows(tmp, rows, y, group, each, rest)
	if err != nil {
		return 0, 0, err
	}
	return downhill(start, most, func(lambda float64) (float64, error) { return loss(ctx, lambda) })
}

// lossOfRows returns a function of the penalty of a [pooledLogistic]: the negative log-likelihood of the labels y of rows, each third left
// out of the fit that predicts it ([Problem.negLogLik]). What the fits need is allocated in tmp.
func (l *Learner) lossOfRows(tmp *backend.Scope, rows []poolRow, y []float64, group []int, each []float32,
	rest float64) (func(ctx context.Context, lambda float64) (float64, error), error) {
	c := len(group)
	groups := l.problem.groupsOfRows(rows)
	fold := l.problem.dealRows(rows, groups)
	type part struct {
		r      *pooledLogistic
		gram   pooledGram
		left   *mat.Dense // rows of the fold, their classes and groups
		class  []int
		groups regress.Groups
		fit    classesFit
	}
	var parts []part
	for k := range penaltyFolds {
		var kept, left []poolRow
		var keptY, leftY []float64
		var at []int
		for i, row := range rows {
			if of := y[i*c : (i+1)*c]; fold[i] == k {
				left, leftY, at = append(left, row), append(leftY, of...), append(at, i)
			} else {
				kept, keptY = append(kept, row), append(keptY, of...)
			}
		}
		if len(kept) < 2 || len(left) == 0 {
			continue
		}
		r, gram, err := l.poolRows(tmp, kept, keptY, c, each)
		if err != nil {
			return nil, err
		}
		r.logits.Rest = rest
		x := mat.NewDense(len(left), len(gram.centre), l.problem.centred(left, gram.centre, each))
		parts = append(parts, part{r, gram, x, regress.ClassesOf(leftY, c), groups.Some(at), r.empty()})
	}
	return func(ctx context.Context, lambda float64) (sum float64, err error) {
		for k := range parts {
			of := &parts[k]
			if of.fit, err = of.r.fit(ctx, lambda, of.fit); err != nil {
				return 0, err
			}
			sum += l.problem.negLogLik(of.r.logits, of.r.predict(of.fit, of.gram, of.left).z, of.class, of.groups)
		}
		return sum, nil
	}, nil
}

// groupsOfRows returns the groups of rows of several pools.
func (p *Problem) groupsOfRows(rows []poolRow) regress.Groups {
	type key struct {
		pool  int
		group int32
	}
	numbers, known := make([]int32, len(rows)), map[key]int32{}
	for i, r := range rows {
		numbers[i] = -1
		groups := p.Set.Pools[r.pool].Groups
		if groups == nil || groups[r.row] < 0 {
			continue
		}
		of := key{r.pool, groups[r.row]}
		if _, is := known[of]; !is {
			known[of] = int32(len(known))
		}
		numbers[i] = known[of]
	}
	return regress.GroupsOf(numbers)
}

// dealRows returns the fold of each row. The rows of a pool are dealt to the folds in turn, in random order, and those of a group to one.
func (p *Problem) dealRows(rows []poolRow, groups regress.Groups) []int {
	fold, dealt := make([]int, len(rows)), map[int]int{} // how many rows and groups of a pool are dealt
	of := slices.Repeat([]int{-1}, groups.Count())       // the fold of each group
	for _, i := range stream(p.Config.Seed, "penalty", p.TargetName()).Perm(len(rows)) {
		pool, group := rows[i].pool, i
		if groups.Group != nil {
			group = groups.Group[i]
		}
		if of[group] < 0 {
			of[group] = dealt[pool] % penaltyFolds
			dealt[pool]++
		}
		fold[i] = of[group]
	}
	return fold
}

// downhill returns the penalty with the least loss that it finds from start on, in up to most steps of a factor 10, first up and, if that
// is no better, down, and that loss.
func downhill(start float64, most int, loss func(lambda float64) (float64, error)) (best, least float64, err error) {
	best = start
	least, err = loss(start)
	if err != nil {
		return best, least, err
	}
	for _, by := range []float64{10, 0.1} {
		for steps := 1; steps <= most; steps++ {
			next := start * math.Pow(by, float64(steps))
			of, err := loss(next)
			if err != nil {
				return best, least, err
			}
			if !(of < least) {
				break
			}
			best, least = next, of
		}
		if best != start {
			break
		}
	}
	return best, least, nil
}
