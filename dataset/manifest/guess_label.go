package manifest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
)

// canBeLabel reports whether the values can be labels: numbers, or few values that occur twice or more on average.
func (c *column) canBeLabel() bool {
	return c.numeric() || len(c.distinct) <= fewLabels && 2*len(c.distinct) <= c.has()
}

const (
	// fewLabels is the largest number of values with which a column of classes is found as a label.
	fewLabels = 100
	// mostMaybe is the largest number of other columns that are named as possible labels.
	mostMaybe = 4
)

// guessLabel returns the label: a column with the name of a label; otherwise, where the target is known, what pickRare finds; otherwise one
// with a name that features have too, if it has missing values or is the last column; otherwise what the known target alone lacks, as
// pickAbsent finds it; otherwise what pickLabel finds, or else pickRare; and otherwise any column with a name that features have too.
// Unless the name is a sure one, it adds to g.maybe the other columns that could be the label; where nothing but its name speaks for
// the label, these are also columns of two numbers or booleans.
func (g *guesser) guessLabel(target string, source *column, fits func(*column) bool) (name string) {
	last := g.columns[len(g.columns)-1]
	cost := func(c *column) bool { return c.numeric() && c.named(costNames) } // such as what a label costs
	if name = g.pick(labelNames, func(c *column) bool { return fits(c) && !cost(c) }); name != "" {
		if !g.column(name).named(sureLabels) {
			g.maybeLabels(name, source, func(c *column) bool { return fits(c) && c.named(labelNames) })
		}
		return name
	}
	if target != "" {
		name = g.pickRare(target, source, fits)
	}
	if name == "" {
		name = g.pick(maybeLabels, func(c *column) bool { return fits(c) && (c.missing > 0 || c == last) })
	}
	if name == "" && target != "" {
		name = g.pickAbsent(target, source, fits)
	}
	if name == "" {
		name = g.pickLabel(target, source, fits)
	}
	if name == "" && target == "" {
		name = g.pickRare(target, source, fits)
	}
	if name == "" {
		name = g.pick(maybeLabels, fits)
		if numbers := !g.taken[last.Name] && fits(last) && last.numeric() && last.missing > 0; name != "" && numbers {
			g.taken[name], g.taken[last.Name] = false, true
			g.maybe = append(g.maybe, name)
			return last.Name
		}
	}
	if name != "" {
		_, numbered := serial(last.Name)
		sure := name == last.Name && last.missing > 0
		named := g.column(name).missing == 0 // by nothing but its name
		g.maybeLabels(name, source, func(c *column) bool {
			two := named && len(c.distinct) == 2 && c.missing == 0 && (c.numeric() || c.boolean())
			return fits(c) && c.canBeLabel() && (c == last && !numbered || !sure && (c.named(maybeLabels) || two))
		})
	}
	return name
}

// maybeLabels adds to g.maybe, from the last column on, the columns other than name that could be the label: the likely ones, and those in
// which at least half as large a share of the values is missing as in name.
func (g *guesser) maybeLabels(name string, source *column, likely func(*column) bool) {
	least := g.column(name).lacks(source) / 2
	for _, c := range slices.Backward(g.columns) {
		lacks := len(c.distinct) >= 2 && len(c.distinct) <= fewLabels && c.canBeLabel() && least > 0 && c.lacks(source) >= least
		if !g.taken[c.Name] && c != source && len(g.maybe) < mostMaybe && (likely(c) || lacks && !c.fixed(source)) {
			g.maybe = append(g.maybe, c.Name)
		}
	}
}

// likeLabels returns the features, single columns or categories, that have the name of a label and are not among the possible labels.
func (g *guesser) likeLabels(out *Guess) (names []string) {
	for _, c := range g.columns {
		feature := slices.Contains(g.scalars, c.Name) || slices.Contains(out.Categories, c.Name)
		if feature && (c.named(sureLabels) || c.named([]string{"*label*"})) && !slices.Contains(out.Maybe, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// pickRare takes and returns the column that one source lacks most of, as the target does of labels, and the other sources have: of
// several the one that it lacks most of, and of these the last. Where the source is not known, it can be any column of words.
func (g *guesser) pickRare(target string, source *column, fits func(*column) bool) string {
	sources := []*column{source}
	if source == nil {
		sources = slices.DeleteFunc(slices.Clone(g.columns), func(c *column) bool { return !c.words() || !fitsSource(c) || c.splits() })
	}
	var best *column
	most := 0.0
	for _, c := range g.columns {
		if g.taken[c.Name] || !fits(c) || !c.canBeLabel() || c.missing == 0 {
			continue
		}
		for _, by := range sources {
			if lacks := c.rareIn(by, target); lacks > 0 && lacks >= most {
				best, most = c, lacks
			}
		}
	}
	if best == nil {
		return ""
	}
	g.taken[best.Name] = true
	return best.Name
}

// pickAbsent takes and returns the last column that the target does not have in any row and the other sources have, as it is with the label
// of a target without labels. It must be one of few values, or the last of all columns: sensors that a target lacks are many.
func (g *guesser) pickAbsent(target string, source *column, fits func(*column) bool) string {
	for i, c := range slices.Backward(g.columns) {
		likely := len(c.distinct) <= fewLabels || i == len(g.columns)-1
		if !g.taken[c.Name] && fits(c) && c.canBeLabel() && likely && c.absentIn(source, target) {
			g.taken[c.Name] = true
			return c.Name
		}
	}
	return ""
}

// lacksMany reports whether as many cells are missing as are of labels: a fifth, or half of those in one source. Fewer are missing from
// features too.
func (c *column) lacksMany(source *column) bool {
	return 5*c.missing >= c.rows || c.lacks(source) >= 0.5
}

// pickLabel takes and returns the column with the largest share of missing values, in the source where its share is largest. It has few
// values, or is one of numbers that is missing in most rows and so cannot be a feature. It passes over a column that lacks few values, or
// has the target among them.
func (g *guesser) pickLabel(target string, source *column, fits func(*column) bool) string {
	few := func(c *column) bool {
		return fits(c) && c.lacksMany(source) && (len(c.distinct) <= fewLabels || c.numeric() && c.sparse()) &&
			(target == "" || c.distinct[target] == 0)
	}
	var best *column
	most := 0.0
	for _, c := range g.columns {
		if g.taken[c.Name] || !few(c) {
			continue
		}
		lacks := c.lacks(source)
		if best == nil || lacks > most || lacks == most && c.missing > best.missing {
			best, most = c, lacks
		}
	}
	if best == nil {
		return ""
	}
	g.taken[best.Name] = true
	return best.Name
}

// candidates names, for an error message, the columns that could be the label: from the last column on, where a label often is, the first
// that fits and others of few values or of words that occur several times, such as crops in two languages, but not those that lack a few
// cells, as features do, nor numbered columns of which there are more than are named. Of a column that has the name of a label it says why
// it is not the label.
func (g *guesser) candidates(inputs []Input, source *column, fits func(*column) bool) string {
	const few = 20
	g.guessSource(inputs, "", nil)
	var names []string
	first, why := true, ""
	numbered := map[string]int{}
	for _, c := range g.columns {
		if prefix, is := serial(c.Name); is {
			numbered[prefix]++
		}
	}
	for _, c := range slices.Backward(g.columns) {
		prefix, is := serial(c.Name)
		switch {
		case g.taken[c.Name] || is && numbered[prefix] > mostMaybe:
		case c.fixed(source) && !fits(c):
			if c.named(labelNames) {
				why = fmt.Sprintf(" (%s has one value alone in each %s)", text.OneLine(c.Name, 80), text.OneLine(source.Name, 80))
			}
		case !fits(c) || c.named(costNames) && !strings.EqualFold(c.Name, "price") || c.splits() || c.Time || c.dates > 0 && c.dates == c.has():
		case (len(c.distinct) <= few || c.words() && c.canBeLabel()) && (c.missing == 0 || c.lacksMany(source)) || first && c.canBeLabel():
			names = append(names, c.Name)
			first = false
		default:
			first = false
		}
	}
	if len(names) == 0 {
		return why
	}
	return ", such as " + text.OneLine(strings.Join(names[:min(mostMaybe, len(names))], " or "), 100) + why
}

// labelType returns Number or Classes, by the rows that were looked at.
func (g *guesser) labelType(name string) string {
	c := g.column(name)
	if c == nil || !c.numeric() {
		return Classes
	}
	return g.typeOf(name, c.distinct, c.ints < c.numbers)
}

// typeOf returns Number or Classes for labels that are numbers, by how often each value occurs; fractions reports whether some values are
// not integers. Classes are few, and each occurs several times; of counts many values are rare. Labels that are taken for numbers but could
// be classes are added to g.counts.
func (g *guesser) typeOf(name string, values map[string]int, fractions bool) string {
	const few = 10
	once, all := 0, 0
	for _, n := range values {
		if all += n; n == 1 {
			once++
		}
	}
	switch n := len(values); {
	case n <= 2:
	case fractions || n > dataset.MostCodes:
		return Number
	case n > few && (2*n > all || 4*once >= n):
		if !slices.Contains(g.counts, name) {
			g.counts = append(g.counts, name)
		}
		return Number
	}
	return Classes
}

// retype changes labels from classes to numbers where all rows show them to be numbers, of which the rows looked at may have had hardly
// any. It reports whether it changed any.
func (g *guesser) retype(m *Manifest, c *counts) (some bool) {
	for i := range m.Labels {
		l := &m.Labels[i]
		if l.Type != Classes || len(c.labels[i].classes) == 0 {
			continue
		}
		numbers, fractions := c.labels[i].among.Words == 0, false // of many classes, the map lacks some
		for word := range c.labels[i].classes {
			x, is := number(word, c.labels[i].decimalComma)
			numbers = numbers && is && !math.IsInf(x, 0) && x == x
			fractions = fractions || x != math.Trunc(x)
		}
		if numbers && g.typeOf(l.Column, c.labels[i].classes, fractions) == Number {
			l.Type, some = Number, true
		}
	}
	return some
}

// binary reports whether there are two classes and a third is not to be expected: most of the rows have a label, or the classes are true
// and false or 1 and 0. Where labels are still to come, a class that nothing has yet could come with them.
func (l *labelCounts) binary(rows int) bool {
	labelled, truths := 0, true
	for word, n := range l.classes {
		x, is := number(word, l.decimalComma)
		labelled += n
		truths = truths && (is && (x == 0 || x == 1) || strings.EqualFold(word, "true") || strings.EqualFold(word, "false"))
	}
	return len(l.classes) == 2 && (truths || 2*labelled > rows)
}
