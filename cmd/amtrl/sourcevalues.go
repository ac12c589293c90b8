package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/atomicfile"
)

// sourceValues is a number for each of some sources, read from a CSV file.
type sourceValues struct {
	path   string
	names  []string
	lines  []int
	values map[string]float64
}

const maxValuesBytes = 64 << 20

// readSourceValues reads the columns source and the named one of a CSV file with
// a header; other columns are ignored, so that relevance.csv of a run serves
// too.
func readSourceValues(path, column string) (*sourceValues, error) {
	raw, err := atomicfile.ReadFile(path, maxValuesBytes)
	if err != nil {
		return nil, err
	}
	t := &sourceValues{path: path, values: map[string]float64{}}
	r := csv.NewReader(bytes.NewReader(raw))
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: expected a header with the columns source and %s: %w", path, column, err)
	}
	source, value := slices.Index(header, "source"), slices.Index(header, column)
	if source < 0 || value < 0 {
		return nil, fmt.Errorf("%s: expected a header with the columns source and %s, found %s", path, column, cut(fmt.Sprintf("%q", header)))
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
		v, err := strconv.ParseFloat(row[value], 64)
		if err != nil || math.IsInf(v, 0) || math.IsNaN(v) || (column == "cost" && v <= 0) {
			return nil, fmt.Errorf("%s: line %d: %s of %s: expected a %s, found %q", path, line, column, cut(row[source]), kindOfNumber(column), cut(row[value]))
		}
		if _, twice := t.values[row[source]]; twice {
			return nil, fmt.Errorf("%s: line %d: source %s is listed twice", path, line, cut(row[source]))
		}
		t.values[row[source]] = v
		t.names, t.lines = append(t.names, row[source]), append(t.lines, line)
	}
}

// cut shortens what a message quotes from a file.
func cut(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

func kindOfNumber(column string) string {
	if column == "cost" {
		return "positive number"
	}
	return "finite number"
}

// check refuses a source that the data do not have.
func (t *sourceValues) check(set *dataset.Set) error {
	for i, name := range t.names {
		if _, err := set.TaskIndex(name); err != nil {
			return fmt.Errorf("%s: line %d: %w", t.path, t.lines[i], err)
		}
	}
	return nil
}
