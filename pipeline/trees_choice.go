package pipeline

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/pipeline/internal/boost"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

const (
	// treeFolds is the number of folds that are left out in turn.
	treeFolds = 5
	// treeStages is the largest number of stages of a forest, and sourceStages that of one on the rows of one source.
	treeStages, sourceStages = 5, 2
)

// treeParts are the parts of the sources whose rows are tried: all, the nearer half, the nearest quarter and eighth.
var treeParts = []int{1, 2, 4, 8}

// fit fits trees and writes predictions of the samples to left, by output and sample. fold holds the fold of each sample.
// Sources are near to the target by how well trees on their rows alone predict the target's samples. Trees are fitted to
// the rows of each part of the sources, with the samples of all folds but one, by which the part is chosen too; part and
// number of trees are then those that make the samples the likeliest, for the forest those of all folds, and for the
// predictions of a fold those of the others. A part must make them e times as likely as a part of twice the size.
func (t *treeRows) fit(ctx context.Context, fold []int, left [][]float32) (*boost.Forest, error) {
	alone, err := t.bySources(ctx)
	if err != nil {
		return nil, err
	}
	folds := make([][]int, min(treeFolds, slices.Max(fold)+1)) // rows of the target in each
	for k, i := range t.samples {
		f := fold[i] % len(folds)
		folds[f] = append(folds[f], t.first+k)
	}
	said := make([][][][]float64, len(folds)) // by fold, part and stage
	work, within := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for f, rows := range folds {
		said[f] = make([][][]float64, len(treeParts))
		for at, part := range treeParts {
			if at > 0 && len(t.sources) < part {
				continue
			}
			work.Go(func() (err error) {
				kept := t.rows(alone, part, rows)
				said[f][at], err = boost.LeftOut(within, t.columns, t.y, t.start(kept), len(t.group), t.kind, kept, rows, treeStages)
				return err
			})
		}
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	// best returns the part and the stage that make the samples of all folds but one the likeliest.
	best := func(without int) (part, stage int) {
		least := math.Inf(1)
		for at := range treeParts {
			for s := range said[0][at] {
				sum, n := 0.0, 0
				for f, rows := range folds {
					if f != without {
						sum, n = sum+t.loss(rows, said[f][at][s]), n+len(rows)
					}
				}
				if t.kind == boost.Numbers {
					sum = float64(n) / 2 * math.Log(sum)
				}
				if sum += float64(at); sum < least {
					part, stage, least = at, s, sum
				}
			}
		}
		return part, stage
	}
	for f, rows := range folds {
		part, stage := best(f)
		for at, row := range rows {
			for j, c := range t.group {
				left[c][t.samples[row-t.first]] = float32(said[f][part][stage][at*len(t.group)+j])
			}
		}
	}
	part, stage := best(-1)
	rows := t.rows(alone, treeParts[part], nil)
	start := t.start(rows)
	f, err := boost.Fit(ctx, t.columns, t.y, start, len(t.group), t.kind, rows, stage+1)
	if err == nil {
		for k := range t.group {
			f.Start[k] = float32(start[t.first*len(t.group)+k])
		}
	}
	return f, err
}

// bySources returns for each source the loss of each row of the target by trees on the rows of the source alone.
func (t *treeRows) bySources(ctx context.Context) ([][]float64, error) {
	var target []int
	for k := range t.samples {
		target = append(target, t.first+k)
	}
	losses := make([][]float64, len(t.sources))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for m, rows := range t.sources {
		work.Go(func() error {
			start := t.start(slices.Concat(rows, t.rows(nil, 1, nil)))
			said, err := boost.LeftOut(ctx, t.columns, t.y, start, len(t.group), t.kind, rows, target, sourceStages)
			if err != nil {
				return err
			}
			n := len(t.group)
			for k, row := range target {
				losses[m] = append(losses[m], t.loss([]int{row}, said[sourceStages-1][k*n:][:n]))
			}
			return nil
		})
	}
	return losses, work.Wait()
}

// rows returns the rows of one part of the sources, those with the least losses for the target's rows that are not left
// out, and these rows. alone holds the losses for all rows of the target.
func (t *treeRows) rows(alone [][]float64, part int, left []int) []int32 {
	out, sums, order := map[int]bool{}, make([]float64, len(alone)), upTo(len(alone))
	for _, row := range left {
		out[row-t.first] = true
	}
	for m, of := range alone {
		for k, v := range of {
			if !out[k] {
				sums[m] += v
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(sums[a], sums[b]) })
	var rows []int32
	for _, m := range order[:(len(order)+part-1)/part] {
		rows = append(rows, t.sources[m]...)
	}
	for k := range t.samples {
		if !out[k] {
			rows = append(rows, int32(t.first+k))
		}
	}
	slices.Sort(rows)
	return rows
}

// loss returns the sum of the losses of predictions for rows: squares of numbers, and -log of the probability of classes.
func (t *treeRows) loss(rows []int, said []float64) (sum float64) {
	for at, row := range rows {
		y, of := t.y[row*len(t.group):][:len(t.group)], said[at*len(t.group):][:len(t.group)]
		if t.kind == boost.Classes {
			sum += regress.LogOfLabels(y, slices.Clone(of), 0)
			continue
		}
		for j, v := range of {
			sum += (v - y[j]) * (v - y[j])
		}
	}
	return sum
}
