package pipeline

import (
	"cmp"
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/pipeline/internal/boost"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

const (
	// treeFolds is the number of folds that are left out in turn.
	treeFolds = 5
	// halving is what a part of the sources must gain in log-likelihood over one of twice the size: trees split by source too.
	halving = 2
	// treeStages is the largest number of stages of a forest, and sourceStages that of one on the rows of one source.
	treeStages, sourceStages = 5, 2
	// leastToSplit is the least number of rows of a source whose trees say something about the target.
	leastToSplit = 2 * boost.LeastRows
)

// treeParts are the parts of the sources whose rows are tried: all, the nearer half, the nearest quarter and eighth.
var treeParts = []int{1, 2, 4, 8}

// fit fits trees and writes predictions of the samples to left, by output and sample. fold holds the fold of each sample.
// Sources are near to the target by how well trees on their rows alone predict the target's samples. Trees are fitted to
// the rows of each part of the sources, with the samples of all folds but one, by which the part is chosen too; part and
// number of trees are then those that make the samples the likeliest, for the forest those of all folds, and for the
// predictions of a fold those of the others. A part must make them e^halving times as likely as a part of twice the size.
func (t *treeRows) fit(ctx context.Context, threads int, fold []int, left [][]float32) (*boost.Forest, error) {
	alone, err := t.bySources(ctx, threads)
	if err != nil {
		return nil, err
	}
	parts := treeParts
	for len(parts) > 1 && len(alone.sources) < parts[len(parts)-1] {
		parts = parts[:len(parts)-1]
	}
	folds := make([][]int, slices.Max(fold)+1) // rows of the target in each
	for k, i := range t.samples {
		folds[fold[i]] = append(folds[fold[i]], t.first+k)
	}
	predicted := make([][][][]float64, len(folds)) // by fold, part and stage
	work, within := errgroup.WithContext(ctx)
	work.SetLimit(threads)
	for f, rows := range folds {
		predicted[f] = make([][][]float64, len(parts))
		for at, part := range parts {
			work.Go(func() (err error) {
				kept := t.rows(alone, part, rows)
				start, _ := t.start(kept)
				predicted[f][at], err = boost.LeftOut(within, t.columns, t.y, start, len(t.group), t.kind, kept, rows, treeStages)
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
		for at := range parts {
			for s := range treeStages {
				sum, n := 0.0, 0
				for f, rows := range folds {
					if f != without {
						sum, n = sum+t.loss(rows, predicted[f][at][s]), n+len(rows)
					}
				}
				if t.kind == boost.Numbers && n > 0 {
					sum = float64(n*len(t.group)) / 2 * math.Log(sum)
				}
				if sum = t.evidence*sum + halving*float64(at); sum < least {
					part, stage, least = at, s, sum
				}
			}
		}
		return part, stage
	}
	for f, rows := range folds {
		part, stage := best(f)
		for at, row := range rows {
			of := predicted[f][part][stage][at*len(t.group):][:len(t.group)]
			for j, v := range t.predictions(of) {
				left[t.group[j]][t.samples[row-t.first]] = float32(v)
			}
		}
	}
	part, stage := best(-1)
	rows := t.rows(alone, parts[part], nil)
	start, ofTarget := t.start(rows)
	f, err := boost.Fit(ctx, t.columns, t.y, start, len(t.group), t.kind, rows, stage+1)
	if err == nil {
		for k, v := range ofTarget {
			f.Start[k] = float32(v)
		}
	}
	return f, err
}

// predictions returns predictions of the outputs as [boost.Forest.Predict] does, from what [boost.LeftOut] predictions of a row.
func (t *treeRows) predictions(of []float64) []float64 {
	of = slices.Clone(of)
	if t.kind == boost.Classes && len(of) > 1 {
		boost.ToLogOdds(of)
	}
	return of
}

// aloneTrees holds what trees on the rows of single sources say about the target's rows.
type aloneTrees struct {
	// sources are those with rows enough for trees, and rest are the others.
	sources, rest []int
	// predicted holds for each of sources what its trees add to the level of each row of the target, output after output.
	predicted [][]float64
}

func (t *treeRows) bySources(ctx context.Context, threads int) (*aloneTrees, error) {
	a := &aloneTrees{}
	for m, rows := range t.sources {
		if len(rows) < leastToSplit {
			a.rest = append(a.rest, m)
			continue
		}
		a.sources = append(a.sources, m)
	}
	var target []int
	for k := range t.samples {
		target = append(target, t.first+k)
	}
	a.predicted = make([][]float64, len(a.sources))
	if len(a.sources) < 2 {
		return a, nil // there is no choice
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(threads)
	for i, m := range a.sources {
		work.Go(func() error {
			start, _ := t.start(t.sources[m])
			clear(start[t.first*len(t.group):])
			predicted, err := boost.LeftOut(ctx, t.columns, t.y, start, len(t.group), t.kind, t.sources[m], target, sourceStages)
			if err == nil {
				a.predicted[i] = predicted[sourceStages-1]
			}
			return err
		})
	}
	return a, work.Wait()
}

// rows returns the rows of one part of the sources, the nearest by the target's samples that are not left out, and these
// samples. left holds rows of the target, ascending.
func (t *treeRows) rows(alone *aloneTrees, part int, left []int) []int32 {
	var kept []int32
	for k := range t.samples {
		row := t.first + k
		if _, is := slices.BinarySearch(left, row); t.fitted[k] && !is {
			kept = append(kept, int32(row))
		}
	}
	rows, sources := kept, alone.sources
	if part == 1 {
		for _, m := range alone.rest {
			rows = append(rows, t.sources[m]...)
		}
	} else {
		sources = t.nearest(alone, part, kept)
	}
	for _, m := range sources {
		rows = append(rows, t.sources[m]...)
	}
	slices.Sort(rows)
	return rows
}

// nearest returns one part of the sources with rows enough, those whose trees predict kept, rows of the target, best.
func (t *treeRows) nearest(alone *aloneTrees, part int, kept []int32) []int {
	c := len(t.group)
	_, level := t.start(kept)
	sums, order := make([]float64, len(alone.sources)), upTo(len(alone.sources))
	for i, predicted := range alone.predicted {
		for _, row := range kept {
			of := slices.Clone(predicted[(int(row)-t.first)*c:][:c])
			for k := range of {
				of[k] += level[k]
			}
			sums[i] += t.loss([]int{int(row)}, of)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(sums[a], sums[b]) })
	var sources []int
	for _, i := range order[:(len(order)+part-1)/part] {
		sources = append(sources, alone.sources[i])
	}
	return sources
}

// loss returns the sum of the losses of what [boost.LeftOut] says of rows: squares of numbers, and -log of the probability
// of classes.
func (t *treeRows) loss(rows []int, predicted []float64) (sum float64) {
	c := len(t.group)
	for at, row := range rows {
		y, of := t.y[row*c:][:c], t.predictions(predicted[at*c:][:c])
		if t.kind == boost.Classes {
			sum += regress.LogOfLabels(y, of, 0)
			continue
		}
		for j, v := range of {
			if e := v - y[j]; e == e {
				sum += e * e
			}
		}
	}
	return sum
}
