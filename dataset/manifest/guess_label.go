package manifest

import (
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// labels says whether the values can be labels: they are numbers, or few of which each is there twice on average.
func (c *column) labels() bool {
	return c.numeric() || len(c.distinct) <= fewLabels && 2*len(c.distinct) <= c.has()
}

// fewLabels is how many values a label of classes may have to be found.
const fewLabels = 100

// guessLabel finds the label by its name, and where only features have such names too, rather one that lacks values, or the last column.
// Then maybe are others that it could be.
func (g *guesser) guessLabel(target string, fits func(*column) bool) (name string) {
	if name = g.pick(labelNames, fits); name != "" {
		return name
	}
	last := g.columns[len(g.columns)-1]
	name = g.pick(maybeLabels, func(c *column) bool { return fits(c) && (c.missing > 0 || c == last) })
	if name == "" {
		name = g.pickLabel(target, fits)
	}
	if name == "" {
		name = g.pick(maybeLabels, fits)
	}
	if _, numbered := serial(last.Name); name != "" && !numbered && !g.taken[last.Name] && fits(last) && last.labels() {
		g.maybe = append(g.maybe, last.Name)
	}
	return name
}

// pickLabel finds the column of few values that lacks most of them, and does not have the target among them.
func (g *guesser) pickLabel(target string, fits func(*column) bool) string {
	few := func(c *column) bool {
		return fits(c) && len(c.distinct) <= fewLabels && (target == "" || c.distinct[target] == 0)
	}
	most := 0
	for _, c := range g.columns {
		if !g.taken[c.Name] && few(c) {
			most = max(most, c.missing)
		}
	}
	return g.pick([]string{"*"}, func(c *column) bool { return most > 0 && c.missing == most && few(c) })
}

// candidates names columns that fit, for a message: the last one, where a label often is, and others of few values.
func (g *guesser) candidates(inputs []Input, fits func(*column) bool) string {
	const few = 20
	g.guessSource(inputs, "")
	var names []string
	for i, c := range g.columns {
		switch {
		case !fits(c) || g.taken[c.Name]:
		case i == len(g.columns)-1 && c.labels():
			names = slices.Insert(names, 0, c.Name)
		case len(c.distinct) <= few:
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", such as " + text.OneLine(strings.Join(names[:min(3, len(names))], " or "), 100)
}

// labelType tells numbers from classes.
func (g *guesser) labelType(name string) string {
	const most = 20
	if c := g.column(name); c != nil && c.numeric() && (c.ints < c.numbers || len(c.distinct) > most) && len(c.distinct) > 2 {
		return Number
	}
	return Classes
}
