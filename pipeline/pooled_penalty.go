package pipeline

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// penaltyFolds is the number of folds of [Learner.penaltyOfRows].
const penaltyFolds = 3

// penaltyOfRows returns the penalty of a [pooledLogistic], of start times a power of ten, at which fits to the rows of other folds make the
// labels y of rows most likely, by [downhill], and the negative logarithm of their likelihood there. It takes the place of the one that the
// target's samples choose where these cannot choose, as those of a single class.
func (l *Learner) penaltyOfRows(ctx context.Context, rows []poolRow, y []float64, group []int, each []float32, rest, start float64,
	most int) (at, least float64, err error) {
	tmp := backend.NewScope(l.queue)
	defer tmp.Close()
	c := len(group)
	fold := l.problem.dealRows(rows)
	type part struct {
		r     *pooledLogistic
		gram  pooledGram
		left  *mat.Dense // rows of the fold, and their classes
		class []int
		fit   classesFit
	}
	var parts []part
	for k := range penaltyFolds {
		var kept, left []poolRow
		var keptY, leftY []float64
		for i, row := range rows {
			if of := y[i*c : (i+1)*c]; fold[i] == k {
				left, leftY = append(left, row), append(leftY, of...)
			} else {
				kept, keptY = append(kept, row), append(keptY, of...)
			}
		}
		if len(kept) < 2 || len(left) == 0 {
			continue
		}
		r, gram, err := l.poolRows(tmp, kept, keptY, c, each)
		if err != nil {
			return 0, 0, err
		}
		r.logits.Rest = rest
		x := mat.NewDense(len(left), len(gram.centre), l.problem.centred(left, gram.centre, each))
		parts = append(parts, part{r, gram, x, regress.ClassesOf(leftY, c), r.empty()})
	}
	loss := func(lambda float64) (sum float64, err error) {
		for k := range parts {
			of := &parts[k]
			if of.fit, err = of.r.fit(ctx, lambda, of.fit); err != nil {
				return 0, err
			}
			sum += l.problem.unlikely(of.r.logits, of.r.say(of.fit, of.gram, of.left).z, of.class, regress.Ungrouped(len(of.class)))
		}
		return sum, nil
	}
	return downhill(start, most, loss)
}

// dealRows returns the fold of each row. The rows of a pool are dealt to the folds in turn, in random order, and those of a group to one.
func (p *Problem) dealRows(rows []poolRow) []int {
	type key struct {
		pool  int
		group int32
	}
	fold, dealt, of := make([]int, len(rows)), map[int]int{}, map[key]int{} // how many of a pool are dealt, and the fold of each group
	for _, i := range stream(p.Config.Seed, "penalty", p.TargetName()).Perm(len(rows)) {
		pool, group := rows[i].pool, int32(-1)
		if groups := p.Set.Pools[pool].Groups; groups != nil {
			group = groups[rows[i].row]
		}
		to, known := of[key{pool, group}]
		if group < 0 || !known {
			to = dealt[pool] % penaltyFolds
			dealt[pool]++
		}
		if group >= 0 {
			of[key{pool, group}] = to
		}
		fold[i] = to
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
