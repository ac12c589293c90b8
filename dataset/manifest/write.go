package manifest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// plain matches texts that YAML reads as they are, wherever they stand.
var plain = regexp.MustCompile(`^[A-Za-z0-9_(][A-Za-z0-9_./()-]*( [A-Za-z0-9_./()-]+)*$`)

// scalar returns a text as YAML writes it on one line.
func scalar(s string) string {
	if plain.MatchString(s) && strings.ToLower(s) != "null" {
		return s
	}
	return fmt.Sprintf("%q", s)
}

// list returns one text, or a list of several, as YAML writes it on one line.
func list(values []string) string {
	if len(values) == 1 {
		return scalar(values[0])
	}
	var parts []string
	for _, v := range values {
		parts = append(parts, scalar(v))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Text returns the guess as a manifest, with comments that say what was found.
func (g *Guess) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# A data set for amtrl, guessed from its files. Read it, change what is wrong, then:")
	line("#   amtrl data check %s", text.ShellQuote(g.Path))
	line("#   amtrl run --data %s", text.ShellQuote(g.Path))
	line("files: %s", list(g.Files))
	if g.Encoding != "" {
		line("encoding: %s", scalar(g.Encoding))
	}
	line("columns:")
	g.writeFeatures(line)
	g.writeRest(line)
	line("labels:")
	for i, l := range g.Labels {
		g.writeLabel(line, i, l)
	}
	line("# The source that the model is for. Without one, each source can be the target.")
	if t := g.Target; t.Source != "" {
		line("# With folds: 5 a fifth of its labelled rows is held out to measure on; without, the error is by leave-one-out.")
		folds := ""
		if t.Folds > 0 {
			folds = fmt.Sprintf(", folds: %d", t.Folds)
		}
		line("target: {source: %s%s}", scalar(t.Source), folds)
	}
	line("# sources: {include: [...], exclude: [...], cost: {NAME: 2.5}}")
	return b.String()
}

// writeLine writes a line of a manifest, as fmt.Printf does.
type writeLine func(format string, args ...any)

// writeFeatures writes the columns that tell rows, sources and features.
func (g *Guess) writeFeatures(line writeLine) {
	if g.ID != "" {
		line("  id: %s", scalar(g.ID))
	}
	line("  source: %s%s", scalar(g.Source), g.sourceComment())
	if v := g.Vectors; v != nil {
		line("  features: %s  # join: row takes vectors in the order of the rows, join: id by their ids", v.text())
	} else if len(g.Features) > 0 {
		line("  features: %s%s", list(g.Features), g.logsComment())
	}
	if g.Numbered {
		line("  # knots: %d  # numbered columns are taken for a vector; with knots, as columns of a table, their effects may bend", usualKnots)
	}
	if len(g.Categories) > 0 {
		line("  categories: %s  # a feature for each word: 1 in rows that have it, 0 in others", list(g.Categories))
	}
	if g.Knots > 0 {
		line("  knots: %d  # lets the effect of a number bend at so many of its quantiles; without, each is a straight line", g.Knots)
	}
	if g.Products {
		line("  products: true  # lets the effect of a column depend on the others; without, effects add up")
	}
	columns := len(g.Features) > 1 || len(g.Features) == 1 && strings.Contains(g.Features[0], "*")
	if !g.Derives() && (len(g.Categories) > 0 || columns) {
		line("  # scale: none  # keeps the units of the columns; without, each is brought to mean 0 and spread 1")
	}
	if len(g.Like) > 0 {
		line("  # labels? leave out of features what is not known before the label: %s", text.OneLine(strings.Join(g.Like, ", "), 400))
	}
}

// writeRest writes what else is said of columns, from missing cells on.
func (g *Guess) writeRest(line writeLine) {
	if g.Fill != "" {
		comment := "of the column, into missing cells"
		if g.Fill == FillIndicator {
			comment = "the mean of the column into missing cells, and a feature that says which were"
		}
		if len(g.Gaps) > 0 {
			comment += ": " + text.OneLine(strings.Join(g.Gaps, ", "), 400)
		}
		line("  fill: %s  # %s", g.Fill, comment)
	}
	if len(g.Absent) > 0 {
		line("  absent: %s  # some files lack them; their cells are missing there: %s", list(g.Absent),
			text.OneLine(strings.Join(g.Lacking, ", "), 400))
	}
	if codes := g.Codes; len(codes) > 0 {
		var parts []string
		for _, c := range codes {
			parts = append(parts, fmt.Sprintf("%s: %v", scalar(c.Column), c.Values[0]))
		}
		line("  missing: {%s}  # take out what does not stand for none: %s", strings.Join(parts, ", "),
			text.OneLine(strings.Join(g.Coded, ", "), 400))
	}
	if g.Split != "" {
		line("  split: %s  # train, validation or test; rows of test are for measuring alone", scalar(g.Split))
	}
	if g.Cost != "" {
		line("  cost: %s  # of the label of a row, the same for all rows of a source", scalar(g.Cost))
	}
	if g.Group != "" {
		line("  group: %s  # rows of one belong together: they are drawn, left out and held out together", scalar(g.Group))
	}
	if len(g.Others) > 0 {
		line("  # not used: %s", text.OneLine(strings.Join(g.Others, ", "), 400))
	}
}

// writeLabel writes label i.
func (g *Guess) writeLabel(line writeLine, i int, l Label) {
	line("  - column: %s%s", scalar(l.Column), g.maybeText())
	order := ""
	if g.Ordered(i) {
		order = "; number where the order of its values counts, as that of ratings does"
	} else if slices.Contains(g.Counts, l.Column) {
		order = "; classes where its values are names"
	} else if g.MayBecomeMore(i) {
		order = "; binary where no third class will come"
	}
	line("    type: %s  # classes, binary or number%s", l.Type, order)
	if among := g.AmongClasses(i); among != "" {
		line("    # number? %s", among)
	}
	if l.Type != Number {
		writeClasses(line, g.Classes[i], g.some())
	}
	if l.Log {
		line("    log: true  # the logarithm is learned")
		if l.Plus > 0 {
			line("    plus: %s  # added before", strconv.FormatFloat(l.Plus, 'g', -1, 64))
		}
	}
	if l.Type == Binary {
		names := slices.DeleteFunc(slices.Sorted(maps.Keys(g.Classes[i])), func(name string) bool { return slices.Contains(l.Missing, name) })
		line("    # classes: [%s]  # their order, which is that of their names by default", strings.Join(quoted(names), ", "))
	}
	line("    missing: [%s]  # what stands for no label, beside a missing value", strings.Join(quoted(l.Missing), ", "))
}

// logsComment says what features are logarithms of columns.
func (g *Guess) logsComment() string {
	if !g.logs {
		return ""
	}
	return "  # log x is the logarithm of the column x, whose values are of very different sizes; an effect may follow either"
}

func (g *Guess) maybeText() string {
	if len(g.Maybe) == 0 {
		return ""
	}
	return "  # or is it " + text.OneLine(strings.Join(g.Maybe, " or "), 200) + "?"
}

// Ordered reports whether the classes of a label, three or more, are all numbers: as classes they have no order.
func (g *Guess) Ordered(label int) bool {
	for name := range g.Classes[label] {
		if _, err := text.ParseNumber(name); err != nil {
			return false
		}
	}
	return g.Labels[label].Type == Classes && len(g.Classes[label]) > 2
}

// MayBecomeMore reports whether a label of classes has two of them so far, in less than half of the rows.
func (g *Guess) MayBecomeMore(label int) bool {
	return g.Labels[label].Type == Classes && len(g.Classes[label]) == 2
}

// AmongClasses says that most values of a label that was taken for classes are numbers, which the first that is none, and what to do, or
// is empty where they are not.
func (g *Guess) AmongClasses(label int) string {
	if g.Labels[label].Type != Classes || label >= len(g.Numbers) || !g.Numbers[label].Odd() {
		return ""
	}
	among := &g.Numbers[label]
	return among.Found("", g.some()) + ": " + among.Advice()
}

// text returns the vectors as a manifest writes them.
func (v *Vectors) text() string {
	column := ""
	if v.Column != "" {
		column = ", column: " + scalar(v.Column)
	}
	return fmt.Sprintf("{file: %s, join: %s%s}", list(v.Files), v.Join, column)
}

func quoted(values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%q", v))
	}
	return out
}

// some returns the remark that not all rows were read, or an empty string.
func (g *Guess) some() string {
	if g.All {
		return ""
	}
	return " in the first rows"
}

// TargetCount returns the rows of the target among SourceCounts, nil where it is not there, and the number of sources beside it.
func (g *Guess) TargetCount() (of *SourceCount, sources int) {
	sources = len(g.SourceCounts)
	if i := slices.IndexFunc(g.SourceCounts, func(s SourceCount) bool { return s.Name == g.Target.Source }); i >= 0 {
		return &g.SourceCounts[i], sources - 1
	}
	return nil, sources
}

func (g *Guess) sourceComment() string {
	rows, labelled := 0, 0
	for _, s := range g.SourceCounts {
		rows, labelled = rows+s.Rows, labelled+s.Labelled
	}
	or := ""
	if g.MaybeSource != "" {
		or = "; or is it " + text.OneLine(g.MaybeSource, 80) + "?"
	}
	target, sources := g.TargetCount()
	names := text.Several(sources, "source")
	if target != nil {
		names += " and the target"
	}
	return fmt.Sprintf("  # %s, %d of %d %s labelled%s%s", names, labelled, rows, text.Form(rows, "row", "rows"), g.some(), or)
}

// writeClasses writes the classes that were found; some says in which rows. Where there are none or only one, it adds a line to be filled
// in with the classes that labels may have.
func writeClasses(line writeLine, classes map[string]int, some string) {
	if len(classes) > 0 {
		line("    # found: %s", classesFound(classes)+some)
	}
	only, none := "first", ": no row has one"+some
	for name := range classes {
		only, none = scalar(name), ""
	}
	if len(classes) < 2 {
		line("    # classes: [%s, second]  # all that labels may have, to be filled in%s", only, none)
	}
}

// classesFound lists classes with their counts, the most frequent first.
func classesFound(classes map[string]int) string {
	names := slices.Sorted(maps.Keys(classes))
	slices.SortStableFunc(names, func(a, b string) int { return classes[b] - classes[a] })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s (%d)", n, classes[n])
	}
	return text.OneLine(strings.Join(names, ", "), 200)
}
