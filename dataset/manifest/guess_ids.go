package manifest

import (
	"context"
	"hash/maphash"
	"regexp"

	"github.com/amtrl/amtrl/dataset/table"
)

// markCopies sets copied for the columns that would number the rows, were it not for rows that are copies of others: they equal these in
// all that was looked at.
func markCopies(columns []*column) {
	for _, c := range columns {
		once, twice := c.repeated()
		c.copied = c.numeric() && c.ints == c.rows && c.first.numbered && twice > 0 && once > twice && c.rows >= enoughNumbered &&
			c.onlyCopies(columns)
	}
}

// onlyCopies reports whether rows with the same value of the column have the same values in all other columns.
func (c *column) onlyCopies(columns []*column) bool {
	first := map[uint64]int{}
	for i, word := range c.cells.words {
		at, seen := first[word]
		if !seen {
			first[word] = i
			continue
		}
		for _, other := range columns {
			if words := other.cells.words; len(words) == c.rows && words[i] != words[at] {
				return false
			}
		}
	}
	return true
}

// rowsPerBeginning is the least mean number of rows whose serial ids begin alike, where they begin in several ways.
const rowsPerBeginning = 20

// serialID is a word without blanks that ends in a number, such as TK00017.
var serialID = regexp.MustCompile(`^([^\s\d]+)\d+$`)

// serials reports whether each row has a serialID of its own and these begin in few ways, such as with a letter for each plant.
func (c *column) serials() bool {
	if !c.words() || c.missing > 0 || len(c.distinct) != c.rows || c.rows < enoughNumbered {
		return false
	}
	beginnings := map[string]bool{}
	for word := range c.distinct {
		m := serialID.FindStringSubmatch(word)
		if m == nil {
			return false
		}
		beginnings[m[1]] = true
	}
	return len(beginnings) == 1 || rowsPerBeginning*len(beginnings) <= c.rows
}

// dropRepeatedID drops an id that was guessed from its values if not every row has a value of its own.
func (g *guesser) dropRepeatedID(ctx context.Context, m *Manifest, known Known, inputs []Input) error {
	c := g.column(m.ID)
	if known.ID != "" || c == nil || !c.serials() || c.named(idNames) {
		return nil
	}
	is, err := unique(ctx, inputs, m.ID)
	if err == nil && !is {
		delete(g.taken, m.ID)
		m.ID = ""
	}
	return err
}

// unique reports whether all rows were read and each has a value of its own in a column.
func unique(ctx context.Context, inputs []Input, column string) (bool, error) {
	seen, repeated := map[uint64]bool{}, false
	for _, in := range inputs {
		t, err := table.Open(in.Path, in.Format)
		if err != nil {
			return false, err
		}
		err = t.Scan(table.Query{Scalars: []string{column}}, func(b *table.Batch) error {
			for i := range b.Rows {
				key := maphash.String(wordSeed, b.Scalars[0].Word(i))
				repeated = repeated || b.Scalars[0].IsMissing(i) || seen[key]
				seen[key] = true
			}
			if repeated || len(seen) > countRows {
				return errEnough
			}
			return ctx.Err()
		})
		t.Close()
		if err == errEnough {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
