package table

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// absentTable is a table with further columns, whose cells are all missing.
type absentTable struct {
	Table
	path  string
	names []string
}

// WithAbsent returns t, an open table of the file path, with a further column for each of the names that it lacks. Their cells are all
// missing. They can be read as scalars, and as features where the query allows gaps. A name that differs from that of a column of t in
// capitals, blanks or what cannot be seen alone is an error. Closing the returned table closes t.
func WithAbsent(t Table, path string, names []string) (Table, error) {
	out := &absentTable{Table: t, path: path}
	for _, name := range names {
		if hasColumn(t.Columns(), name) {
			continue
		}
		if alike(t.Columns(), name) != "" {
			_, err := Find(path, t.Columns(), name)
			return t, err
		}
		out.names = append(out.names, name)
	}
	if len(out.names) == 0 {
		return t, nil
	}
	return out, nil
}

// Columns lists the columns of the file, followed by those that it lacks.
func (t *absentTable) Columns() []Column {
	columns := slices.Clone(t.Table.Columns())
	for _, name := range t.names {
		columns = append(columns, Column{Name: name, Kind: Number, Absent: true})
	}
	return columns
}

func (t *absentTable) lacks(name string) bool { return slices.Contains(t.names, name) }

// Scan reads the features beside absent ones as float32.
func (t *absentTable) Scan(q Query, f func(*Batch) error) error {
	of := q
	of.Scalars = slices.DeleteFunc(slices.Clone(q.Scalars), t.lacks)
	of.Features = slices.DeleteFunc(slices.Clone(q.Features), t.lacks)
	features := len(of.Features) < len(q.Features)
	if !features && len(of.Scalars) == len(q.Scalars) {
		return t.Table.Scan(q, f)
	}
	var there []bool // by element of a vector: whether the file has it
	if features {
		if i := slices.IndexFunc(q.Features, t.lacks); !q.Gaps {
			return fmt.Errorf("%s: expected a column %q, or fill in the manifest, which says what stands for its cells, found neither", t.path,
				text.OneLine(q.Features[i], maxQuoted))
		}
		of.lists, of.spread = nil, slices.DeleteFunc(slices.Clone(q.spread), t.lacks)
		for j, name := range q.Features {
			has, width := !t.lacks(name), 1
			if len(q.lists) > 0 {
				if width = max(1, q.lists[j]); has {
					of.lists = append(of.lists, q.lists[j])
				}
			}
			there = append(there, slices.Repeat([]bool{has}, width)...)
		}
		if of.Width > 0 {
			of.Width -= len(q.Features) - len(of.Features)
		}
	}
	scalars, vectors := make([]Values, len(q.Scalars)), Vectors{}
	return t.Table.Scan(of, func(b *Batch) error {
		out, own := *b, 0
		for j, name := range q.Scalars {
			if t.lacks(name) {
				scalars[j].none(b.Rows)
				continue
			}
			scalars[j] = b.Scalars[own]
			own++
		}
		if out.Scalars = scalars; features {
			vectors.spread(&b.Features, there, b.Rows)
			out.Features = vectors
		}
		return f(&out)
	})
}

// none makes v a column of text of which all rows lack a value.
func (v *Values) none(rows int) {
	v.Missing, v.Text = resize(v.Missing, rows), resize(v.Text, rows)
	for i := range rows {
		v.Missing[i], v.Text[i] = true, ""
	}
}

// spread makes v rows of those elements that there says are in from, in their order, and of NaN in place of the others.
func (v *Vectors) spread(from *Vectors, there []bool, rows int) {
	v.reset()
	v.Width = len(there)
	if from.Len() > 0 {
		from.widen()
	}
	next := 0
	for range rows {
		for _, has := range there {
			if !has {
				v.push(nan)
				continue
			}
			v.push(from.Wide(next))
			next++
		}
	}
}
