package table

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxSpread bounds the number of elements of lists that are features beside others, each of which has a name.
const maxSpread = 1 << 14

// listTable is a table in which the elements of some lists are further columns.
type listTable struct {
	Table
	path  string
	width map[string]int // the number of elements of each of the lists
}

// WithLists returns t, an open table of the file path, with a column for each element of the lists among several features: those of the
// list fp are fp.0, fp.1 and so on. features are names of columns, of which those that t lacks may be such elements. All lists of a column
// must be as long as its first. The elements can be read as features alone, all of a list in their order. Closing the returned table
// closes t.
func WithLists(t Table, path string, features []string) (Table, error) {
	if len(features) < 2 {
		return t, nil
	}
	columns := map[string]Column{}
	for _, c := range t.Columns() {
		columns[c.Name] = c
	}
	var lists, texts []string
	for _, name := range features {
		c, is := columns[name]
		of, first := strings.CutSuffix(name, ".0")
		if first = first && !is; first {
			c = columns[of]
		}
		switch {
		case c.Kind == Vector || first && c.Name != "":
			lists = append(lists, c.Name)
		case c.Kind == Text:
			texts = append(texts, c.Name)
		}
	}
	err := firstRow(t, Query{Scalars: texts, Next: func(row int64) int64 { return row }}, func(b *Batch) {
		for i, name := range texts {
			if cell := b.Scalars[i].Word(0); !b.Scalars[i].Lacks(0) && isList(cell) && !NoNumbers(cell) {
				lists = append(lists, name)
			}
		}
	})
	out, all := &listTable{t, path, map[string]int{}}, 0
	for _, name := range lists {
		for slices.Contains(features, elementOf(name, out.width[name])) { // where there are no rows
			out.width[name]++
		}
		if err == nil {
			err = firstRow(t, Query{Features: []string{name}}, func(b *Batch) { out.width[name] = b.Features.Width })
		}
		if all += out.width[name]; err == nil && all > maxSpread {
			err = fmt.Errorf("%s: column %s: expected at most %d elements in all lists beside other features, found more", path, name, maxSpread)
		}
	}
	for _, c := range out.Columns() {
		if _, twice := columns[c.Name]; twice && c.ListOf != "" && err == nil {
			err = fmt.Errorf("%s: expected no column %s beside the elements of %s, found one", path, c.Name, c.ListOf)
		}
	}
	if err != nil || len(out.width) == 0 {
		return t, err
	}
	return out, nil
}

// firstRow reads what q asks for and passes the first batch to f, if there is one.
func firstRow(t Table, q Query, f func(*Batch)) error {
	enough := errors.New("the first row was read")
	err := error(nil)
	if len(q.Scalars)+len(q.Features) > 0 {
		err = t.Scan(q, func(b *Batch) error {
			f(b)
			return enough
		})
	}
	if err == enough {
		return nil
	}
	return err
}

// isList reports whether a cell begins as a list does.
func isList(cell string) bool { return len(cell) > 0 && strings.IndexByte("[({", cell[0]) >= 0 }

func elementOf(list string, i int) string { return list + "." + strconv.Itoa(i) }

// Columns lists the columns of the file, followed by the elements of lists.
func (t *listTable) Columns() []Column {
	columns := slices.Clone(t.Table.Columns())
	for _, c := range t.Table.Columns() {
		for i := range t.width[c.Name] {
			columns = append(columns, Column{Name: elementOf(c.Name, i), Kind: Number, ListOf: c.Name})
		}
	}
	return columns
}

// Spread returns the names of features, with the elements in place of each list that columns have spread.
func Spread(columns []Column, names []string) (out []string) {
	elements := map[string][]string{}
	for _, c := range columns {
		if c.ListOf != "" {
			elements[c.ListOf] = append(elements[c.ListOf], c.Name)
		}
	}
	for _, name := range names {
		if of := elements[name]; of != nil {
			out = append(out, of...)
		} else {
			out = append(out, name)
		}
	}
	return out
}

// Scan reads elements as float32. Lists must be whole, also where the query allows gaps.
func (t *listTable) Scan(q Query, f func(*Batch) error) error {
	of, some := q, false
	of.Features, of.lists, of.spread = nil, nil, q.Features
	for i := 0; i < len(q.Features); {
		list, first := strings.CutSuffix(q.Features[i], ".0")
		width := t.width[list]
		if !first || width == 0 {
			of.Features, of.lists = append(of.Features, q.Features[i]), append(of.lists, 0)
			i++
			continue
		}
		n := 0
		for i+n < len(q.Features) && q.Features[i+n] == elementOf(list, n) {
			n++
		}
		if n != width {
			return fmt.Errorf("%s: column %s: expected %d elements, found %d", t.path, list, n, width)
		}
		of.Features, of.lists, some = append(of.Features, list), append(of.lists, width), true
		i += n
	}
	if !some {
		return t.Table.Scan(q, f)
	}
	if err := checkWidth(t.path, q, len(q.Features), len(q.Features)); err != nil {
		return err
	}
	of.Width = len(q.Features)
	return t.Table.Scan(of, f)
}

// list returns the number of elements of feature i where it is a list beside others, else 0.
func (q *Query) list(i int) int {
	if i < len(q.lists) {
		return q.lists[i]
	}
	return 0
}

// names returns the names of the features, with those of the elements of lists beside others.
func (q *Query) names() []string {
	if len(q.lists) > 0 {
		return q.spread
	}
	return q.Features
}

// inList reports whether an element of the vector is one of a list beside others.
func (q *Query) inList(element int) bool {
	for _, n := range q.lists {
		if element < max(1, n) {
			return n > 0
		}
		element -= max(1, n)
	}
	return false
}
