package table

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// Cells is a column to write. Either Text or Numbers is set, with one entry for each row, or with Width numbers for each row where Width is
// not 0.
type Cells struct {
	Name    string
	Text    []string
	Numbers []float32
	Width   int
}

// Writer writes a table in batches of bounded memory.
type Writer interface {
	// Write adds rows. All batches have the columns of the first one, in the same order.
	Write(rows int, columns []Cells) error
	// Close writes the rows that are left. It does not close the underlying writer.
	Close() error
}

// WriteFormats lists the formats in which tables are written.
func WriteFormats() []string { return []string{Parquet, CSV, JSONL} }

// NewWriter returns a writer of a table to w, in the format that the ending of path stands for. Vectors are lists in Parquet and JSONL, and
// columns <name>_0 and so on in CSV.
func NewWriter(path string, w io.Writer) (Writer, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet", ".pq":
		return &parquetWriter{to: w}, nil
	case ".csv":
		return &csvWriter{to: csv.NewWriter(w)}, nil
	case ".jsonl", ".ndjson":
		return &jsonlWriter{to: bufio.NewWriterSize(w, 1<<16)}, nil
	}
	return nil, fmt.Errorf("%s: expected a name that ends in one of .%s", text.OneLine(path, 200), strings.Join(WriteFormats(), ", ."))
}

type csvWriter struct {
	to     *csv.Writer
	begun  bool
	record []string
}

func (w *csvWriter) Write(rows int, columns []Cells) error {
	if !w.begun {
		w.begun = true
		for _, c := range columns {
			if c.Width == 0 {
				w.record = append(w.record, c.Name)
			}
			for j := range c.Width {
				w.record = append(w.record, fmt.Sprintf("%s_%d", c.Name, j))
			}
		}
		if err := w.to.Write(w.record); err != nil {
			return err
		}
	}
	for i := range rows {
		w.record = w.record[:0]
		for _, c := range columns {
			if c.Text != nil {
				w.record = append(w.record, c.Text[i])
				continue
			}
			n := max(1, c.Width)
			for _, v := range c.Numbers[i*n : (i+1)*n] {
				w.record = append(w.record, strconv.FormatFloat(float64(v), 'g', -1, 32))
			}
		}
		if err := w.to.Write(w.record); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvWriter) Close() error {
	w.to.Flush()
	return w.to.Error()
}

type jsonlWriter struct {
	to   *bufio.Writer
	line []byte
}

func (w *jsonlWriter) Write(rows int, columns []Cells) error {
	for i := range rows {
		w.line = append(w.line[:0], '{')
		for j, c := range columns {
			if j > 0 {
				w.line = append(w.line, ',')
			}
			w.line = appendJSON(w.line, c.Name)
			w.line = append(w.line, ':')
			n := max(1, c.Width)
			switch {
			case c.Text != nil:
				w.line = appendJSON(w.line, c.Text[i])
			case c.Width == 0:
				w.line = appendNumber(w.line, c.Numbers[i])
			default:
				for k, v := range c.Numbers[i*n : (i+1)*n] {
					w.line = append(w.line, "[,"[min(k, 1)])
					w.line = appendNumber(w.line, v)
				}
				w.line = append(w.line, ']')
			}
		}
		w.line = append(w.line, '}', '\n')
		if _, err := w.to.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

func appendJSON(dst []byte, s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be encoded
	}
	return append(dst, raw...)
}

// appendNumber appends a number, or null for NaN and infinities, which JSON cannot hold.
func appendNumber(dst []byte, v float32) []byte {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

func (w *jsonlWriter) Close() error { return w.to.Flush() }
