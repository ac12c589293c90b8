package manifest

import (
	"context"
	"hash/maphash"
	"math"
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
			if words := other.cells.words; words[i] != words[at] {
				return false
			}
		}
	}
	return true
}

// rowsPerBeginning is the least mean number of rows whose serial ids begin alike, where they begin in several ways.
const rowsPerBeginning = 20

// serialID is a word without blanks that ends in a number, such as TK00017, or in several with signs between them, such as S3-17, AB-12-5
// or 2023/00017, also where the ending of a file follows, as in IMG_0017.png.
var serialID = regexp.MustCompile(`^([^\s\d]+|[\pL\d_#./-]*[\pL_#./-])\d+(\.[A-Za-z]{3,4})?$`)

// digitRun matches the numbers in the beginning of a serialID.
var digitRun = regexp.MustCompile(`\d+`)

// serials reports whether each row has a serialID of its own, as serialWords says.
func (c *column) serials() bool { return len(c.distinct) == c.rows && c.serialWords() }

// serialWords reports whether each row has a serialID and these begin in few ways apart from the numbers, such as with a letter for each
// plant.
func (c *column) serialWords() bool {
	if !c.words() || c.missing > 0 || c.rows < enoughNumbered || c.commas > 0 || c.units > 0 {
		return false
	}
	beginnings := map[string]bool{}
	for word := range c.distinct {
		m := serialID.FindStringSubmatch(word)
		if m == nil {
			return false
		}
		beginnings[digitRun.ReplaceAllString(m[1], "0")] = true
	}
	return len(beginnings) == 1 || rowsPerBeginning*len(beginnings) <= c.rows
}

// dropRepeatedID drops an id that was guessed if not every row has a value of its own. One that was guessed from its name, or numbers the
// rows, was looked at in the first file; where there are others, their rows count too, and another column that looks like the id is taken.
func (g *guesser) dropRepeatedID(ctx context.Context, m *Manifest, known Known, inputs []Input) error {
	for c := g.column(m.ID); known.ID == "" && c != nil; c = g.column(m.ID) {
		if (c.serials() || c.drawnOnce && !c.numbered()) && !c.named(idNames) {
			all, err := everyOnce(ctx, inputs, m.ID)
			if err == nil && all == nil {
				delete(g.taken, m.ID)
				m.ID = ""
			}
			return err
		}
		if len(inputs) < 2 {
			return nil
		}
		again, err := readRepeats(ctx, inputs, m.ID)
		if err != nil || again == nil {
			return err
		}
		c.again = again
		delete(g.taken, m.ID)
		m.ID = g.pickID(known)
	}
	return nil
}

// everyOnce reads all rows and describes the values of a column. It returns nil where not each row has a value of its own, or there are
// more than countRows rows.
func everyOnce(ctx context.Context, inputs []Input, name string) (*column, error) {
	all, seen := &column{low: math.Inf(1), high: math.Inf(-1)}, map[uint64]bool{}
	for _, in := range inputs {
		t, err := table.Open(in.Path, in.Format)
		if err != nil {
			return nil, err
		}
		err = t.Scan(table.Query{Scalars: []string{name}}, func(b *table.Batch) error {
			v := &b.Scalars[0]
			for i := range b.Rows {
				key := maphash.String(wordSeed, v.Word(i))
				if v.IsEmpty(i) || seen[key] || len(seen) == countRows {
					return errEnough
				}
				seen[key] = true
				if x, is := v.Number(i); is {
					all.low, all.high = min(all.low, x), max(all.high, x)
				}
			}
			all.rows += b.Rows
			return ctx.Err()
		})
		t.Close()
		if err == errEnough {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
