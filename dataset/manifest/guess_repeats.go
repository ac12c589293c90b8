package manifest

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// repeats says which values of a column are there more than once: twice of all values, the first of them word, which is in the rows at the
// places first and again. Where a row lacks a value, lacks says which.
type repeats struct {
	twice, values            int
	lacks                    string
	in                       string // which rows were read, where not all were
	word, first, again, name string
}

// String is the reason why the column is not the id.
func (r *repeats) String() string {
	if r.lacks != "" {
		return "no id: no value in " + r.lacks
	}
	return fmt.Sprintf("%s%s, the first %q in %s and %s; if it is the id, mend them, then --id %s", repeatedIDs(r.twice, r.values), r.in,
		text.OneLine(r.word, 40), r.first, r.again, text.ShellQuote(r.name))
}

func repeatedIDs(twice, values int) string {
	return fmt.Sprintf("repeated ids: %s of %s values more than once", text.Count(twice), text.Count(values))
}

// nearlyID reports whether a column would be the id, were it not for some values that are there more than once.
func (c *column) nearlyID() bool {
	once, twice := c.repeated()
	return twice > 0 && once > twice && c.missing == 0 && !c.list() && !c.measured() &&
		(c.named(idNames) || c.integers() && c.named(numberNames) || c.serialWords())
}

// findRepeats sets again for the columns that would be the id were it not for repeated values, fewer in all rows than those that are there
// once, if there is no id.
func (g *guesser) findRepeats(ctx context.Context, m *Manifest, known Known, inputs []Input) (err error) {
	if m.ID != "" || known.ID != "" {
		return nil
	}
	for _, c := range g.columns {
		once := c.missing == 0 && (c.serials() || c.drawnOnce) // in the rows looked at
		if g.taken[c.Name] || c.again != nil || !once && !c.nearlyID() {
			continue
		}
		if c.again, err = readRepeats(ctx, inputs, c.Name); err != nil {
			return err
		}
		if c.again != nil && (c.again.lacks != "" || !once && 2*c.again.twice >= c.again.values) {
			c.again = nil
		}
	}
	return nil
}

// readRepeats reads a column of all rows, up to countRows of them. It returns nil where each has a value of its own.
func readRepeats(ctx context.Context, inputs []Input, name string) (*repeats, error) {
	type place struct {
		row        int64
		file, line int32
		again      bool // whether the value is there again
	}
	at, r := map[uint64]place{}, &repeats{name: name}
	where := func(p place) string {
		of := ""
		if len(inputs) > 1 {
			of = inputs[p.file].Path + ": "
		}
		if p.line > 0 {
			return fmt.Sprintf("%sline %d", of, p.line)
		}
		return fmt.Sprintf("%srow %d", of, p.row)
	}
	rows := 0
	for file, in := range inputs {
		t, err := table.Open(in.Path, in.Format)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(t.Columns(), func(c table.Column) bool { return c.Name == name }) {
			t.Close()
			return &repeats{lacks: in.Path}, nil
		}
		lacks := ""
		err = t.Scan(table.Query{Scalars: []string{name}}, func(b *table.Batch) error {
			v := &b.Scalars[0]
			for i := range b.Rows {
				here := place{b.First + int64(i), int32(file), int32(b.Line(i)), false}
				word := v.Word(i)
				if v.Lacks(i) || word == "" || text.LooksMissing(word) {
					lacks = where(here)
				}
				if lacks != "" || rows == countRows {
					return errEnough
				}
				rows++
				key := maphash.String(wordSeed, word)
				switch old, known := at[key]; {
				case !known:
					at[key] = here
				case !old.again:
					if r.twice++; r.twice == 1 {
						r.word, r.first, r.again = strings.Clone(word), where(old), where(here)
					}
					old.again = true
					at[key] = old
				}
			}
			return ctx.Err()
		})
		t.Close()
		switch {
		case lacks != "":
			return &repeats{lacks: lacks}, nil
		case err == errEnough:
			r.in = fmt.Sprintf(" in the first %s", text.Several(rows, "row"))
		case err != nil:
			return nil, err
		}
	}
	if r.values = len(at); r.twice == 0 {
		return nil, nil
	}
	return r, nil
}
