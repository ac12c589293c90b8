package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// UnseenClasses says which classes sources have and none of the target's samples is of. There are none where sources are tasks.
func (p *Problem) UnseenClasses() []dataset.Oddity {
	return p.unseen(p.Set.UnseenClasses(p.Target.Pool, p.draws.target), len(p.draws.target), len(p.draws.test) > 0)
}

// UnseenIn is [Problem.UnseenClasses] among the labels of a round.
func (p *Problem) UnseenIn(in Round) []dataset.Oddity {
	set := &dataset.Set{Binary: p.Set.Binary, Columns: p.Set.Columns}
	add := func(s Source, l Labelled) {
		set.Pools = append(set.Pools, &dataset.Pool{Rows: len(l.Rows), Target: s.Pool == p.Target.Pool})
		for j, task := range s.Tasks {
			t := dataset.Task{Pool: len(set.Pools) - 1, Output: p.Set.Tasks[task].Output, Labels: make([]float32, len(l.Rows))}
			for i := range l.Rows {
				if y := l.Y[i*len(s.Tasks)+j]; y == y {
					t.Labels[i], t.Train = y, append(t.Train, int32(i))
				}
			}
			set.Tasks = append(set.Tasks, t)
		}
	}
	for m, s := range p.Sources {
		add(s, in.Sources[m])
	}
	add(p.Target, in.Target)
	return p.unseen(set.UnseenClasses(len(p.Sources), nil), len(in.Target.Rows), len(in.Test.Rows) > 0)
}

// unseen says which classes are unseen. tested says whether the error is measured on other rows of the target than its samples.
func (p *Problem) unseen(list []dataset.Unseen, samples int, tested bool) (out []dataset.Oddity) {
	if p.Config.Sources != SourcesPools {
		return nil
	}
	then := "a class without a sample is never predicted"
	if p.Classifies() {
		then = "what the model knows of that is from the sources alone"
	}
	if !tested {
		then += ", and the stated error counts no such row"
	}
	for _, u := range list {
		out = append(out, dataset.Oddity{Pool: p.TargetName(), Advice: then,
			Found: fmt.Sprintf("it has %s, none %s", text.Several(samples, "sample"), u)})
	}
	return out
}

// addUnseen gives the target an output for each class of its columns that sources have and the target has not: its rows
// with a label of the column are all of other classes. The predictions of these outputs come from one regression on the
// rows of all sources (see [Learner.stack]).
func (p *Problem) addUnseen() {
	if p.Config.Sources != SourcesPools || !p.Classifies() {
		return
	}
	known := map[dataset.Output]bool{}
	for _, t := range p.Target.Tasks {
		known[p.Set.Tasks[t].Output] = true
	}
	set := *p.Set
	set.Tasks = slices.Clone(set.Tasks)
	var all []int
	for _, group := range classGroups(p.Set, p.Target) {
		column := make([]int, len(group))
		for i, c := range group {
			column[i] = p.Target.Tasks[c]
		}
		like := set.Tasks[column[0]]
		for _, s := range p.Sources {
			for _, t := range s.Tasks {
				of := p.Set.Tasks[t].Output
				if of.Class == "" || of.Name != like.Output.Name || known[of] {
					continue
				}
				known[of] = true
				task := like
				task.Name, task.Output = strings.TrimSuffix(like.Name, like.Output.Class)+of.Class, of
				if like.Labels != nil {
					task.Labels = make([]float32, len(like.Labels))
				}
				column, set.Tasks = append(column, len(set.Tasks)), append(set.Tasks, task)
			}
		}
		sortClasses(&set, column)
		all = append(all, column...)
	}
	if len(all) > len(p.Target.Tasks) {
		p.Set, p.Target.Tasks = &set, all
	}
}

// sortClasses sorts tasks, the classes of one column, by the order of the classes, where the set has one.
func sortClasses(set *dataset.Set, tasks []int) {
	if set.Columns == nil {
		return
	}
	for _, l := range set.Columns.Labels {
		if l.Name == set.Tasks[tasks[0]].Output.Name {
			slices.SortStableFunc(tasks, func(a, b int) int {
				return slices.Index(l.Classes, set.Tasks[a].Output.Class) - slices.Index(l.Classes, set.Tasks[b].Output.Class)
			})
		}
	}
}

// hasOthers reports whether the column of an output has other outputs of the target.
func (p *Problem) hasOthers(output int) bool {
	columns := p.targetColumns()
	for c, column := range columns {
		if c != output && column == columns[output] {
			return true
		}
	}
	return false
}

// divide splits the outputs of p into seen and unseen ones. Unseen are the classes without a row that have other
// outputs in their column. Where all outputs would be unseen, all count as seen.
func (p labelGroup) divide(hasOthers func(output int) bool) (seen, unseen labelGroup) {
	var of [2][]int // indices of the seen and of the unseen outputs
	for i, c := range p.outputs {
		at := 0
		if hasOthers(c) && !slices.Contains(p.column(i, len(p.outputs)), 1) {
			at = 1
		}
		of[at] = append(of[at], i)
	}
	if len(of[0]) == 0 || len(of[1]) == 0 {
		return p, labelGroup{}
	}
	return p.some(of[0]), p.some(of[1])
}

// some returns p with the outputs at the given indices alone.
func (p labelGroup) some(places []int) labelGroup {
	out := labelGroup{Labelled: Labelled{Rows: p.Rows, Y: make([]float32, 0, len(p.Rows)*len(places))}}
	for _, i := range places {
		out.outputs = append(out.outputs, p.outputs[i])
	}
	for row := range slices.Chunk(p.Y, len(p.outputs)) {
		for _, i := range places {
			out.Y = append(out.Y, row[i])
		}
	}
	return out
}

// fitUnseen returns heads of length width for classes without a row: zero by squared loss, and for classification an
// intercept alone, so that the log-odds are the same for all rows.
func (p *Problem) fitUnseen(in labelGroup, width int) []headFit {
	fits := make([]headFit, len(in.outputs))
	for i := range in.outputs {
		odds := regress.LogOdds(0, p.groupsOf(in.Rows).Count())
		head := make([]float32, width)
		head[p.Config.K] = float32(odds)
		fits[i].residuals = make([]float64, len(in.Rows))
		fits[i].classify(prediction{head: head, left: slices.Repeat([]float64{odds}, len(in.Rows))})
	}
	return fits
}

// scarce reports whether fewer than two rows have the label 1, or fewer than two the label 0: any direction separates
// one row from the rest. A group counts as one row.
func scarce[E float32 | float64](y []E, of regress.Groups) bool {
	ones := of.Distinct(func(i int) bool { return y[i] == 1 })
	return ones < 2 || of.Distinct(func(i int) bool { return y[i] != 1 }) < 2
}

// scarce reports whether the class of an output of the target is scarce among the samples that have its label.
func (p *Problem) scarce(in Labelled, output int) bool {
	outputs := len(p.Target.Tasks)
	return scarce(in.column(output, outputs), p.groupsOf(in.Rows).Some(in.labelled(output, outputs)))
}

// byFrequency returns log-odds of a class that are the same for all rows: those of the frequency of the label 1, and
// for each row left out those of its frequency among the rows outside its group. The head has length width, with the
// intercept at index k.
func byFrequency(y []float64, width, k int, of regress.Groups) prediction {
	n, ones := len(y), floats.Sum(y)
	out := prediction{head: make([]float32, width), left: make([]float64, n)}
	out.head[k] = float32(regress.LogOdds(ones/float64(n), of.Count()))
	for i, v := range y {
		out.left[i] = regress.LogOdds((ones-v)/float64(max(1, n-1)), of.Count()-1)
	}
	for group := range of.Several() {
		own := 0.0
		for _, i := range group {
			own += y[i]
		}
		for _, i := range group {
			out.left[i] = regress.LogOdds((ones-own)/float64(max(1, n-len(group))), of.Count()-1)
		}
	}
	return out
}

// replaceScarce replaces the frequencies that predict the scarce classes of a column, which are the same for all rows, by the
// predictions g of the regression on the rows of all sources. g has heads of logits. They become log-odds,
// approximately, by subtracting the mean difference of the two over the target's rows.
func (f *headFit) replaceScarce(p *Problem, in Labelled, group []int, of []*headFit, g []prediction) {
	for j, c := range group {
		if !p.scarce(in, c) {
			continue
		}
		differ, n := 0.0, 0
		for i, left := range g[j].left {
			if d := g[j].logits[i] - left; d == d {
				differ, n = differ+d, n+1
			}
			f.left[c][i] = float32(left)
		}
		of[c].final = slices.Clone(g[j].head)
		of[c].final[p.Config.K] -= float32(differ / float64(max(1, n)))
	}
}

// seenLabels returns a copy of y, the labels of the target's outputs, row after row, with NaN for each class that no
// row is of and that has others in its column.
func (p *Problem) seenLabels(y []float32) []float32 {
	out, c := slices.Clone(y), len(p.Target.Tasks)
	for i := range c {
		seen := !p.hasOthers(i)
		for j := i; j < len(y); j += c {
			seen = seen || y[j] == 1
		}
		for j := i; j < len(y) && !seen; j += c {
			out[j] = float32(math.NaN())
		}
	}
	return out
}

// countNovel returns how many classes of a column the target's samples are of, and how many of these no source has a row of.
func (p *Problem) countNovel(in Round, group []int) (sampled, novel int) {
	outputs, theirs := len(p.Target.Tasks), p.columnCounts(in.Sources, group)
	for j, c := range group {
		if !slices.Contains(in.Target.column(c, outputs), 1) {
			continue
		}
		sampled++
		if !slices.ContainsFunc(theirs, func(of columnCount) bool { return of.of[j] > 0 }) {
			novel++
		}
	}
	return sampled, novel
}
