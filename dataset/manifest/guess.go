package manifest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Guess is a manifest that was guessed from files, with what was found in them.
type Guess struct {
	*Manifest
	// SourceCounts counts the rows of each source, and of the target, in the order of their names, among the rows that were read. All reports
	// whether all rows were read.
	SourceCounts []SourceCount
	All          bool
	// Classes holds, for each label, the classes found and the number of rows of each.
	Classes []map[string]int
	// Missing holds, for each label, the words that stand for no label and the number of rows with each.
	Missing []map[string]int
	// Numbers counts, for each label, the values that are numbers, if they are written as text.
	Numbers []dataset.NumbersAmong
	// Others lists the columns that the manifest does not use, each with the reason.
	Others []string
	// Gaps lists the columns of features in which some cells are missing, each with the numbers of missing cells and of rows.
	Gaps []string
	// Lacking lists the columns of Absent, each with the files that lack it.
	Lacking []string
	// Coded lists the columns of features and labels in which a number such as -999 stands for a missing value, each with the number of
	// rows that have it.
	Coded []string
	// Maybe lists other columns that could be the label, where the name of the label is not a sure one.
	Maybe []string
	// Like lists features that have the name of a label and are not among Maybe.
	Like []string
	// Counts lists the labels taken for numbers whose few values could be names of classes.
	Counts []string
	// MaybeSource is another column that could be the source, or empty.
	MaybeSource string

	// Numbered reports whether the features are numbered columns of numbers, few enough for knots, that are taken for a vector.
	Numbered bool

	logs bool // whether some features are logarithms of columns
}

// Known holds what the user says about the files. What is empty is guessed.
type Known struct {
	ID, Source, Split, Cost, Group, Target string
	Features, Categories, Labels           []string
	// Encoding is that of files of text, UTF-8 where it is empty.
	Encoding string

	sold bool // whether a price is what something was sold for, not the cost of a label
}

// guesser chooses the columns of a manifest. It takes each column for one purpose.
type guesser struct {
	*looked
	taken map[string]bool
	// alone is the column that was taken for the source although it has a single value in the rows looked at.
	alone string
	// scalars lists the columns of features that hold single numbers, not lists.
	scalars []string
	// maybe lists other columns that could be the label.
	maybe []string
	// counts lists the labels taken for numbers whose few values could be names of classes.
	counts []string
	// maybeSource is another column that could be the source.
	maybeSource string
	// few reports whether few of the features are columns of more than two values, and these are no vector, and numbered whether they are
	// numbered columns of numbers that are taken for one.
	few, numbered bool
}

// pick takes and returns the first column, in the order of the patterns, that is not taken and fits, or returns an empty string.
func (g *guesser) pick(patterns []string, fits func(*column) bool) string {
	for _, p := range patterns {
		for _, c := range g.columns {
			if ok, _ := text.Match(p, strings.ToLower(c.Name)); ok && !g.taken[c.Name] && fits(c) {
				g.taken[c.Name] = true
				return c.Name
			}
		}
	}
	return ""
}

// pickEither is pick by best, or by well where no column fits best.
func (g *guesser) pickEither(patterns []string, best, well func(*column) bool) string {
	if name := g.pick(patterns, best); name != "" {
		return name
	}
	return g.pick(patterns, well)
}

// Look guesses a manifest, to be written to manifestPath, from what files show. What is known is not guessed.
func Look(ctx context.Context, manifestPath string, files []string, known Known) (*Guess, error) {
	m, err := ofFiles(manifestPath, files, known)
	if err != nil {
		return nil, err
	}
	inputs, err := m.Inputs()
	if err != nil {
		return nil, cmp.Or(matchVectors(ctx, files), err)
	}
	g := &guesser{taken: map[string]bool{}}
	if g.looked, err = inspect(inputs, known.Target); err != nil {
		return nil, err
	}
	if err := g.markDrawn(ctx, known, inputs); err != nil {
		return nil, err
	}
	if err := g.countNamed(ctx, inputs); err != nil {
		return nil, err
	}
	if err := g.choose(ctx, m, known, inputs); err != nil {
		return nil, err
	}
	if err := g.dropRepeatedID(ctx, m, known, inputs); err != nil {
		return nil, err
	}
	if err := g.findRepeats(ctx, m, known, inputs); err != nil {
		return nil, err
	}
	if m.Vectors != nil {
		if err := guessJoin(m, inputs[0]); err != nil {
			return nil, err
		}
	}
	lacking := g.findAbsent(m)
	c, err := count(ctx, m, inputs, g.scalars)
	if err == nil && g.retype(m, c) {
		c, err = count(ctx, m, inputs, g.scalars)
	}
	if err != nil {
		return nil, err
	}
	if known.Source == "" && g.alone == m.Source && len(c.sources) == 1 && c.all {
		delete(g.taken, m.Source)
		return nil, g.refuseSource(m, inputs[0].Path)
	}
	if none := c.sources[""]; none != nil {
		rows := 0
		for _, s := range c.sources {
			rows += s.Rows
		}
		return nil, fmt.Errorf("%s, column %s: expected the name of a source in each row, found none in %s of %s: leave such rows out",
			c.nameless, text.OneLine(m.Source, 80), text.Count(none.Rows), text.Count(rows))
	}
	out := &Guess{Manifest: m, All: c.all, Numbered: g.numbered, Lacking: lacking}
	g.fillGaps(out, c)
	g.plainLogs(m, c.least)
	out.logs = slices.ContainsFunc(m.Features, func(name string) bool {
		_, _, is := table.LogOf(name)
		return is && g.column(name) == nil
	})
	for _, name := range slices.Sorted(maps.Keys(c.sources)) {
		out.SourceCounts = append(out.SourceCounts, *c.sources[name])
	}
	m.Target.Source = cmp.Or(known.Target, guessTarget(out.SourceCounts))
	if known.Target != "" && c.sources[known.Target] == nil && (c.all || m.noFileIs(known.Target, inputs)) {
		has := g.havingTarget(ctx, *m, inputs, known.Target)
		if known.Source == "" && len(has) == 1 {
			known.Source = has[0]
			return Look(ctx, manifestPath, files, known)
		}
		if of := g.targetAlone(known.Target); of != "" && len(inputs) == 1 {
			return nil, fmt.Errorf("%s: expected rows of sources beside those of the target, found %q alone in column %s: name the files of the "+
				"sources too", inputs[0].Path, text.OneLine(known.Target, 80), text.OneLine(of, 80))
		}
		return nil, g.refuseTarget(m, inputs[0].Path, known.Target, slices.Sorted(maps.Keys(c.sources)), has)
	}
	if known.Cost == "" && c.costs.vary && strings.EqualFold(m.Cost, "price") { // the price of what is sold, not of a label
		known.sold = true
		return Look(ctx, manifestPath, files, known)
	}
	if known.Cost == "" && len(known.Features) == 0 {
		if err := c.costs.refuse(m.Cost); err != nil {
			return nil, err
		}
	}
	notCost := ""
	if known.Cost == "" && (c.costs.vary || c.costs.none != "") {
		notCost, m.Cost = m.Cost, ""
		delete(g.taken, notCost)
	}
	for i := range m.Labels {
		l := &m.Labels[i]
		l.Missing = append(DefaultMissing(), slices.Sorted(maps.Keys(c.labels[i].missing))...)
		if l.Type == Classes && c.labels[i].binary(c.rows) {
			l.Type = Binary
		}
		out.Classes, out.Missing = append(out.Classes, c.labels[i].classes), append(out.Missing, c.labels[i].missing)
		out.Numbers = append(out.Numbers, c.labels[i].among)
	}
	if err := g.countWithin(ctx, inputs, m); err != nil {
		return nil, err
	}
	g.nameOthers(out, c, notCost)
	g.guessCodes(out)
	out.Maybe, out.MaybeSource, out.Counts = slices.DeleteFunc(g.maybe, m.is), g.maybeSource, g.counts
	out.Like = g.likeLabels(out)
	return out, m.check()
}

// ofFiles returns a manifest that has only the files. It is an error where all of them are files of vectors.
func ofFiles(manifestPath string, files []string, known Known) (*Manifest, error) {
	m, dir := &Manifest{Path: manifestPath, Encoding: known.Encoding}, path.Dir(manifestPath)
	rows, vectors := split(files)
	for _, f := range rows {
		m.Files = append(m.Files, relative(dir, f))
	}
	if len(vectors) == 0 {
		return m, nil
	}
	m.Vectors = &Vectors{Join: table.JoinRow, Column: strings.Join(known.Features, ",")}
	for _, f := range vectors {
		m.Vectors.Files = append(m.Vectors.Files, relative(dir, f))
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: an NPY file has features alone: expected a file with the source and the label of each row too, "+
			"such as a CSV file (data in the layout of MNIST-C need no manifest)", vectors[0])
	}
	return m, nil
}

// fillGaps lists the features with missing cells, and chooses how these are filled.
func (g *guesser) fillGaps(out *Guess, c *counts) {
	indicates := 0
	for i, n := range c.gaps {
		if n > 0 {
			if Indicates(int64(n), int64(c.rows)) {
				indicates++
			}
			own := g.column(table.Missing(g.scalars[i]).Features()[0]) // the data have a missing indicator already
			g.few = g.few && own == nil
			out.Gaps = append(out.Gaps, fmt.Sprintf("%s (%s of %s)", g.scalars[i], text.Count(n), text.Count(c.rows)))
		}
	}
	switch {
	case g.few && indicates > 0 && indicates <= mostFew:
		out.Manifest.Fill = FillIndicator
	case len(out.Gaps) > 0:
		out.Manifest.Fill = FillMean
	}
}

// nameOthers lists the columns that are not used, each with the reason. notCost is a column that was taken for the cost until its values
// were read.
func (g *guesser) nameOthers(out *Guess, c *counts, notCost string) {
	why, m := "it differs between rows of a source", out.Manifest
	if !c.costs.vary {
		why = fmt.Sprintf("%q is none", text.OneLine(c.costs.none, 20))
	}
	source := g.sourceOf(m)
	for _, of := range g.columns {
		of.more = of.rows < c.rows || !c.all
		switch {
		case g.taken[of.Name] && (m.reads(of.Name) || slices.Contains(g.scalars, of.Name) || m.perhapsGroup(of, source) == ""):
		case of.Name == notCost:
			out.Others = append(out.Others, fmt.Sprintf("%s (no cost: %s)", of.Name, why))
		default:
			out.Others = append(out.Others, fmt.Sprintf("%s (%s%s%s)", of.Name, m.unused(of), m.perhapsGroup(of, source),
				m.perhapsCost(of, source)))
		}
	}
}

// split separates files of rows from files of vectors: NPY files, and safetensors files where there is a file of another format.
func split(files []string) (rows, vectors []string) {
	others := slices.ContainsFunc(files, func(f string) bool {
		format := table.FormatOf(f)
		return format != table.NPY && format != table.Safetensors
	})
	for _, f := range files {
		if format := table.FormatOf(f); format == table.NPY || format == table.Safetensors && others {
			vectors = append(vectors, f)
		} else {
			rows = append(rows, f)
		}
	}
	return rows, vectors
}

// guessJoin joins vectors by id where their file has a column of the ids.
func guessJoin(m *Manifest, in Input) error {
	t, err := table.Open(in.Vectors.Path, in.Vectors.Format)
	if err != nil {
		return err
	}
	defer t.Close()
	if m.ID != "" && slices.ContainsFunc(t.Columns(), func(c table.Column) bool {
		return c.Kind != table.Vector && (c.Name == m.ID || c.Name == "id")
	}) {
		m.Vectors.Join = table.JoinID
	}
	return nil
}

func isSplit(word string) bool {
	return slices.Contains([]string{"train", "test", "validation", "valid", "val", "dev"}, strings.ToLower(word))
}

// splitByFile reports whether the names of all files begin with a split, and some are of tests and others of another split.
func splitByFile(inputs []Input) bool {
	m, splits := Manifest{Split: FromFile}, map[string]bool{}
	for _, in := range inputs {
		word := strings.ToLower(m.SplitOf(in.Path))
		if !isSplit(word) {
			return false
		}
		splits[word] = true
	}
	return splits["test"] && len(splits) > 1
}
