package manifest

import (
	"errors"
	"fmt"

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
	if n := t.Rows(); n > 0 { // the last run is near the end
		rest.every = max(runRows, (n-inspectRows-runRows)/(fewestRuns-1))
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
	if err != nil && err != errEnough {
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
		c.settle()
		c.markCodes(rows)
	}
	markCopies(scalars)
	return columns, nil
}
