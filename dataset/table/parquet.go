package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/amtrl/amtrl/internal/datafile"
	"github.com/amtrl/amtrl/internal/text"
)

// parquetTable is a Parquet file. Its columns are the leaves of the schema: a list of numbers is one leaf, and the fields of a group are
// named group.field.
type parquetTable struct {
	base
	parquet *parquet.File
	leaves  []*parquet.Column // one for each of columns
	// unsigned says for each column whether its integers are unsigned.
	unsigned []bool
	// clocks has for each column the function that formats its integers as times, nil for columns without times.
	clocks []func(int64) string
}

// Bounds of the footer, which describes each column of each row group.
const (
	maxFooter      = 64 << 20
	maxFooterLists = 1 << 19
)

// openParquet reads the footer of a Parquet file.
func openParquet(b base) (t *parquetTable, err error) {
	t = &parquetTable{base: b}
	defer t.recovered(&err)
	if err := t.checkFooter(); err != nil {
		return nil, t.fault(err)
	}
	t.parquet, err = parquet.OpenFile(t.file, t.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, t.fault(err)
	}
	t.rows = 0
	for _, g := range t.parquet.Metadata().RowGroups {
		if g.NumRows < 0 || g.NumRows > datafile.MayBecome(t.size)-t.rows {
			return nil, t.fault(fmt.Errorf("%d rows in a file of %d bytes", g.NumRows, t.size))
		}
		t.rows += g.NumRows
	}
	names := map[string]bool{}
	for i, c := range t.parquet.Root().Columns() { // leaves are not compared: those of a map or the like can have one name
		if names[c.Name()] {
			return nil, fmt.Errorf("%s: expected a name of its own for each column, found %q for column %d", t.path,
				text.OneLine(c.Name(), maxQuoted), i+1)
		}
		names[c.Name()] = true
	}
	t.addColumns(t.parquet.Root(), t.logicalTypes())
	return t, nil
}

// checkFooter refuses a footer that would take much memory to read.
func (t *parquetTable) checkFooter() error {
	var tail [8]byte
	if t.size < 12 {
		return fmt.Errorf("a file of %d bytes", t.size)
	}
	if _, err := t.file.ReadAt(tail[:], t.size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != "PAR1" {
		return fmt.Errorf("it ends in %q in place of PAR1", tail[4:])
	}
	if n > t.size-12 || n > maxFooter {
		return fmt.Errorf("a footer of %d bytes in a file of %d", n, t.size)
	}
	footer := make([]byte, n)
	if _, err := t.file.ReadAt(footer, t.size-8-n); err != nil {
		return err
	}
	_, err := checkCompact(footer, maxFooterLists)
	return err
}

// fault turns an error of the Parquet library into one line.
func (t *parquetTable) fault(err error) error {
	return fmt.Errorf("%s: expected a Parquet file: %s", t.path, text.OneLine(err.Error(), 2*maxQuoted))
}

// recovered turns a panic of the Parquet library, which damaged files can cause,
// into an error.
func (t *parquetTable) recovered(err *error) {
	r := recover()
	if r == nil {
		return
	}
	if !strings.Contains(string(debug.Stack()), "parquet-go") {
		panic(r)
	}
	*err = t.fault(fmt.Errorf("the file is damaged (%v)", r))
}

// addColumns adds the leaves under a node to the columns. logical has the types of all leaves.
func (t *parquetTable) addColumns(node *parquet.Column, logical []format.LogicalTypeValue) {
	for _, c := range node.Columns() {
		if !c.Leaf() {
			t.addColumns(c, logical)
			continue
		}
		name, kind := leafName(t.parquet.Root(), c)
		col, clock := Column{Name: name, Kind: kind}, (func(int64) string)(nil)
		if kind != Other {
			col.Kind, col.Element = leafKind(c, logical[c.Index()])
			clock = clockOf(logical[c.Index()])
			col.Time = clock != nil
			switch {
			case kind == Vector && col.Kind == Bool:
				col.Kind, col.Element = Vector, Uint8 // as in arrays of booleans
			case kind == Vector && (col.Kind == Integer || col.Kind == Number):
				col.Kind = Vector
			case kind == Vector:
				col.Kind = Other
			}
		}
		i, is := logical[c.Index()].(*format.IntType)
		t.columns, t.leaves, t.clocks = append(t.columns, col), append(t.leaves, c), append(t.clocks, clock)
		t.unsigned = append(t.unsigned, is && !i.IsSigned)
	}
}

// unsigned maps the deprecated names of unsigned types to their bits.
var unsigned = map[deprecated.ConvertedType]int8{deprecated.Uint8: 8, deprecated.Uint16: 16, deprecated.Uint32: 32, deprecated.Uint64: 64}

// logicalTypes returns the types of the leaves from the metadata, because the library itself does not know float16. Deprecated names of
// types are translated.
func (t *parquetTable) logicalTypes() []format.LogicalTypeValue {
	var types []format.LogicalTypeValue
	for _, e := range t.parquet.Metadata().Schema {
		if e.NumChildren.Valid && e.NumChildren.V > 0 {
			continue
		}
		logical := e.LogicalType.Value
		if bits := unsigned[e.ConvertedType.V]; logical == nil && e.ConvertedType.Valid && bits > 0 {
			logical = &format.IntType{BitWidth: bits}
		}
		if logical == nil && e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal {
			logical = &format.DecimalType{}
		}
		if old := e.ConvertedType; logical == nil && old.Valid && oldTimes[old.V] != nil {
			logical = oldTimes[old.V]
		}
		types = append(types, logical)
	}
	return types
}

// leafName returns the path of a leaf without the groups that stand for a list: "embedding" for embedding.list.element. The kind is Vector
// for a list, Other for deeper nesting, and Text for everything else.
func leafName(root, leaf *parquet.Column) (string, Kind) {
	path := leaf.Path()
	if leaf.MaxRepetitionLevel() == 0 {
		return strings.Join(path, "."), Text
	}
	node, end := root, 0 // end is the length of the path up to the list
	for i, name := range path {
		node = node.Column(name)
		if node.Repeated() {
			end = i
			break
		}
	}
	switch {
	case leaf.MaxRepetitionLevel() > 1 || len(path) > end+2:
		return strings.Join(path, "."), Other
	case end == 0 || len(path) == end+1: // a repeated column without a group around it
		return strings.Join(path[:end+1], "."), Vector
	}
	return strings.Join(path[:end], "."), Vector
}

// leafKind returns the kind of a leaf's values, and the type in which they are stored as features.
func leafKind(c *parquet.Column, logical format.LogicalTypeValue) (Kind, Element) {
	if _, is := logical.(*format.DecimalType); is {
		return Other, Float32
	}
	if _, is := logical.(*format.NullType); is { // as pandas writes a column without any value
		return Integer, Float32
	}
	switch c.Type().Kind() {
	case parquet.Boolean:
		return Bool, Float32
	case parquet.Int32, parquet.Int64:
		if i, is := logical.(*format.IntType); is && i.BitWidth == 8 && !i.IsSigned {
			return Integer, Uint8
		}
		return Integer, Float32
	case parquet.Float, parquet.Double:
		return Number, Float32
	case parquet.FixedLenByteArray:
		if _, is := logical.(*format.Float16Type); is && c.Type().Length() == 2 {
			return Number, Float16
		}
	case parquet.ByteArray:
		return Text, Float32
	}
	return Other, Float32
}

func (t *parquetTable) Scan(q Query, f func(*Batch) error) (err error) {
	defer t.recovered(&err)
	b, scalars, features, err := t.resolve(q, false)
	if err != nil {
		return err
	}
	for _, group := range t.parquet.Metadata().RowGroups {
		if group.NumRows == 0 { // without pages, so that the offsets of its columns mean nothing
			continue
		}
		if q.Next != nil && q.Next(b.First) >= b.First+group.NumRows {
			b.First += group.NumRows
			continue
		}
		s := &groupScan{table: t, batch: b, query: q}
		err := s.open(group.Columns, scalars, features)
		if err == nil {
			err = s.run(group.NumRows, f)
		}
		s.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// groupScan reads some columns of a row group side by side.
type groupScan struct {
	table    *parquetTable
	batch    *Batch
	query    Query
	scalars  []*leafReader
	features []*leafReader
	list     Vectors // of one of several columns of features
}

func (s *groupScan) open(chunks []format.ColumnChunk, scalars, features []int) error {
	t := s.table
	for n, i := range slices.Concat(scalars, features) {
		leaf := t.leaves[i]
		if leaf.Index() >= len(chunks) {
			return t.fault(fmt.Errorf("a row group of %d columns", len(chunks)))
		}
		pages, err := newPageReader(t.file, t.size, leaf, &chunks[leaf.Index()].MetaData)
		if err != nil {
			return t.fault(err)
		}
		to := &s.scalars
		if n >= len(scalars) {
			to = &s.features
		}
		*to = append(*to, &leafReader{column: t.columns[i], full: byte(leaf.MaxDefinitionLevel()), unsigned: t.unsigned[i],
			clock: t.clocks[i], pageReader: pages})
	}
	return nil
}

func (s *groupScan) close() {
	for _, r := range append(s.scalars, s.features...) {
		r.close()
	}
}

// run reads the rows of the group and passes them to f in batches.
func (s *groupScan) run(rows int64, f func(*Batch) error) error {
	b := s.batch
	for rows > 0 {
		n := int(min(rows, int64(batchRows(b.Features.Width, len(s.features) > 0))))
		if s.query.Next != nil {
			passed := min(rows, s.query.Next(b.First)-b.First)
			b.First += passed
			if rows -= passed; rows == 0 {
				return nil
			}
			for _, r := range s.scalars {
				if err := r.skip(int(passed)); err != nil {
					return s.place(r, err)
				}
			}
			n = 1
		}
		b.reset()
		b.Rows = n
		for i, r := range s.scalars {
			if err := r.scalars(n, &b.Scalars[i]); err != nil {
				return s.place(r, err)
			}
		}
		if err := s.readFeatures(n); err != nil {
			return err
		}
		b.Read = int64(float64(s.table.size) * float64(b.First+int64(n)) / float64(s.table.rows))
		if err := f(b); err != nil {
			return err
		}
		b.First += int64(n)
		rows -= int64(n)
	}
	return nil
}

func (s *groupScan) readFeatures(n int) error {
	b := s.batch
	if len(s.features) == 0 {
		return nil
	}
	if r := s.features[0]; r.column.Kind == Vector && len(s.query.lists) == 0 {
		if err := r.vectors(n, &b.Features, b); err != nil {
			return s.place(r, err)
		}
		return b.check(&s.query)
	}
	if len(s.query.lists) == 0 { // otherwise it is that of the query
		b.Features.Width = len(s.features)
	}
	if w := s.query.Width; w > 0 && w != b.Features.Width {
		return fmt.Errorf("%s: expected %d columns of features, found %d", s.table.path, w, len(s.features))
	}
	var columns []Column
	for _, r := range s.features {
		columns = append(columns, r.column)
	}
	element := FeatureElement(columns, s.query.Gaps || len(s.query.lists) > 0)
	b.Features.grow(element, n*b.Features.Width)
	at := 0
	for j, r := range s.features {
		width := s.query.list(j)
		if width == 0 {
			if err := r.numbers(n, element, s.query.Gaps, &b.Features, at); err != nil {
				return s.place(r, err)
			}
			at++
			continue
		}
		s.list.reset()
		s.list.Width = width
		if err := r.vectors(n, &s.list, nil); err != nil {
			return s.place(r, err)
		}
		for i := range n {
			for k := range width {
				b.Features.Set(i*b.Features.Width+at+k, s.list.Element(i*width+k))
			}
		}
		at += width
	}
	return b.check(&s.query)
}

// rowError is an error at a row of the batch.
type rowError struct {
	row int
	error
}

// place adds to an error of a column where in the file it occurred.
func (s *groupScan) place(r *leafReader, err error) error {
	if e, ok := errors.AsType[*rowError](err); ok {
		return fmt.Errorf("%s, column %s: %w", s.batch.Where(e.row), r.column.Name, e.error)
	}
	if err == io.EOF {
		return s.table.fault(fmt.Errorf("column %s ends before the rows that the footer promises", r.column.Name))
	}
	return s.table.fault(fmt.Errorf("column %s cannot be read from row %d on: %w", r.column.Name, s.batch.First, err))
}
