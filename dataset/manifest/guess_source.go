package manifest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// guessSource finds the column of the source, or takes the names of several files
// or of their folders. A column that has the target, where it is known, is likelier
// than another; one of words is than one of dates, and that than one of numbers.
func (g *guesser) guessSource(inputs []Input, target string, label *column) string {
	fits, holds := fitsSource, holding(target)
	if name := g.pickEither(sourceNames, holds, fits); name != "" {
		return g.lessLabelled(name, target, label)
	}
	if len(inputs) > 1 {
		names, folders := map[string]bool{}, map[string]bool{}
		for _, in := range inputs {
			names[stem(in.Path)], folders[path.Dir(in.Path)] = true, true
		}
		switch {
		case len(folders) > 1:
			return FromFolder
		case len(names) > 1:
			return FromFile
		}
	}
	if name := g.pick([]string{"*"}, holds); name != "" {
		return name
	}
	texts := func(c *column) bool { return fits(c) && !c.numeric() && !c.boolean() && !c.Time }
	words := func(c *column) bool { return texts(c) && c.dates < c.has() }
	if name := g.pickEither([]string{"*"}, words, texts); name != "" {
		return g.lessLabelled(name, target, label)
	}
	g.alone = g.pick(sourceNames, func(c *column) bool { // where rows are in the order of sources, the first may fill what is looked at
		return len(c.distinct) == 1 && c.blank == 0 && c.rows >= inspectRows
	})
	if g.alone != "" {
		return g.alone
	}
	return g.pick([]string{"*"}, func(c *column) bool { // numbers of groups
		return fits(c) && c.numeric() && !c.Time && c.ints == c.numbers && 10*len(c.distinct) <= c.rows
	})
}

// nameWithinFiles takes for the source, in the place of the files, a column with the name of one that the first file has one value of,
// where some files have several, none of which another file has. Then maybeSource is the files.
func (g *guesser) nameWithinFiles(ctx context.Context, m *Manifest, inputs []Input, target string) {
	if slices.ContainsFunc(inputs, func(in Input) bool { return stem(in.Path) == target }) {
		return
	}
	for _, c := range g.columns {
		if g.taken[c.Name] || len(c.distinct) != 1 || c.blank > 0 || c.list() || c.numeric() || !c.named(sourceNames) {
			continue
		}
		of, all, apart := *m, map[string]bool{}, true
		of.Source = c.Name
		for i := 0; apart && i < len(inputs); i++ {
			found, err := count(ctx, &of, inputs[i:i+1], nil)
			if apart = err == nil && found.sources[""] == nil; apart {
				for name := range found.sources {
					apart = apart && !all[name]
					all[name] = true
				}
			}
		}
		if apart && len(all) > len(inputs) {
			m.Source, g.taken[c.Name], g.maybeSource = c.Name, true, FromFile
			return
		}
	}
}

// lessLabelled is the column of words of which one lacks most labels, as the target does, in the place of one that divides rows
// without such a difference and has no sure name of a source. Then maybeSource is that one.
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

// fitsSource says whether a column can be the source.
func fitsSource(c *column) bool { return c.groups() && c.blank == 0 }

// holding says of a column that can be the source whether the target is one.
func holding(target string) func(*column) bool {
	return func(c *column) bool { return fitsSource(c) && c.distinct[target] > 0 && !c.measured() && !c.boolean() }
}

// likelySource is the column that is the source by what is known or by its name, nil where there is none.
func (g *guesser) likelySource(known Known) *column {
	if known.Source != "" {
		return g.column(known.Source)
	}
	name := g.pickEither(sourceNames, holding(known.Target), fitsSource)
	if name == "" {
		name = g.pick([]string{"*"}, holding(known.Target))
	}
	delete(g.taken, name)
	return g.column(name)
}

// havingTarget are the columns taken for features, categories or nothing that have the target, and divide rows as sources do or are filled
// by the first source as far as they were looked at.
func (g *guesser) havingTarget(ctx context.Context, m Manifest, inputs []Input, target string) (has []string) {
	for _, c := range g.columns {
		filled := len(c.distinct) == 1 && c.blank == 0 && (c.rows >= inspectRows || len(inputs) > 1)
		taken := g.taken[c.Name] && !slices.Contains(slices.Concat(m.Features, m.Categories), c.Name)
		if taken || !c.groups() && !filled || c.list() || c.measured() || c.boolean() {
			continue
		}
		m.Source = c.Name
		if found, err := count(ctx, &m, inputs, nil); err == nil && found.sources[target] != nil {
			has = append(has, c.Name)
		}
	}
	return has
}

// refuseTarget says that the target is no source, and which column that is not the source has it.
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

// leastLabels are the labels of a target from which on a run can tell which method is best.
const leastLabels = 5

// guessTarget is the source with target in its name, or else the one with the
// fewest labels from leastLabels on, or else among those that have some.
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
