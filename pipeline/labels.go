package pipeline

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Labelled holds rows of the pool of a source, or of the target, with their labels. Y has len(Rows)*len(Tasks) elements, row after row: one
// label for each output of the source, in the order of Source.Tasks. The label of a class is 1 for rows of the class and 0 for others. NaN
// stands for a missing label; each row has at least one label. A learner keeps both slices, so they must not change afterwards.
type Labelled struct {
	Rows []int32
	Y    []float32
}

// of returns the labels of the outputs in group, row after row, NaN where missing. outputs is the number of all outputs.
func (l Labelled) of(group []int, outputs int) []float64 {
	y := make([]float64, 0, len(l.Rows)*len(group))
	for i := range l.Rows {
		for _, c := range group {
			y = append(y, float64(l.Y[i*outputs+c]))
		}
	}
	return y
}

// some returns the rows at the given places with their labels. outputs is the number of all outputs.
func (l Labelled) some(places []int, outputs int) (out Labelled) {
	for _, i := range places {
		out.Rows, out.Y = append(out.Rows, l.Rows[i]), append(out.Y, l.Y[i*outputs:(i+1)*outputs]...)
	}
	return out
}

// column returns the labels of output c that are not missing. outputs is the number of all outputs.
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

// labelled returns the places of the rows that have a label of output c. outputs is the number of all outputs.
func (l Labelled) labelled(c, outputs int) []int {
	var places []int
	for i := range l.Rows {
		if v := l.Y[i*outputs+c]; v == v {
			places = append(places, i)
		}
	}
	return places
}

// labelCounts returns the number of labels of each output of the sources, in their order.
func labelCounts(sources []Source, in []Labelled) []int {
	var counts []int
	for m, s := range sources {
		for c := range s.Tasks {
			counts = append(counts, len(in[m].column(c, len(s.Tasks))))
		}
	}
	return counts
}

// labelGroup holds rows that have labels of the same outputs. Y holds a label for each of these outputs, row after row, none missing.
type labelGroup struct {
	outputs []int
	Labelled
}

// parts divides the labelled rows by outputs. Each output is in one part, with all rows that have a label of it; outputs with labels of the
// same rows share a part.
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

// CheckLabels returns an error if the set has no labels of an output of the target or of a source, as where labels have yet to be asked
// for. LookUp, TargetSamples and Solve take labels from the set. A round that comes from elsewhere brings its own.
func (p *Problem) CheckLabels() error {
	for _, s := range append([]Source{p.Target}, p.Sources...) {
		for _, t := range s.Tasks {
			if task := &p.Set.Tasks[t]; task.Labels == nil {
				return fmt.Errorf("%s: %s: expected labels of the output %s, one for each row, found none", p.Set.Title(), s.Name, task.Name)
			}
		}
	}
	return nil
}

// TargetSamples returns the target's samples, the same in each round of the problem, with their labels in the data, NaN where missing.
func (p *Problem) TargetSamples() Labelled { return p.Target.label(p.Set, p.draws.target) }

// TooFew says why leave-one-out prediction of the target's samples cannot choose a method; it returns "" where it can. Some column must
// have at least five samples and, if it is of classes, two of each of at least two classes: otherwise a sample that is left out is never
// like those that are kept. Where samples belong together, their groups are counted instead.
func (p *Problem) TooFew(in Labelled) string {
	n, groups, labels, ofEach := len(in.Rows), p.groupsOf(in.Rows), "", "two"
	samples := text.Several(n, "target sample")
	if groups.Group != nil {
		labels, ofEach = " groups", "two groups"
		samples += " in " + text.Several(groups.Count(), "group")
	}
	nothing := "the first method: " + samples + " " + text.Form(n, "tells", "tell") + " nothing"
	if groups.Count() < dataset.FewestSamples {
		return fmt.Sprintf("%s of which is best, expected at least %d%s", nothing, dataset.FewestSamples, labels)
	}
	if len(p.namedGroups(in)) > 0 {
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

// namedGroups returns the outputs of each column whose samples can choose its predictor (see [Problem.samplesChoose]).
func (p *Problem) namedGroups(in Labelled) [][]int {
	return slices.DeleteFunc(classGroups(p.Set, p.Target), func(group []int) bool { return !p.samplesChoose(in, group) })
}

// comparedGroups returns the columns that methods are compared by: those of namedGroups or, if there are none, all. In a column whose
// samples cannot choose, the best predictor says that the classes without a sample do not occur.
func (p *Problem) comparedGroups(in Labelled) [][]int {
	if named := p.namedGroups(in); len(named) > 0 {
		return named
	}
	return classGroups(p.Set, p.Target)
}

// samplesChoose reports whether leave-one-out prediction of the samples with a label of a column can choose what predicts it: there must be
// at least five of them and, for classes, two of each of at least two classes. Where samples belong together, their groups are counted
// instead.
func (p *Problem) samplesChoose(in Labelled, group []int) bool {
	outputs, twice, labelled, together := len(p.Target.Tasks), 0, 0, p.groupsOf(in.Rows)
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

// classes returns the class of each row among the outputs of a column (see [regress.ClassesOf]).
func (l Labelled) classes(group []int, outputs int) []int {
	return regress.ClassesOf(l.of(group, outputs), len(group))
}

// placesOf returns the indices of rows of the target's pool among the samples. The rows must be samples, in their order.
func placesOf(rows, samples []int32) []int {
	places, at := make([]int, len(rows)), 0
	for i, row := range rows {
		for samples[at] != row {
			at++
		}
		places[i] = at
	}
	return places
}
