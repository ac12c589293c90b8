package pipeline

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Labelled are rows of the pool of a source with their labels: row after row, one for
// each output of the source in the order of Source.Tasks, so that Y has
// len(Rows)*len(Tasks) elements. That of a class is 1 for rows of the class and 0 for
// others. NaN is a label that the row does not have; each row has at least one. A
// learner keeps both slices, which stay as they are.
type Labelled struct {
	Rows []int32
	Y    []float32
}

// of are the labels of a group of all outputs, row after row, NaN where there is none.
func (l Labelled) of(group []int, outputs int) []float64 {
	y := make([]float64, 0, len(l.Rows)*len(group))
	for i := range l.Rows {
		for _, c := range group {
			y = append(y, float64(l.Y[i*outputs+c]))
		}
	}
	return y
}

// some are the rows at some places, with their labels of all outputs.
func (l Labelled) some(places []int, outputs int) (out Labelled) {
	for _, i := range places {
		out.Rows, out.Y = append(out.Rows, l.Rows[i]), append(out.Y, l.Y[i*outputs:(i+1)*outputs]...)
	}
	return out
}

// column are the labels of output c that are there, of all outputs.
func (l Labelled) column(c, outputs int) []float32 {
	if outputs == 1 {
		return l.Y
	}
	var y []float32
	for i := c; i < len(l.Y); i += outputs {
		if v := l.Y[i]; v == v {
			y = append(y, v)
		}
	}
	return y
}

// labelled are the places of the rows that have a label of output c.
func (l Labelled) labelled(c, outputs int) []int {
	var places []int
	for i := range l.Rows {
		if v := l.Y[i*outputs+c]; v == v {
			places = append(places, i)
		}
	}
	return places
}

// labelCounts are the labels of each output of sources, in their order.
func labelCounts(sources []Source, in []Labelled) []int {
	var counts []int
	for m, s := range sources {
		for c := range s.Tasks {
			counts = append(counts, len(in[m].column(c, len(s.Tasks))))
		}
	}
	return counts
}

// labelGroup are rows that have labels of the same outputs: row after row, one for each of
// these, none missing.
type labelGroup struct {
	outputs []int
	Labelled
}

// parts divides labelled rows by outputs: each output is in one part, with all rows
// that have a label of it.
func (l Labelled) parts(outputs int) []labelGroup {
	if outputs == 1 {
		return []labelGroup{{[]int{0}, l}}
	}
	var parts []labelGroup
	for c := range outputs {
		var rows []int32
		for i, r := range l.Rows {
			if v := l.Y[i*outputs+c]; v == v {
				rows = append(rows, r)
			}
		}
		i := slices.IndexFunc(parts, func(p labelGroup) bool { return slices.Equal(p.Rows, rows) })
		if i < 0 {
			i, parts = len(parts), append(parts, labelGroup{Labelled: Labelled{Rows: rows}})
		}
		parts[i].outputs = append(parts[i].outputs, c)
	}
	for i := range parts {
		p := &parts[i]
		p.Y = make([]float32, len(p.Rows)*len(p.outputs))
		for j, c := range p.outputs {
			for row, y := range l.column(c, outputs) {
				p.Y[row*len(p.outputs)+j] = y
			}
		}
	}
	return parts
}

// CheckLabels refuses a set that has no labels of an output of the target or of a source, such as one whose labels are yet
// to be asked for. LookUp, TargetSamples and Solve take them from the set. A round that comes from elsewhere brings its own.
func (p *Problem) CheckLabels() error {
	for _, s := range append([]Source{p.Target}, p.Sources...) {
		for _, t := range s.Tasks {
			if task := &p.Set.Tasks[t]; task.Labels == nil {
				return fmt.Errorf("%s: %s: expected labels of the output %s, one for each row, found none", p.Set.Name, s.Name, task.Name)
			}
		}
	}
	return nil
}

// TargetSamples are the target's samples that each round of the problem has, with the
// labels of the data, NaN where it has none.
func (p *Problem) TargetSamples() Labelled { return p.Target.label(p.Set, p.draws.target) }

// TooFew says why the target's samples, each left out of its head, cannot choose a
// method, and nothing where they can: they must be at least five of some column, with two of each of
// at least two classes where it is of classes. What is left out is else never like
// what is kept. Of samples that belong together it is groups that count.
func (p *Problem) TooFew(in Labelled) string {
	n, groups, labels, ofEach := len(in.Rows), p.together(in.Rows), "", "two"
	samples := text.Several(n, "target sample")
	if groups.Group != nil {
		labels, ofEach = " groups", "two groups"
		samples += " in " + text.Several(groups.Count(), "group")
	}
	nothing := "the first method: " + samples + " " + text.Form(n, "tells", "tell") + " nothing"
	if groups.Count() < dataset.FewestSamples {
		return fmt.Sprintf("%s of which is best, expected at least %d%s", nothing, dataset.FewestSamples, labels)
	}
	if len(p.toldGroups(in)) > 0 {
		return ""
	}
	if !p.Set.Binary {
		if labels == "" {
			labels = " labels"
		} else {
			labels += " with a label"
		}
		return fmt.Sprintf("%s of which is best, expected at least %d%s of a column", nothing, dataset.FewestSamples, labels)
	}
	return nothing + " of which is best, expected " + ofEach + " of each of two classes"
}

// toldGroups are the outputs of each column of which the samples can choose what predicts it.
func (p *Problem) toldGroups(in Labelled) [][]int {
	return slices.DeleteFunc(classGroups(p.Set, p.Target), func(group []int) bool { return !p.tells(in, group) })
}

// comparedGroups are those by which methods are compared: of a column that tells nothing the best is to say that what the samples lack
// does not occur.
func (p *Problem) comparedGroups(in Labelled) [][]int {
	if told := p.toldGroups(in); len(told) > 0 {
		return told
	}
	return classGroups(p.Set, p.Target)
}

// tells says whether the samples with a label of a column, each left out, can choose what predicts it: they must be at least five, with two
// of each of at least two classes where there are classes. Of samples that belong together it is groups that count.
func (p *Problem) tells(in Labelled, group []int) bool {
	outputs, twice, labelled, together := len(p.Target.Tasks), 0, 0, p.together(in.Rows)
	for _, c := range group {
		y := func(i int) float32 { return in.Y[i*outputs+c] }
		if together.Distinct(func(i int) bool { return y(i) > 0.5 }) > 1 {
			twice++
		}
		if len(group) == 1 && together.Distinct(func(i int) bool { return y(i) <= 0.5 }) > 1 {
			twice++
		}
		labelled = max(labelled, together.Distinct(func(i int) bool { return y(i) == y(i) }))
	}
	return labelled >= dataset.FewestSamples && (twice > 1 || !p.Set.Binary)
}

// classes are those of samples, by the outputs of a column.
func (l Labelled) classes(group []int, outputs int) []int {
	return regress.ClassesOf(l.of(group, outputs), len(group))
}
