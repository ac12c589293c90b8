package manifest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
)

// Rows of one source or class may follow each other, so that the first rows alone do not show what a file has. So runs of runRows rows from
// behind them are looked at too, at least fewestRuns of them in a file that is long enough.
const (
	runRows    = 16
	fewestRuns = 64
)

// spread holds rows from behind the first ones, up to the end of a file: runs of rows, fewestRuns to twice as many, that begin equally far
// apart.
type spread struct {
	every int64 // rows from the beginning of a run to that of the next
	runs  [][]table.Values
}

// next returns the row to look at next, from the given one on.
func (s *spread) next(row int64) int64 {
	if at := (row - inspectRows) % s.every; at >= runRows {
		return row + s.every - at
	}
	return row
}

// add adds a row. Where there are 2*fewestRuns runs already, it first drops every second one.
func (s *spread) add(b *table.Batch) {
	if (b.First-inspectRows)%s.every == 0 {
		if len(s.runs) == 2*fewestRuns {
			for i := range fewestRuns {
				s.runs[i] = s.runs[2*i]
			}
			s.runs, s.every = s.runs[:fewestRuns], 2*s.every
		}
		s.runs = append(s.runs, make([]table.Values, len(b.Scalars)))
	}
	run := s.runs[len(s.runs)-1]
	for j := range run {
		run[j].Take(&b.Scalars[j], 0)
	}
}

var errEnough = errors.New("enough rows")

// inspect looks at the first rows of a file, and at runs of rows in the rest, or in the rest of the first countRows where the number of
// rows is not known.
func inspect(path, format string) ([]*column, error) { return look(path, format, countRows) }

// look is inspect, but ends after a number of rows, where that is less.
func look(path, format string, most int64) ([]*column, error) {
	t, err := table.Open(path, format)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var columns, scalars []*column
	var q table.Query
	for _, c := range t.Columns() {
		col := &column{Column: c, distinct: map[string]int{}}
		columns = append(columns, col)
		if c.Kind.Scalar() {
			q.Scalars = append(q.Scalars, c.Name)
			scalars = append(scalars, col)
		}
	}
	rest, rows := spread{every: runRows}, int64(0)
	for t.Rows()-inspectRows > rest.every*2*fewestRuns { // the rows that a file of an unknown number of rows ends with
		rest.every *= 2
	}
	q.Next = rest.next
	err = t.Scan(q, func(b *table.Batch) error {
		if rows = b.First + 1; b.First >= inspectRows {
			rest.add(b)
		} else {
			for j, c := range scalars {
				c.look(&b.Scalars[j], 0)
			}
		}
		if rows >= most && (t.Rows() < 0 || most < countRows) {
			return errEnough
		}
		return nil
	})
	if err = notEnough(err); err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s: expected rows, found none", path)
	}
	for j, c := range scalars {
		c.endFirst()
		for _, run := range rest.runs {
			for i := range run[j].Missing {
				c.look(&run[j], i)
			}
		}
	}
	if most == countRows {
		if err := rest.addRare(t, scalars, q.Scalars); err != nil {
			return nil, err
		}
	}
	for _, c := range scalars {
		c.settle()
		c.markCodes(rows)
	}
	markCopies(scalars)
	return columns, nil
}

// fewValues is the number of values that a column must have in the rows looked at so that no others are looked for.
const fewValues = 32

// addRare looks at some of the rows behind the runs in which a column has a value that has few in the rows looked at so far, such as the
// label of a target. names are the names of the columns.
func (s *spread) addRare(t table.Table, columns []*column, names []string) error {
	var few []string
	for _, c := range columns {
		if c.has() < fewValues {
			few = append(few, c.Name)
		}
	}
	if len(few) == 0 {
		return nil
	}
	var all, at []int64
	err := t.Scan(table.Query{Scalars: few}, func(b *table.Batch) error {
		for i := range b.Rows {
			row := b.First + int64(i)
			there := slices.ContainsFunc(b.Scalars, func(v table.Values) bool { return !lacks(&v, i) })
			if there && row >= inspectRows && s.next(row) > row {
				all = append(all, row)
			}
		}
		if len(all) >= countRows || t.Rows() < 0 && b.First+int64(b.Rows) >= countRows {
			return errEnough
		}
		return nil
	})
	for i := 0; i < len(all); i += 1 + len(all)/(2*fewestRuns) {
		at = append(at, all[i])
	}
	if err = notEnough(err); err != nil || len(at) == 0 {
		return err
	}
	kept := make([]cells, len(columns)) // they say what each source lacks, which is more than these rows show
	for j, c := range columns {
		kept[j] = c.cells
	}
	err = t.Scan(table.Query{Scalars: names, Next: func(row int64) int64 {
		next, _ := slices.BinarySearch(at, row)
		if next == len(at) {
			return math.MaxInt64
		}
		return at[next]
	}}, func(b *table.Batch) error {
		for j, c := range columns {
			c.look(&b.Scalars[j], 0)
		}
		if b.First == at[len(at)-1] {
			return errEnough
		}
		return nil
	})
	for j, c := range columns {
		c.cells = kept[j]
	}
	return notEnough(err)
}

// notEnough returns err, unless it is errEnough.
func notEnough(err error) error {
	if err == errEnough {
		return nil
	}
	return err
}
