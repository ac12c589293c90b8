package table

import (
	"fmt"
	"slices"
	"strings"
)

// Words are the words of a column of categories. Each word is a feature: 1 in the rows that have the word, and 0 in all others. A row whose
// cell is missing, or has another word, has 0 in all of them. Where the only word is empty, the feature is 1 in the rows whose cell is
// missing (see [Missing]).
type Words struct {
	Column string   `json:"name"`
	Words  []string `json:"words"`
}

// CountWords returns the number of features that these columns add.
func CountWords(columns []Words) (n int) {
	for _, w := range columns {
		n += len(w.Words)
	}
	return n
}

// Missing returns the feature that says whether the cell of a column is missing (a missing indicator).
func Missing(column string) Words { return Words{Column: column, Words: []string{""}} }

// OfMissing reports whether w is a missing indicator, as [Missing] returns it.
func (w Words) OfMissing() bool { return len(w.Words) == 1 && w.Words[0] == "" }

// Features returns the names of the features, such as "shift=night", or "income is missing".
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

// coded is a column of words with the index of each word.
type coded struct {
	Words
	place map[string]int
	// unknown is the first word that was read and is not among Words, others the number of rows with an unknown word, and blank that of
	// rows without a word.
	unknown       string
	others, blank int64
}

// WithWords adds the features of words to the columns of t, an open table of the file path. It is an error where t lacks one of the columns
// of words, or already has a column with the name of a feature. Closing the returned table closes t.
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
			if hasColumn(columns, name) {
				return nil, fmt.Errorf("%s: expected no column %s beside the words of %s, found one", path, name, w.Column)
			}
			c.place[w.Words[i]] = i
		}
		out.coded = append(out.coded, c)
	}
	return out, nil
}

// Columns lists the columns of the file, followed by the features of words.
func (t *WordTable) Columns() []Column {
	columns := slices.Clone(t.Table.Columns())
	for _, c := range t.coded {
		for _, name := range c.Features() {
			columns = append(columns, Column{Name: name, Kind: Number})
		}
	}
	return columns
}

// Unknown calls f for each column in which unknown words were read, with the first of these words and the number of rows that have one.
func (t *WordTable) Unknown(f func(column, word string, rows int64)) {
	for _, c := range t.coded {
		if c.others > 0 {
			f(c.Column, c.unknown, c.others)
		}
	}
}

// Blank calls f for each column of words with the number of rows that were read and have none.
func (t *WordTable) Blank(f func(column string, rows int64)) {
	for _, c := range t.coded {
		if c.blank > 0 {
			f(c.Column, c.blank)
		}
	}
}

// Scan reads features of words together with features that are a column each. All are float32.
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
				if err := plan.fill(&part.Features, i, b, lo+i); err != nil {
					return err
				}
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
	of      Query // the query of the file
	numbers []int // for each feature its index among the features of the file, -1 for a word
	words   []wordScalar
}

// wordScalar is a column of words in a query. at is the index of the column among the scalars of the file or, for a missing indicator,
// among its features. features has the index of the feature of each word in the query, -1 where the query lacks it.
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

// fill writes the features of row `from` of b, a batch of the file, to row i of dst, which holds zeros. A word that is not UTF-8 is
// an error.
func (p *wordPlan) fill(dst *Vectors, i int, b *Batch, from int) error {
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
		case !there:
			w.blank++
		case known && w.features[place] >= 0:
			dst.F32[first+w.features[place]] = 1
		case !known:
			if err := b.CheckUTF8(from, w.Column, word); err != nil {
				return err
			}
			if w.others++; w.others == 1 {
				w.unknown = strings.Clone(word)
			}
		}
	}
	return nil
}
