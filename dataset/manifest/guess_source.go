package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// guessSource returns the column of the source, or FromFile or FromFolder where the names of several files or of their folders tell it. It
// prefers a column that has the target, where that is known, or else the files if one has its name, and a column of words to one of dates,
// and that to one of numbers.
func (g *guesser) guessSource(inputs []Input, target string, label *column) string {
	holds := holding(target)
	fits := func(c *column) bool { return fitsSource(c) && !g.lessThanFiles(c, inputs) }
	if from := g.namedLike(target, inputs); from != "" {
		return from
	}
	if name := g.pickEither(sourceNames, holds, fits); name != "" {
		return g.lessLabelled(name, target, label)
	}
	if from := differing(inputs); from != "" {
		return from
	}
	if name := g.pick([]string{"*"}, holds); name != "" {
		return name
	}
	texts := func(c *column) bool { return fits(c) && !c.numeric() && !c.boolean() && !c.Time }
	words := func(c *column) bool { return texts(c) && c.dates < c.has() }
	if name := g.pickEither([]string{"*"}, words, texts); name != "" {
		return g.lessLabelled(name, target, label)
	}
	g.alone = g.pick(sourceNames, func(c *column) bool { // where rows are sorted by source, the first source may fill the rows looked at
		return len(c.distinct) == 1 && c.blank == 0 && c.rows >= inspectRows
	})
	if g.alone != "" {
		return g.alone
	}
	return g.pick([]string{"*"}, func(c *column) bool { // sources that are numbers
		return fits(c) && c.numeric() && !c.Time && c.ints == c.numbers && 10*len(c.distinct) <= c.rows
	})
}

// lessLabelled returns name, or in its place a column of words of which one lacks most labels, as the target does. It does so only where
// name divides the rows without this difference and is not a sure name of a source. maybeSource is then name.
func (g *guesser) lessLabelled(name, target string, label *column) string {
	c := g.column(name)
	if label == nil || c.named(sureSources) {
		return name
	}
	most, best := max(0.5, 2*label.lacks(c)), name
	for _, c := range g.columns {
		if g.taken[c.Name] || !c.words() || !fitsSource(c) || c.splits() || target != "" && !holding(target)(c) {
			continue
		}
		if lacks := label.lacks(c); lacks > most {
			most, best = lacks, c.Name
		}
	}
	if best != name {
		delete(g.taken, name)
		g.taken[best], g.maybeSource = true, name
	}
	return best
}

// noteBlanks sets maybeSource, where it is empty, to a column of words before the source, or with the name of one, that could be the source
// but for a few rows in which it is blank.
func (g *guesser) noteBlanks(source string) {
	before := true
	for _, c := range g.columns {
		before = before && c.Name != source
		blank := c.blank > 0 && blankLeast*c.blank <= c.rows
		if g.maybeSource == "" && !g.taken[c.Name] && blank && c.words() && c.dividesLikeSources() && (before || c.named(sourceNames)) {
			g.maybeSource = c.Name
		}
	}
}

// blankLeast is how many times as many rows as blank cells a column has that was probably meant to have none.
const blankLeast = 50

// fitsSource reports whether a column can be the source.
func fitsSource(c *column) bool { return c.dividesLikeSources() && c.blank == 0 }

// holding returns a function that reports whether a column can be the source and has the target among its values.
func holding(target string) func(*column) bool {
	return func(c *column) bool { return fitsSource(c) && c.distinct[target] > 0 && !c.measured() && !c.boolean() }
}

// likelySource returns the column that is the source by what is known, by its name, or by the target among its values. It returns nil where
// there is none.
func (g *guesser) likelySource(known Known, inputs []Input) *column {
	if known.Source != "" {
		return g.column(known.Source)
	}
	name := g.pickEither(sourceNames, holding(known.Target), func(c *column) bool { return fitsSource(c) && !g.lessThanFiles(c, inputs) })
	if name == "" {
		name = g.pick([]string{"*"}, holding(known.Target))
	}
	delete(g.taken, name)
	return g.column(name)
}

// havingTarget returns the columns that have the target in some row. It considers columns that are features, categories or not used, and
// that divide rows as sources do or have a single value in the rows looked at, which the first source may fill.
func (g *guesser) havingTarget(ctx context.Context, m Manifest, inputs []Input, target string) (has []string) {
	for _, c := range g.columns {
		filled := len(c.distinct) == 1 && c.blank == 0 && (c.rows >= inspectRows || len(inputs) > 1)
		taken := g.taken[c.Name] && !slices.Contains(slices.Concat(m.Features, m.Categories), c.Name)
		if taken || !c.dividesLikeSources() && !filled || c.list() || c.measured() || c.boolean() {
			continue
		}
		m.Source = c.Name
		if found, err := count(ctx, &m, inputs, nil); err == nil && found.sources[target] != nil {
			has = append(has, c.Name)
		}
	}
	return has
}

// targetAlone returns the column that has the target, and nothing else, in all rows looked at, or an empty string where there is none.
func (g *guesser) targetAlone(target string) string {
	for _, c := range g.columns {
		if c.rows > 0 && c.distinct[target] == c.rows && !c.measured() && !c.boolean() {
			return c.Name
		}
	}
	return ""
}

// refuseTarget returns the error that the target is not a source. It names a column that has the target, if there is one.
func (g *guesser) refuseTarget(m *Manifest, file, target string, sources, columns []string) error {
	of, has := "", ""
	if m.Source != FromFile && m.Source != FromFolder {
		of = " of column " + text.OneLine(m.Source, 80)
	}
	if len(columns) > 0 {
		has = fmt.Sprintf(", which column %s has: say which is the source with --source", text.OneLine(columns[0], 80))
	}
	return fmt.Errorf("%s: target: expected one of the sources %s%s, found %q%s", file,
		text.OneLine(strings.Join(text.Nearest(target, sources, 8), ", "), 300), of, text.OneLine(target, 80), has)
}

// leastLabels is the least number of labels of a target with which a run can tell which method is best.
const leastLabels = 5

// guessTarget returns the source with target in its name, or else the one with the fewest labels among those with leastLabels or more, or
// else among those with any.
func guessTarget(sources []SourceCount) string {
	var best SourceCount
	for _, s := range sources {
		if strings.Contains(strings.ToLower(s.Name), "target") && s.Labelled > 0 {
			return s.Name
		}
		enough, had := s.Labelled >= leastLabels, best.Labelled >= leastLabels
		if s.Labelled > 0 && (best.Labelled == 0 || enough && !had || enough == had && s.Labelled < best.Labelled) {
			best = s
		}
	}
	return best.Name
}
