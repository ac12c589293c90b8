package dataset

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// FewestSamples is the least number of labelled rows that can tell two methods apart. With fewer, chance makes all of them favour a given
// one in more than one of twenty cases, of two that are alike.
const FewestSamples = 5

// columnLabels summarises the labels of one column over the labelled rows of a pool that are not for tests.
type columnLabels struct {
	column string // empty where the data do not name it
	tasks  int
	rows   int
	twice  int     // number of classes with two rows or more
	mixed  bool    // whether rows have several classes or numbers
	class  string  // the class of all rows, where they are of one class and it has a name
	number float32 // the number of all rows, where they have one number
}

// labelsOf summarises the columns of labels of a pool, in the order of its tasks.
func (s *Set) labelsOf(pool int) []columnLabels {
	var out []columnLabels
	var zeros []int // by column: rows that are not of the class of its last task
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Pool != pool || t.Labels == nil || len(t.Train) == 0 {
			continue
		}
		at := slices.IndexFunc(out, func(c columnLabels) bool { return c.column == t.Output.Name })
		if at < 0 {
			at, out, zeros = len(out), append(out, columnLabels{column: t.Output.Name}), append(zeros, 0)
		}
		c, ones := &out[at], 0
		c.tasks, c.rows, c.number = c.tasks+1, max(c.rows, len(t.Train)), t.Labels[t.Train[0]]
		for _, r := range t.Train {
			c.mixed = c.mixed || t.Labels[r] != c.number
			if t.Labels[r] == 1 {
				ones++
			}
		}
		if zeros[at] = len(t.Train) - ones; ones > 1 {
			c.twice++
		}
		if ones > 0 {
			c.class = t.Output.Class
		} else if c.class == "" {
			c.class = s.otherClass(t.Output)
		}
	}
	for i := range out {
		if out[i].tasks == 1 && zeros[i] > 1 { // rows of the class that has no task
			out[i].twice++
		}
	}
	return out
}

// otherClass returns the class of the rows that are not of the class of an output, where its column has two classes, and otherwise an empty
// string.
func (s *Set) otherClass(o Output) string {
	if s.Columns == nil {
		return ""
	}
	for _, l := range s.Columns.Labels {
		if i := slices.Index(l.Classes, o.Class); l.Name == o.Name && len(l.Classes) == 2 && i >= 0 {
			return l.Classes[1-i]
		}
	}
	return ""
}

// fewLabels lists the columns of which a pool has too few labelled rows to learn from, or labels of one class or number alone. For a target
// it also lists the columns in which fewer than two classes have two rows each.
func (s *Set) fewLabels(pool int) (out []Oddity) {
	p := s.Pools[pool]
	for _, c := range s.labelsOf(pool) {
		of, column := "", "the label"
		if c.column != "" {
			column = text.OneLine(c.column, 80)
			of = " of " + column
		}
		found, advice := "", "have rows of other classes labelled: it tells no class from another"
		switch {
		case c.rows < FewestSamples:
			found = fmt.Sprintf("%s%s, too few to learn from: expected at least %d", text.Several(c.rows, "labelled row"), of, FewestSamples)
			if advice = "have more labelled, or exclude the source"; p.Target {
				advice = "have more labelled: so few do not tell which method is best"
			}
		case !c.mixed && !s.Binary:
			found, advice = fmt.Sprintf("all labels%s are %g", of, c.number), "have rows of other numbers labelled: these tell nothing"
		case !c.mixed && c.class != "":
			found = fmt.Sprintf("all labelled rows are of class %q%s", text.OneLine(c.class, 80), of)
		case !c.mixed:
			found = "all rows have the same class of " + column
		case s.Binary && p.Target && c.twice < 2:
			found = [...]string{"no class of " + column + " has two labelled rows",
				"only one class of " + column + " has two labelled rows or more"}[c.twice] + ": expected two of each of two classes"
			advice = "have more labelled: so few do not tell which method is best"
		default:
			continue
		}
		out = append(out, Oddity{p.Name, found, advice})
	}
	return out
}
