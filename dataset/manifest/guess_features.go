package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// leastVector is the least number of numbered columns that are taken for a vector although there are other columns of numbers. Fewer, such
// as s1 to s6, are columns of a table like the others.
const leastVector = 32

// Where up to mostFew columns of features have more than two values and are no vector, columns have knots, at usualKnots quantiles of each,
// and up to mostFew missing indicators. Up to mostFactors columns, those of two values too, have products, except where rows belong
// together: so many features would tell the groups apart.
const (
	mostFew     = 200
	usualKnots  = 5
	mostFactors = 20
)

// guessFeatures returns a column of lists, or the numbered columns where they are alone or many, or otherwise all columns of numbers and
// booleans that are not taken and have most of their cells. vector reports whether the features are a list, or at least leastVector
// numbered columns: words beside them are no features.
func (g *guesser) guessFeatures() (names []string, vector bool) {
	if name := g.pick(append(featureNames, "*"), (*column).list); name != "" {
		return []string{name}, true
	}
	numbered := map[string]int{}
	var rest, prefixes []string
	for _, c := range g.columns {
		if g.taken[c.Name] || !c.numeric() && !c.boolean() || c.sparse() || c.Time || c.epoch() || c.identifies() || c.constant() ||
			c.likeGroups() || c.late.is() || c.padded {
			continue
		}
		rest = append(rest, c.Name)
		if prefix, is := serial(c.Name); is {
			if numbered[prefix]++; numbered[prefix] == 1 {
				prefixes = append(prefixes, prefix)
			}
		}
	}
	slices.SortStableFunc(prefixes, func(a, b string) int { return numbered[b] - numbered[a] })
	if len(prefixes) == 0 {
		return rest, false
	}
	n := numbered[prefixes[0]]
	if n < 2 || n < len(rest) && (n < leastVector || 2*n <= len(rest)) {
		return rest, false
	}
	pattern := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(prefixes[0]) + "[0-9]*"
	others := slices.ContainsFunc(g.columns, func(c *column) bool {
		is, _ := text.Match(pattern, c.Name)
		return is && !g.taken[c.Name] && !slices.Contains(rest, c.Name)
	})
	if !others {
		return []string{pattern}, n >= leastVector
	}
	return slices.DeleteFunc(rest, func(name string) bool {
		prefix, is := serial(name)
		return !is || prefix != prefixes[0]
	}), n >= leastVector
}

// mostWords is the largest number of words in a column that is taken for categories.
const mostWords = 20

// guessCategories returns the columns of few words, each of which occurs five times or more on average, that have at least half of their
// cells and are not like a split, nor like the cost of a label with a unit, which says nothing within a source.
func (g *guesser) guessCategories(source *column) (names []string) {
	for _, c := range g.columns {
		if c.hasUnits() && c.saysCost() && c.fixed(source) {
			continue
		}
		few := c.kinds() >= 2 && c.kinds() <= mostWords && 5*c.kinds() <= c.has()
		if !g.taken[c.Name] && (c.words() || c.padded) && few && 2*c.missing <= c.rows && !c.named(sureIDs) && !c.splits() && !c.likeGroups() &&
			!c.late.is() && !c.likeFiles {
			names = append(names, c.Name)
		}
	}
	return names
}

// splits reports whether all values are names of splits.
func (c *column) splits() bool {
	for word := range c.distinct {
		if !isSplit(word) {
			return false
		}
	}
	return true
}

// refuseCommas returns an error where columns that among selects have numbers with commas, decimal or between thousands. instead says what
// else the user can do.
func (g *guesser) refuseCommas(file string, among func(*column) bool, instead string) error {
	var names []string
	example, decimal, either, how := "", false, true, `decimal=","`
	for _, c := range g.columns {
		if !c.hasCommas() || !among(c) {
			continue
		}
		if c.pointed {
			return fmt.Errorf("%s: column %s: expected numbers without points, which can be between thousands in this file, found %q: write the "+
				"numbers without them%s", c.commaIn, text.OneLine(c.Name, 80), text.OneLine(c.comma, 80), instead)
		}
		if names = append(names, c.Name); len(names) == 1 {
			file, example = c.commaIn, c.comma
		}
		decimal, either = decimal || !c.thousands(), either && c.decimal == c.commas
		if c.points > 0 {
			how = `decimal=",", thousands="."`
		}
	}
	if len(names) == 0 {
		return nil
	}
	kind := "column"
	if len(names) > 1 {
		kind = "columns"
	}
	expected, write := "with a decimal point", "with points"
	if !decimal {
		expected, write, how = "without commas", "without them", `thousands=","`
	}
	if !decimal && either {
		instead = `, or decimal="," where they are decimal signs` + instead
	}
	return fmt.Errorf("%s: %s %s: expected numbers %s, found %q: write the file %s, such as by pandas.read_csv(..., %s).to_csv(...)%s",
		file, kind, text.OneLine(strings.Join(names, ", "), 200), expected, text.OneLine(example, 80), write, how, instead)
}

// refuseWords returns an error for the first of the features that has something other than numbers, or no value, in the rows looked at.
func (g *guesser) refuseWords(file string, features []string) error {
	for _, c := range g.columns {
		expected := fmt.Sprintf("%s: column %s: expected numbers for features, found", cmp.Or(c.wordIn, file), text.OneLine(c.Name, 80))
		switch {
		case !slices.Contains(features, c.Name) || c.list() || c.Time && c.has() > 0:
		case c.Kind == table.Other:
			return fmt.Errorf("%s %s", expected, c.Kind)
		case c.has() > 0 && c.dates == c.has():
			return fmt.Errorf("%s days such as %q: make numbers of them, such as the month and the weekday", expected, text.OneLine(c.word, 80))
		case c.hasUnits():
			return fmt.Errorf("%s them with a unit: %q: %s", expected, text.OneLine(c.united, 80), c.plainUnits())
		case c.has() > 0 && !c.numeric() && !c.boolean() && c.numbers == 0:
			return fmt.Errorf("%s %q: name columns of few words with --categories", expected, text.OneLine(c.word, 80))
		case c.has() > 0 && !c.numeric() && !c.boolean():
			return fmt.Errorf("%s %q", expected, text.OneLine(c.word, 80))
		case c.has() == 0:
			return fmt.Errorf("%s none in %s", expected, text.Several(c.rows, "row"))
		}
	}
	return nil
}
