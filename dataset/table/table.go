// Package table reads tables of rows from files of several formats in batches of bounded memory, and writes them. It does not know what the
// columns are for.
package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"

	"github.com/amtrl/amtrl/internal/text"
)

// Table is an open file of rows.
type Table interface {
	// Columns lists the columns in the order of the file.
	Columns() []Column
	// Rows returns the number of rows, or -1 where it is known only after reading them.
	Rows() int64
	// Scan reads the columns that q names, from the first row on, and passes them to f in batches, which f must not keep. It ends at the
	// first error.
	Scan(q Query, f func(*Batch) error) error
	Close() error
}

// base holds what the tables of all formats have in common.
type base struct {
	path    string
	file    file
	size    int64
	rows    int64
	columns []Column
	// encoding is that of a text, nil for UTF-8.
	encoding     encoding.Encoding
	encodingName string
}

func (t *base) Columns() []Column { return t.columns }

func (t *base) Rows() int64 { return t.rows }

func (t *base) Close() error { return t.file.Close() }

// Kind is the type of the cells of a column.
type Kind int

// The kinds of columns. The cells of a text format are Text until they are read as something else. Other is the kind of cells that cannot
// be read, such as nested lists.
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

// Scalar reports whether each row has at most one value.
func (k Kind) Scalar() bool { return k != Vector && k != Other }

// Element is the type in which features are stored.
type Element int

// The types of features, which are those of pools.
const (
	Float32 Element = iota
	Float16
	Uint8
)

// Bytes returns the size of an element in bytes.
func (e Element) Bytes() int { return [...]int{4, 2, 1}[e] }

func (e Element) String() string { return [...]string{"float32", "float16", "uint8"}[e] }

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	// Element is the type in which an Integer, Number or Vector column is stored as features: numbers that are neither uint8 nor float16
	// are stored as float32.
	Element Element
	// Width is the number of elements of a vector, 0 where it is known only after reading rows.
	Width int
	// Shape is the shape of each vector where the file has one, as of an array of more dimensions than rows and elements.
	Shape []int
	// ListOf is the column of lists of which [WithLists] makes it, empty for others.
	ListOf string
	// LogOf is the column whose logarithm [WithLogs] makes it of, empty for columns of the file.
	LogOf string
	// Absent says that the file lacks the column, which [WithAbsent] adds.
	Absent bool
	// Time says that integers are days or times, counted since some moment. Read as single values they are text in the form of ISO 8601,
	// read as features they are numbers.
	Time bool
}

// Query says what to read.
type Query struct {
	// Scalars are columns of one value per row.
	Scalars []string
	// Features is one column of vectors, or several columns of one number or boolean per row, or of lists by [WithLists], that together
	// are the vector. No features are read where it is empty.
	Features []string
	// Width is the length that every vector must have; where it is 0, that is the length of the first vector.
	Width int
	// Gaps allows missing cells in features that are a column each. They are read as NaN, and all features are float32.
	Gaps bool
	// Next, where it is set, returns the next row to read, which is its argument or a later row. Passing over the rows before it costs
	// little. A query with Next has no features, and each batch is one row. A table whose vectors are in another file ignores Next and
	// reads all rows.
	Next func(row int64) int64

	// vectorless, where it is set, counts the rows without a whole vector in place of an error. Batches then lack the vectors of such rows.
	vectorless *int

	// lists is empty, or has for each of Features the number of its elements, 0 for a column of numbers, where lists are beside other
	// features. spread has the names of all elements then.
	lists  []int
	spread []string
}

// Batch is a number of consecutive rows.
type Batch struct {
	// First is the index of the first row in the file.
	First int64
	Rows  int
	// Scalars are the scalar columns of the query, in its order.
	Scalars []Values
	// Features are Rows vectors.
	Features Vectors
	// Read is the number of bytes of the file that have been read so far.
	Read int64

	path  string
	gaps  bool  // Query.Gaps
	lines []int // the lines on which the rows of a text format begin

	vectors    bool // whether the features are one column of vectors, as far as the format tells before a row is read
	vectorless *int // Query.vectorless
}

// Where names the place of row i of the batch: the file and its row, from 0, or its line, from 1.
func (b *Batch) Where(i int) string {
	if len(b.lines) > 0 {
		return fmt.Sprintf("%s: line %d", b.path, b.lines[i])
	}
	return fmt.Sprintf("%s: row %d", b.path, b.First+int64(i))
}

// Line returns the line, from 1, on which row i of the batch begins, or 0 in formats without lines.
func (b *Batch) Line(i int) int {
	if len(b.lines) == 0 {
		return 0
	}
	return b.lines[i]
}

// Fault returns an error at a column in row i of the batch. expected is a format that says what the column should have and what was found.
func (b *Batch) Fault(i int, column, expected string, args ...any) error {
	return fmt.Errorf("%s, column %s: expected %s", b.Where(i), column, fmt.Sprintf(expected, args...))
}

// CheckUTF8 returns an error where a name in row i is not UTF-8, as in a file of another encoding.
func (b *Batch) CheckUTF8(i int, column, name string) error {
	if found := notUTF8(name); found != "" {
		return b.Fault(i, column, "UTF-8, found %s in %q: save the file in UTF-8, or name its encoding", found, text.OneLine(name, maxQuoted))
	}
	return nil
}

// notUTF8 describes the first byte of s that is not UTF-8. It is empty where all of s is.
func notUTF8(s string) string {
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("the byte 0x%02x", s[i])
		}
	}
	return ""
}

// alike returns the name of the first column that differs from name in capitals, blanks or what cannot be seen alone, or "".
func alike(columns []Column, name string) string {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(text.Visible(s)), "")) }
	for _, c := range columns {
		if plain(c.Name) == plain(name) && len(c.Name) <= maxQuoted {
			return c.Name
		}
	}
	return ""
}

// Find returns the index of the column called name, or an error that names the column that differs from it in capitals, blanks or what
// cannot be seen alone, or lists those with the most similar names.
func Find(path string, columns []Column, name string) (int, error) {
	if i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return i, nil
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	if of := alike(columns, name); of != "" {
		return 0, fmt.Errorf("%s: expected a column %q, found %s: write the two alike", path, text.OneLine(name, maxQuoted), strconv.Quote(of))
	}
	const most = 8
	list := strings.Join(text.Nearest(name, names, most), ", ")
	if len(names) > most {
		list += ", ..."
	}
	return 0, fmt.Errorf("%s: expected a column %q, found %s", path, text.OneLine(name, maxQuoted),
		cmp.Or(text.OneLine(list, 8*maxQuoted), "none"))
}

// maxQuoted bounds the bytes of a file's content that a message quotes.
const maxQuoted = 80

// maxWidth bounds the length of a vector, so that one row has bounded memory.
const maxWidth = 1 << 20

// batchRows returns the number of rows of a batch: about a mebibyte of features of this width, and few rows where the width is not known
// yet.
func batchRows(width int, features bool) int {
	switch {
	case !features:
		return 4096
	case width == 0:
		return 16
	}
	return max(1, min(4096, (1<<18)/width))
}

// resolve returns an empty batch for a query, and the indices of the query's columns. A column that is absent or of the wrong kind is an
// error. isText allows text as features, as in text formats.
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
		return k != Other && (k != Text || isText) && (k != Vector || len(q.Features) == 1 || len(q.lists) > 0)
	})
	b = &Batch{path: t.path, gaps: q.Gaps, vectorless: q.vectorless, Scalars: make([]Values, len(scalars)),
		Features: Vectors{Width: q.Width}}
	b.vectors = len(features) == 1 && err == nil && t.columns[features[0]].Kind == Vector
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

// FeatureElement returns the type in which the features of some columns are stored together, with gaps or without.
func FeatureElement(columns []Column, gaps bool) Element {
	e := columns[0].Element
	for _, c := range columns {
		if c.Element != e || c.Kind == Text || gaps {
			return Float32
		}
	}
	return e
}
