package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

const (
	// treeLeast and treeRowsMost are the least and the largest number of the sources' rows that trees are fitted to, and
	// between these there are as many as have [boost.Cells] cells times outputs. A round with more leaves out rows that its
	// sources gave last.
	treeLeast    = 2000
	treeRowsMost = 20_000
	// treeColumns is the largest number of columns times outputs with which trees are fitted by default.
	treeColumns = 8192
	// treeOutputs is the largest number of columns of numbers and of classes that trees are fitted for: each has trees of
	// its own.
	treeOutputs = 32
)

// hasTable reports whether the features of a set are columns of a table, or words in them, with a name each.
func hasTable(set *dataset.Set) bool {
	return set.Columns != nil && len(set.Columns.Features) == set.Pools[0].Cols && set.Pools[0].Height == 0
}

// countOutputs returns the number of different outputs of a set.
func countOutputs(set *dataset.Set) int {
	outputs := map[dataset.Output]bool{}
	for _, t := range set.Tasks {
		outputs[t.Output] = true
	}
	return len(outputs)
}

// suitsTrees reports whether a table is narrow enough for trees by default.
func suitsTrees(set *dataset.Set) bool {
	n := countOutputs(set)
	return n <= treeOutputs && n*ownColumns(set) <= treeColumns
}

// checkTrees returns an error where Trees cannot be fitted.
func (c *Config) checkTrees(set *dataset.Set) error {
	switch {
	case c.Sources != SourcesPools || c.Representation != ClassLinear || !hasTable(set):
		return fmt.Errorf("method %s needs sources %s, representation %s, and features that are columns of a table", Trees, SourcesPools,
			ClassLinear)
	case countOutputs(set) > treeOutputs:
		return fmt.Errorf("method %s: expected at most %d classes and columns of numbers to predict, found more", Trees, treeOutputs)
	}
	return nil
}

// ownColumns returns the number of features of a table that are not computed from others.
func ownColumns(set *dataset.Set) int { return set.Pools[0].Cols - set.Columns.Derived.Count() }

// treeRows holds the rows that trees are fitted to for the outputs of one column of labels: those of sources, and then
// the target's samples.
type treeRows struct {
	columns *boost.Columns
	kind    boost.Kind
	group   []int     // the outputs of the target
	y       []float64 // a label of each output, in the units of the data, row after row; NaN is none
	sources [][]int32 // the rows of each source
	first   int       // the first row of the target
	samples []int     // of each row of the target, its place among the target's samples
	fitted  []bool    // whether each row of the target is fitted, and not only predicted
	// evidence multiplies log-likelihoods of the target's samples, where some belong together.
	evidence float64
}

// fitTrees fits gradient-boosted trees for each column of the target's labels to the rows of sources with labels of the
// column, as [Learner.learnPooled] takes them, and to the target's samples, by the columns of the table as they are. Labels
// are in the units of the data. Five times a part of the samples is left out: the others choose the sources and the number
// of trees, by the loss of their own predictions.
func (l *Learner) fitTrees(ctx context.Context, in Round) (*fittedBeside, error) {
	p := l.problem
	outputs, d := len(p.Target.Tasks), ownColumns(p.Set)
	forest := &boost.Forest{Group: p.targetColumns(), Classes: p.Classifies(), Start: make([]float32, outputs),
		Gain: make([]float64, outputs*d)}
	found := p.newBeside(in.Target)
	found.forest = forest
	for _, group := range p.columnGroups() {
		of, err := p.treeRows(in, group).fit(ctx, l.data.threads, found.fold, found.left)
		if err != nil {
			return nil, err
		}
		for j, c := range group {
			forest.Start[c] = of.Start[j]
			gain := forest.Gain[c*d:][:d]
			copy(gain, of.Gain[j*d:])
			if sum := floats.Sum(gain); sum > 0 {
				floats.Scale(1/sum, gain)
			}
		}
		for _, t := range of.Trees {
			t.Output = group[t.Output]
			forest.Trees = append(forest.Trees, t)
		}
		found.trees += len(of.Trees) / len(group)
	}
	return found, nil
}

// treeRows returns the rows and labels of a round for one column. Of several classes
// only rows of one of the target's are fitted, with the labels of the others, known or not; samples of none of them, or of
// which that is not known, are predicted.
func (p *Problem) treeRows(in Round, group []int) *treeRows {
	d, c, outputs := ownColumns(p.Set), len(group), len(p.Target.Tasks)
	rows, y := p.pooledRows(in.Sources, group, math.MaxInt)
	if c > 1 {
		rows, y = withClass(rows, y, c)
	}
	t := &treeRows{group: group, sources: make([][]int32, len(p.Sources)), evidence: 1}
	if groups, effective := p.Groups(in.Target.Rows); groups > 0 {
		t.evidence = effective / float64(len(in.Target.Rows))
	}
	at, counts := map[int]int{}, make([]int, len(p.Sources))
	for m, s := range p.Sources {
		at[s.Pool] = m
	}
	for _, r := range rows {
		counts[at[r.pool]]++
	}
	rows, y = firstRows(rows, y, c, counts, p.SourceNames(), min(treeRowsMost, max(treeLeast, boost.Cells/(d*c))))
	t.first = len(rows)
	for i, r := range rows {
		t.sources[at[r.pool]] = append(t.sources[at[r.pool]], int32(i))
	}
	for i, r := range in.Target.Rows {
		labels := completed(elementsAt(in.Target.Y[i*outputs:(i+1)*outputs], group))
		if !slices.ContainsFunc(labels, func(v float64) bool { return v == v }) {
			continue
		}
		is := slices.Contains(labels, 1)
		rows, t.samples = append(rows, poolRow{p.Target.Pool, int(r)}), append(t.samples, i)
		y, t.fitted = append(y, labels...), append(t.fitted, is || !slices.ContainsFunc(labels, math.IsNaN) && (c == 1 || !p.Classifies()))
	}
	t.y = y
	if p.Classifies() {
		t.kind = boost.Classes
	}
	x, row := make([]float32, 0, len(rows)*d), make([]float32, p.Set.Pools[0].Cols)
	for _, r := range rows {
		p.Set.Pools[r.pool].ReadRow(r.row, row)
		x = append(x, row[:d]...)
	}
	t.columns = boost.NewColumns(x, d)
	of := slices.Repeat([]int32{int32(len(p.Sources))}, len(rows)) // the target's number is the last
	for m, own := range t.sources {
		for _, i := range own {
			of[i] = int32(m)
		}
	}
	t.columns.SplitBySource(of, len(p.Sources)+1, len(p.Sources))
	return t
}

// withClass returns the rows that are of one of several classes, and their labels.
func withClass(rows []poolRow, y []float64, classes int) (of []poolRow, labels []float64) {
	for i, r := range rows {
		if own := y[i*classes:][:classes]; slices.Contains(own, 1) {
			of, labels = append(of, r), append(labels, own...)
		}
	}
	return of, labels
}

// probabilities converts log-odds.
func probabilities(odds [][]float32) [][]float32 {
	out := make([][]float32, len(odds))
	for c, of := range odds {
		out[c] = make([]float32, len(of))
		for i, v := range of {
			out[c][i] = float32(regress.Sigmoid(float64(v)))
		}
	}
	return out
}
