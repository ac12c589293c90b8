package table

import (
	"fmt"
	"slices"
	"strings"
)

// Words are the words of a column of few, each of which is a feature: 1 in the rows that have it, and 0 in all others. A cell that is
// missing, or has another word, has none of them. Where the only word is empty, the feature is 1 in the rows whose cell is missing (see
// [Missing]).
type Words struct {
	Column string   `json:"name"`
	Words  []string `json:"words"`
}

// CountWords is how many features columns of words are.
func CountWords(columns []Words) (n int) {
	for _, w := range columns {
		n += len(w.Words)
	}
	return n
}

// Missing is the feature that says whether the cell of a column is missing (a missing indicator).
func Missing(column string) Words { return Words{Column: column, Words: []string{""}} }

// OfMissing says whether these are of [Missing].
func (w Words) OfMissing() bool { return len(w.Words) == 1 && w.Words[0] == "" }

// Features are the names of the features, such as "shift=night", or "income is missing".
func (w Words) Features() []string {
	if w.OfMissing() {
		return []string{w.Column + " is missing"}
	}
	names := make([]string, len(w.Words))
	for i, word := range w.Words {
		names[i] = w.Column + "=" + word
	}
	return names
}

// WordTable is a table with the words of some of its columns as features.
type WordTable struct {
	Table
	path  string
	coded []coded
	batch Batch
}

// coded is a column of words.
type coded struct {
	Words
	place map[string]int
	// unknown is a word that is none of these, and others the rows with such.
	unknown string
	others  int64
}

// WithWords adds to the columns of an open table of the file path those of the features of words. It is an error where the table has
// no such column, or already one of their names. To close it closes t.
func WithWords(t Table, path string, words []Words) (*WordTable, error) {
	out := &WordTable{Table: t, path: path}
	for _, w := range words {
		columns := t.Columns()
		i, err := Find(path, columns, w.Column)
		if err != nil {
			return nil, err
		}
		if k := columns[i].Kind; k == Vector || k == Other {
			return nil, fmt.Errorf("%s: column %s: expected one word per row, found %s", path, w.Column, k)
		}
		c := coded{Words: w, place: map[string]int{}}
		for i, name := range w.Features() {
			if slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name }) {
				return nil, fmt.Errorf("%s: expected no column %s beside the words of %s, found one", path, name, w.Column)
			}
			c.place[w.Words[i]] = i
		}
		out.coded = append(out.coded, c)
	}
	return out, nil
}

// Columns lists those of the file, and behind them the features of words.
func (t *WordTable) Columns() []Column {
	columns := slices.Clone(t.Table.Columns())
	for _, c := range t.coded {
		for _, name := range c.Features() {
			columns = append(columns, Column{Name: name, Kind: Number})
		}
	}
	return columns
}

// Unknown tells f each column that had other words than those it should have in what was read, the first of them, and in how many rows.
func (t *WordTable) Unknown(f func(column, word string, rows int64)) {
	for _, c := range t.coded {
		if c.others > 0 {
			f(c.Column, c.unknown, c.others)
		}
	}
}

// Scan reads features of words beside features that are a column each. All are float32.
func (t *WordTable) Scan(q Query, f func(*Batch) error) error {
	plan := t.plan(q)
	if len(plan.words) == 0 {
		return t.Table.Scan(q, f)
	}
	for _, w := range plan.words {
		if w.at < 0 {
			return fmt.Errorf("%s: expected column %s among the features beside %s, found none", t.path, w.Column, w.Features()[0])
		}
	}
	width := len(q.Features)
	if err := checkWidth(t.path, q, width, width); err != nil {
		return err
	}
	return t.Table.Scan(plan.of, func(b *Batch) error {
		if n := b.Features.Width; n != len(plan.of.Features) {
			return fmt.Errorf("%s: column %s: expected a number per row beside words, found lists of %d", t.path, plan.of.Features[0], n)
		}
		for lo := 0; lo < b.Rows; {
			hi := min(b.Rows, lo+batchRows(width, true))
			part := &t.batch
			b.part(part, lo, hi)
			part.Features.Width = width
			part.Features.grow(Float32, part.Rows*width)
			clear(part.Features.F32)
			for i := range part.Rows {
				plan.fill(&part.Features, i, b, lo+i)
			}
			part.Scalars, part.Read = part.Scalars[:len(q.Scalars)], b.Read
			if err := f(part); err != nil {
				return err
			}
			lo = hi
		}
		return nil
	})
}

// wordPlan says where the features of a query come from.
type wordPlan struct {
	of      Query // of the file
	numbers []int // by feature, its place among those of the file, -1 for that of a word
	words   []wordScalar
}

// wordScalar is a column of words, which is scalar at of the file, and by word the place of its feature, -1 for none. Of what is missing
// at is its feature of the file.
type wordScalar struct {
	*coded
	at       int
	features []int
}

func (t *WordTable) plan(q Query) (p wordPlan) {
	p.of = Query{Scalars: slices.Clone(q.Scalars), Gaps: q.Gaps, Next: q.Next}
	asked := map[string]int{}
	for i, name := range q.Features {
		asked[name] = i
	}
	for i := range t.coded {
		c, some := wordScalar{coded: &t.coded[i], at: len(p.of.Scalars)}, false
		for _, name := range c.Features() {
			at, is := asked[name]
			if !is {
				at = -1
			}
			c.features, some = append(c.features, at), some || is
			delete(asked, name)
		}
		if some && !c.OfMissing() {
			p.of.Scalars = append(p.of.Scalars, c.Column)
		}
		if some {
			p.words = append(p.words, c)
		}
	}
	for _, name := range q.Features {
		at := -1
		if _, is := asked[name]; is {
			at, p.of.Features = len(p.of.Features), append(p.of.Features, name)
		}
		p.numbers = append(p.numbers, at)
	}
	for i := range p.words {
		if w := &p.words[i]; w.OfMissing() {
			w.at = slices.Index(p.of.Features, w.Column)
		}
	}
	return p
}

// fill writes row i of dst, which is zeros, from row `from` of a batch of the file.
func (p *wordPlan) fill(dst *Vectors, i int, b *Batch, from int) {
	first, row := i*dst.Width, from*b.Features.Width
	for j, at := range p.numbers {
		if at >= 0 {
			dst.Set(first+j, b.Features.Element(row+at))
		}
	}
	for _, w := range p.words {
		if w.OfMissing() {
			if x := b.Features.Element(row + w.at); x != x {
				dst.F32[first+w.features[0]] = 1
			}
			continue
		}
		word, there := b.Scalars[w.at].Category(from)
		place, known := w.place[word]
		switch {
		case there && known && w.features[place] >= 0:
			dst.F32[first+w.features[place]] = 1
		case there && !known:
			if w.others++; w.others == 1 {
				w.unknown = strings.Clone(word)
			}
		}
	}
}
