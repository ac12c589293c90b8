package table

import (
	"cmp"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// parquetWriter writes texts as strings and numbers as floats, compressed with Snappy.
type parquetWriter struct {
	to      io.Writer
	parquet *parquet.GenericWriter[any]
	group   int // rows per row group
	rows    int // rows in the open row group
	row     parquet.Row
}

// groupNumbers is about how many numbers make a row group, which is held in memory.
const groupNumbers = 1 << 22

func (w *parquetWriter) begin(columns []Cells) {
	root := orderedGroup{Group: parquet.Group{}}
	numbers := 0
	for _, c := range columns {
		numbers += max(1, c.Width)
		node := parquet.Leaf(parquet.FloatType)
		switch {
		case c.Text != nil:
			node = parquet.String()
		case c.Width > 0:
			node = parquet.List(node)
		}
		root.Group[c.Name] = node
		root.names = append(root.names, c.Name)
	}
	w.group = max(1, groupNumbers/numbers)
	w.parquet = parquet.NewGenericWriter[any](w.to, parquet.NewSchema("rows", root), parquet.Compression(&parquet.Snappy))
}

// orderedGroup is a group whose fields are in the order of names, not sorted by name.
type orderedGroup struct {
	parquet.Group
	names []string
}

func (g orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return cmp.Compare(slices.Index(g.names, a.Name()), slices.Index(g.names, b.Name()))
	})
	return fields
}

func (w *parquetWriter) Write(rows int, columns []Cells) error {
	if w.parquet == nil {
		w.begin(columns)
	}
	for i := range rows {
		w.row = w.row[:0]
		for j, c := range columns {
			switch n := max(1, c.Width); {
			case c.Text != nil:
				w.row = append(w.row, parquet.ByteArrayValue([]byte(c.Text[i])).Level(0, 0, j))
			case c.Width == 0:
				w.row = append(w.row, parquet.FloatValue(c.Numbers[i]).Level(0, 0, j))
			default:
				for k, v := range c.Numbers[i*n : (i+1)*n] {
					w.row = append(w.row, parquet.FloatValue(v).Level(min(k, 1), 1, j))
				}
			}
		}
		if _, err := w.parquet.WriteRows([]parquet.Row{w.row}); err != nil {
			return err
		}
		if w.rows++; w.rows == w.group {
			w.rows = 0
			if err := w.parquet.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *parquetWriter) Close() error {
	if w.parquet == nil {
		return nil
	}
	return w.parquet.Close()
}
