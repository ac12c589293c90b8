package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/text"
)

// SourceValues holds a number for each of some sources, such as their costs, as read from a file.
type SourceValues struct {
	Path   string
	Values map[string]float64
	names  []string
	lines  []int
}

// maxValuesBytes bounds the size of a file of source values, and maxQuoted what a message quotes from it.
const (
	maxValuesBytes = 64 << 20
	maxQuoted      = 80
)

// ReadSourceValues reads the columns source and the named one of a CSV file with a header row; upper and lower case count as the same in
// their names. The file may begin with a byte order mark. Cells are separated by commas, or by semicolons or tabs where the header has no
// comma. A number outside of least to most is an error, and so is a source that is listed twice. Other columns are ignored, so that
// relevance.csv of a run serves too. Errors name the file and the line.
func ReadSourceValues(path, column string, least, most float64) (*SourceValues, error) {
	raw, err := atomicfile.ReadFile(path, maxValuesBytes)
	if err != nil {
		return nil, err
	}
	t := &SourceValues{Path: path, Values: map[string]float64{}}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	r := csv.NewReader(bytes.NewReader(raw))
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	for _, other := range ";\t" {
		if !bytes.ContainsRune(first, ',') && bytes.ContainsRune(first, other) {
			r.Comma = other
		}
	}
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: expected a header with the columns source and %s, found an empty file", path, column)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: expected a header with the columns source and %s: %w", path, column, err)
	}
	place := func(name string) int {
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) })
	}
	source, value := place("source"), place(column)
	if source < 0 || value < 0 {
		return nil, fmt.Errorf("%s: expected a header with the columns source and %s, found %s", path, column,
			text.OneLine(fmt.Sprintf("%q", header), maxQuoted))
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(value)
		name := text.OneLine(row[source], maxQuoted)
		v, err := text.ParseNumber(row[value])
		if err != nil || !(v >= least && v <= most) {
			return nil, fmt.Errorf("%s: line %d: %s of %s: expected a number from %g to %g, found %q",
				path, line, column, name, least, most, text.OneLine(row[value], maxQuoted))
		}
		if _, twice := t.Values[row[source]]; twice {
			return nil, fmt.Errorf("%s: line %d: source %s is listed twice", path, line, name)
		}
		t.Values[row[source]] = v
		t.names, t.lines = append(t.names, row[source]), append(t.lines, line)
	}
}

// Check returns an error, with the line, for the first source for which find returns one.
func (t *SourceValues) Check(find func(name string) error) error {
	for i, name := range t.names {
		if err := find(name); err != nil {
			return fmt.Errorf("%s: line %d: %w", t.Path, t.lines[i], err)
		}
	}
	return nil
}
