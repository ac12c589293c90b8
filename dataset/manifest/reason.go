package manifest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// date matches a day, with or without a time.
var date = regexp.MustCompile(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?$`)

// named reports whether the name of a column matches one of the patterns, in upper or lower case.
func (c *column) named(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := text.Match(p, strings.ToLower(strings.TrimSuffix(c.Name, ".")))
		return ok
	})
}

// dividesLikeSources reports whether the values divide the rows as sources do: there are two or more, and each occurs twice or more
// on average, among all rows looked at or among the first ones. Where each source has few rows, which follow each other, the values
// among the first rows occur more often.
func (c *column) dividesLikeSources() bool {
	often := 2*len(c.distinct) <= c.rows || c.first.distinct >= 2 && 2*c.first.distinct <= c.first.rows
	return !c.list() && len(c.distinct) >= 2 && often
}

// measured reports whether the values are numbers and some are not integers, as ids never are.
func (c *column) measured() bool { return c.numeric() && c.ints < c.numbers }

// integers reports whether the values are integers, with more than mostWords different ones.
func (c *column) integers() bool {
	return c.numeric() && c.ints == c.numbers && len(c.distinct) > mostWords
}

// repeated counts the values that occur once, and those that occur more than once.
func (c *column) repeated() (once, twice int) {
	for _, n := range c.distinct {
		if n > 1 {
			twice++
		}
	}
	return len(c.distinct) - twice, twice
}

// identifies reports whether a column tells rows apart, whether or not each row has its own value.
func (c *column) identifies() bool {
	once, twice := c.repeated()
	return c.copied || c.drawnOnce || c.numbersEach() || c.named(indexNames) || c.integers() && c.named(numberNames) && once > twice ||
		!c.measured() && (c.named(sureIDs) || c.named(idNames) && once > twice && twice > 0)
}

// sparse reports whether most cells are missing.
func (c *column) sparse() bool { return 2*c.missing > c.rows }

// constant reports whether all of the rows looked at, of which there are many, have the same value.
func (c *column) constant() bool {
	const enough = 20
	return len(c.distinct) == 1 && c.missing == 0 && c.rows >= enough
}

// unused returns, in a few words, the reason why the manifest does not use a column.
func (m *Manifest) unused(c *column) string {
	once, twice := c.repeated()
	missing, in := fmt.Sprintf("%s of %s cells are missing", text.Count(c.missing), text.Count(c.rows)), ""
	if c.more {
		in = fmt.Sprintf(" in the %s rows looked at", text.Count(c.rows))
	}
	switch {
	case c.again != nil:
		return c.again.String()
	case c.Kind == table.Other:
		return "of a type that is not read"
	case c.list():
		return "vectors beside the features"
	case c.has() == 0:
		return "no values" + in
	case c.blank > 0 && c.dividesLikeSources() && c.named(sourceNames):
		return fmt.Sprintf("no source: %s of %s cells are missing", text.Count(c.blank), text.Count(c.rows))
	case c.named(idNames) && once > twice && c.missing > 0 && !c.measured():
		return "no id: " + missing
	case (c.named(idNames) && once > twice || c.named(sureIDs)) && twice > 0 && !c.measured():
		return repeatedIDs(c.recurring())
	case c.copied:
		return fmt.Sprintf("numbers of rows, though %s are there more than once%s, as where rows were copied", text.Count(twice), in)
	case len(c.distinct) == 1 && c.missing == 0:
		return "the same" + cmp.Or(in, " in all rows")
	case c.hasCommas() && c.pointed:
		return "numbers with points, where others have decimal commas"
	case c.hasCommas() && c.thousands():
		return "numbers with commas between thousands"
	case c.hasCommas():
		return "numbers with decimal commas"
	case c.hasUnits() && (c.kinds() > mostWords || c.saysCost()):
		return fmt.Sprintf("numbers with a unit: %q; %s", text.OneLine(c.united, 20), c.plainUnits())
	case c.named(indexNames):
		return "an index of rows"
	case c.numeric() && c.identifies(), c.serials():
		if m.ID == "" {
			return "looks like ids"
		}
		return "ids beside the id"
	case c.padded:
		advice := ""
		if len(m.Features)+len(m.Categories) > 1 {
			advice = "; as words --categories takes them"
		}
		return "codes, numbers with leading zeros" + advice
	case c.epoch():
		return "times, counted from 1970, are left out: for features write their hour, weekday or month into columns"
	case c.Time, c.dates == c.has():
		return "dates are left out: for features write their hour, weekday or month into columns"
	case c.late.is():
		return fmt.Sprintf("known with the label: %s of %s rows without one lack it%s", text.Count(c.late.lack), text.Count(c.late.rows), in)
	case (c.numeric() || c.boolean()) && c.sparse():
		return missing
	case c.boolean():
		return "booleans beside the features"
	case c.numeric():
		return "numbers beside the features"
	case 2*c.numbers > c.has():
		words, advice := c.has()-c.numbers, ""
		if words <= max(1, c.has()/100) {
			advice = "; correct them, or empty such cells, and look again"
		}
		return fmt.Sprintf("numbers with text among them: %q, %s of %s cells%s", text.OneLine(c.word, 20), text.Count(words), text.Count(c.has()),
			advice)
	case c.likeFiles:
		return "a value for each source, as its files tell"
	case len(c.distinct) > 100:
		return "text of many values"
	}
	words := "text of " + text.Several(c.kinds(), "value")
	if len(m.Features)+len(m.Categories) > 1 {
		words += ", which --categories takes"
	}
	if c.sparse() {
		words += "; " + missing
	}
	return words
}

// likeGroups reports whether the values of a column look like groups of rows that belong together, such as those of patients.
func (c *column) likeGroups() bool {
	return (c.dividesLikeSources() || c.all != nil && 2*c.all.values <= c.all.rows) && c.namesGroups()
}

// namesGroups reports whether a column has a name of groups, and values that can be the names of groups.
func (c *column) namesGroups() bool {
	many, small := len(c.distinct) > mostWords, c.numeric() && c.low < 1000
	named := c.named(groupNames) || many && (c.named(landNames) || !small && c.named(partyNames))
	return named && !c.measured() && !c.boolean()
}

// perhapsGroup returns a hint that rows with the same value of a column may belong together, where its name and its values look so, or its
// values alone, and otherwise an empty string. No column is taken for the group unless the user says so.
func (m *Manifest) perhapsGroup(c, source *column) string {
	twice, values := c.recurring()
	named := c.namesGroups() && (c.dividesLikeSources() || 4*twice >= values)
	if m.Group != "" || !named && !c.groupsWithin(source) {
		return ""
	}
	return "; where its rows belong together, --group " + text.ShellQuote(c.Name)
}

// perhapsCost returns a hint that a column may say what the label of a row costs, where a word of its name says so and its values are
// numbers above 0, one in each source and not the same in all. Otherwise it returns an empty string.
func (m *Manifest) perhapsCost(c, source *column) string {
	costs := c.numeric() && c.low > 0 && c.low < c.high || c.hasUnits() && c.kinds() > 1
	if m.Cost != "" || !c.saysCost() || !costs || !c.fixed(source) {
		return ""
	}
	return "; where a label costs so much, --cost " + text.ShellQuote(c.Name)
}

// saysCost reports whether a word in the name of a column is one that names of costs have.
func (c *column) saysCost() bool {
	words := strings.FieldsFunc(strings.ToLower(c.Name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(costWords, w) })
}

// groupsWithin reports whether a column of texts divides the rows of sources further, into many groups that each lie in one source,
// whatever it is called: nearly all of its values occur again, each in one source alone.
func (c *column) groupsWithin(source *column) bool {
	twice, values := c.recurring()
	return 10*twice >= 9*values && c.withinSources(source)
}

// withinSources reports whether the values of a column are many texts, each in one source alone.
func (c *column) withinSources(source *column) bool {
	texts := c.Kind == table.Text && c.numbers+c.booleans+c.dates+c.lists == 0 && !c.Time
	several := c.all != nil && c.all.several
	if !texts || several || source == nil || len(c.distinct) <= mostWords || 10*c.missing > c.rows || c.fixed(source) {
		return false
	}
	for _, p := range source.parts(c) {
		if p.several {
			return false
		}
	}
	return true
}

func (g *guesser) refuseSource(m *Manifest, file string) error {
	return fmt.Errorf("%s: expected a column that looks like the source of a row, found none beside the label %s: "+
		"say which one it is with --source%s", file, text.OneLine(m.Labels[0].Column, 80), g.noSource())
}

// noSource says why the column that is the likeliest source was not taken. It returns an empty string where there is none.
func (g *guesser) noSource() string {
	for _, p := range append(slices.Clone(sourceNames), "*") {
		for _, c := range g.columns {
			if ok, _ := text.Match(p, strings.ToLower(c.Name)); !ok || g.taken[c.Name] || c.list() {
				continue
			}
			switch {
			case c.blank > 0 && c.dividesLikeSources() && (p != "*" || !c.numeric()):
				return fmt.Sprintf(" (%s has no value in %s of %s rows)", c.Name, text.Count(c.blank), text.Count(c.rows))
			case p == "*":
			case len(c.distinct) == 1:
				return fmt.Sprintf(" (%s has one value alone)", c.Name)
			case !c.dividesLikeSources():
				return fmt.Sprintf(" (%s has %s values in %s rows)", c.Name, text.Count(len(c.distinct)), text.Count(c.rows))
			}
		}
	}
	return ""
}
