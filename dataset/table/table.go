// Package table reads tables of rows from files, whatever their format, in
// batches of bounded memory. It knows nothing of what the columns are for.
package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/amtrl/amtrl/internal/text"
)

// Table is an open file of rows.
type Table interface {
	// Columns lists the columns in the order of the file.
	Columns() []Column
	// Rows is the number of rows, or -1 where only reading them tells.
	Rows() int64
	// Scan reads the columns that q names, from the first row on, and hands them
	// to f in batches, which f must not keep. It ends at the first error.
	Scan(q Query, f func(*Batch) error) error
	Close() error
}

// base is what the tables of all formats have.
type base struct {
	path    string
	file    file
	size    int64
	rows    int64
	columns []Column
}

func (t *base) Columns() []Column { return t.columns }

func (t *base) Rows() int64 { return t.rows }

func (t *base) Close() error { return t.file.Close() }

// Kind is what the cells of a column are.
type Kind int

// The kinds of columns. The cells of a text format are Text until they are read
// as something else; Other are those that cannot be read, such as nested lists.
const (
	Other Kind = iota
	Text
	Integer
	Number
	Bool
	Vector
)

func (k Kind) String() string {
	return [...]string{"a type that is not read", "text", "integers", "numbers", "booleans", "lists of numbers"}[k]
}

// Scalar says whether each row has one value, or none.
func (k Kind) Scalar() bool { return k != Vector && k != Other }

// Element is how numbers of features are stored.
type Element int

// The types of features, those of pools.
const (
	Float32 Element = iota
	Float16
	Uint8
)

// Bytes is the size of an element.
func (e Element) Bytes() int { return [...]int{4, 2, 1}[e] }

func (e Element) String() string { return [...]string{"float32", "float16", "uint8"}[e] }

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	// Element is how the numbers of Integer, Number and Vector columns are kept as
	// features: those that are neither uint8 nor float16 as float32.
	Element Element
	// Width is the number of elements of a vector, 0 where the rows tell.
	Width int
	// Time says that integers are days or times since some moment. As single values they are text in the form of ISO 8601, as
	// features numbers.
	Time bool
}

// Query says what to read.
type Query struct {
	// Scalars are columns of one value per row.
	Scalars []string
	// Features is one column of vectors, or columns of one number or boolean per row
	// that together are the vector. None is read where it is empty.
	Features []string
	// Width is the length that every vector must have, 0 for that of the first row.
	Width int
	// Gaps says that cells of features that are a column each may be missing. They are NaN, and all are float32.
	Gaps bool
	// Next, where it is set, is the row to read next, at or behind the one that it gets, and rows before that are passed over, which
	// costs little. Each batch is one row, and there are no features. A table with the vectors of another file reads all.
	Next func(row int64) int64
}

// Batch is a number of rows that follow each other.
type Batch struct {
	// First is the index in the file of the first row.
	First int64
	Rows  int
	// Scalars are the columns of the query, in its order.
	Scalars []Values
	// Features are Rows vectors.
	Features Vectors
	// Read is how many bytes of the file have been read so far.
	Read int64

	path  string
	gaps  bool  // as of the query
	lines []int // where the rows of a text format begin
}

// Where names row i of the batch: the file and its row, from 0, or its line, from 1.
func (b *Batch) Where(i int) string {
	if len(b.lines) > 0 {
		return fmt.Sprintf("%s: line %d", b.path, b.lines[i])
	}
	return fmt.Sprintf("%s: row %d", b.path, b.First+int64(i))
}

// Line is the line, from 1, on which row i of the batch begins, 0 in formats without lines.
func (b *Batch) Line(i int) int {
	if len(b.lines) == 0 {
		return 0
	}
	return b.lines[i]
}

// Fault says what a column should have in row i of the batch, and what it has.
func (b *Batch) Fault(i int, column, expected string, args ...any) error {
	return fmt.Errorf("%s, column %s: expected %s", b.Where(i), column, fmt.Sprintf(expected, args...))
}

// CheckUTF8 refuses a name in row i that is not UTF-8, as of a file in another encoding.
func (b *Batch) CheckUTF8(i int, column, name string) error {
	if found := notUTF8(name); found != "" {
		return b.Fault(i, column, "UTF-8, found %s in %q: save the file in UTF-8", found, text.OneLine(name, maxQuoted))
	}
	return nil
}

// notUTF8 says which byte of a text is not UTF-8, and is empty where all are.
func notUTF8(s string) string {
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("the byte 0x%02x", s[i])
		}
	}
	return ""
}

// Find returns the index of a column, or an error that names those there are.
func Find(path string, columns []Column, name string) (int, error) {
	if i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return i, nil
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	const most = 8
	list := strings.Join(text.Nearest(name, names, most), ", ")
	if len(names) > most {
		list += ", ..."
	}
	return 0, fmt.Errorf("%s: expected a column %q, found %s", path, text.OneLine(name, maxQuoted), text.OneLine(list, 8*maxQuoted))
}

// maxQuoted bounds what a message quotes of a file.
const maxQuoted = 80

// maxWidth bounds the length of a vector, so that one row has bounded memory.
const maxWidth = 1 << 20

// batchRows is how many rows of a width make a batch: about a mebibyte of
// features, and few of those whose width is not known yet.
func batchRows(width int, features bool) int {
	switch {
	case !features:
		return 4096
	case width == 0:
		return 16
	}
	return max(1, min(4096, (1<<18)/width))
}

// resolve finds the columns of a query and holds them against their kinds. Features
// of a text format are text.
func (t *base) resolve(q Query, isText bool) (b *Batch, scalars, features []int, err error) {
	find := func(names []string, expected string, fits func(Kind) bool) (found []int) {
		for _, name := range names {
			i, e := Find(t.path, t.columns, name)
			if e == nil && !fits(t.columns[i].Kind) {
				e = fmt.Errorf("%s: column %s: expected %s, found %s", t.path, name, expected, t.columns[i].Kind)
			}
			err = cmp.Or(err, e)
			found = append(found, i)
		}
		return found
	}
	scalars = find(q.Scalars, "one value per row", Kind.Scalar)
	features = find(q.Features, "numbers for features", func(k Kind) bool {
		return k != Other && (k != Text || isText) && (k != Vector || len(q.Features) == 1)
	})
	b = &Batch{path: t.path, gaps: q.Gaps, Scalars: make([]Values, len(scalars)), Features: Vectors{Width: q.Width}}
	return b, scalars, features, err
}

// reset empties the batch and keeps its memory.
func (b *Batch) reset() {
	b.Rows, b.lines = 0, b.lines[:0]
	for i := range b.Scalars {
		b.Scalars[i].reset()
	}
	b.Features.reset()
}

// FeatureElement is how the features of some columns are kept together, with gaps or without.
func FeatureElement(columns []Column, gaps bool) Element {
	e := columns[0].Element
	for _, c := range columns {
		if c.Element != e || c.Kind == Text || gaps {
			return Float32
		}
	}
	return e
}
