package manifest

import (
	"context"
	"hash/maphash"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// everywhere says how often the values of a column occur in all rows, up to countRows of them: twice of them occur more than once. Where a
// value is found in several sources, nothing more is counted.
type everywhere struct {
	rows, values, twice int
	several             bool
}

// recurring returns the number of values that occur more than once, and of all values. Of a column that may be groups whose rows lie
// scattered over a file, of which the rows looked at have few, these are counted in all rows.
func (c *column) recurring() (twice, values int) {
	if c.all != nil && !c.all.several {
		return c.all.twice, c.all.values
	}
	_, twice = c.repeated()
	return twice, len(c.distinct)
}

// countNamed counts the values of the columns with a name of groups that the rows looked at do not show to be groups.
func (l *looked) countNamed(ctx context.Context, inputs []Input) error {
	return l.countValues(ctx, inputs, &Manifest{}, func(c *column) bool { return c.namesGroups() && !c.dividesLikeSources() })
}

// countWithin counts the values of the columns of texts of which the rows looked at do not show whether they are groups within the sources.
func (g *guesser) countWithin(ctx context.Context, inputs []Input, m *Manifest) error {
	source := g.sourceOf(m)
	return g.countValues(ctx, inputs, m, func(c *column) bool {
		_, twice := c.repeated()
		return m.Group == "" && !m.reads(c.Name) && c.all == nil && twice > 0 && !c.groupsWithin(source) && c.withinSources(source)
	})
}

// countValues sets all of the columns that fit, if there are more rows than those that were looked at. Where the manifest has a source, it
// looks for values that are in several.
func (l *looked) countValues(ctx context.Context, inputs []Input, m *Manifest, fits func(*column) bool) error {
	const together = 4 // columns of one pass, each of which may have a value for each row
	which := slices.DeleteFunc(slices.Clone(l.scalars), func(c *column) bool { return int64(c.rows) >= l.rows || !fits(c) })
	for columns := range slices.Chunk(which, together) {
		var of []map[uint64]uint64
		for _, c := range columns {
			c.all = &everywhere{}
			of = append(of, map[uint64]uint64{})
		}
		rows := 0
		for _, in := range inputs {
			if err := countFile(ctx, in, m, columns, of, &rows); err == errEnough {
				break
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// countFile counts the values of columns in a file. of has for each value a hash, and with it the hash of its first source, whose last bit
// is 1 where the value was there again.
func countFile(ctx context.Context, in Input, m *Manifest, columns []*column, of []map[uint64]uint64, rows *int) error {
	t, err := table.Open(in.Path, in.Format)
	if err != nil {
		return err
	}
	defer t.Close()
	var q table.Query
	at := func(name string) int { // -1 where the file has no such column
		if name == "" || !slices.ContainsFunc(t.Columns(), func(c table.Column) bool { return c.Name == name && c.Kind.Scalar() }) {
			return -1
		}
		q.Scalars = append(q.Scalars, name)
		return len(q.Scalars) - 1
	}
	var place []int
	for _, c := range columns {
		place = append(place, at(c.Name))
	}
	by, source := at(m.Source), maphash.String(wordSeed, m.SourceOf(in.Path))
	if len(q.Scalars) == 0 {
		return nil
	}
	return t.Scan(q, func(b *table.Batch) error {
		left := false
		for j, c := range columns {
			for i := 0; i < b.Rows && place[j] >= 0 && !c.all.several; i++ {
				if by >= 0 {
					source = maphash.String(wordSeed, b.Scalars[by].Word(i))
				}
				c.all.add(&b.Scalars[place[j]], i, of[j], source)
			}
			left = left || !c.all.several
		}
		if *rows += b.Rows; !left || *rows >= countRows {
			return errEnough
		}
		return ctx.Err()
	})
}

// add counts value i of v, which is in a source.
func (a *everywhere) add(v *table.Values, i int, of map[uint64]uint64, source uint64) {
	word := v.Word(i)
	if v.Lacks(i) || word == "" || text.LooksMissing(word) {
		return
	}
	a.rows++
	const again = 1
	key := maphash.String(wordSeed, word)
	switch first, known := of[key]; {
	case !known:
		a.values++
		of[key] = source &^ again
	case first&^again != source&^again:
		a.several = true
	case first&again == 0:
		a.twice++
		of[key] = first | again
	}
}
