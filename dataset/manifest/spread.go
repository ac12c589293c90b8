package manifest

import (
	"errors"

	"github.com/amtrl/amtrl/dataset/table"
)

// Rows of one source or class may follow each other, so that the first rows alone do not show what a file has. So runs of runRows rows from
// behind them are looked at too, at least fewestRuns of them in a file that is long enough.
const (
	runRows    = 16
	fewestRuns = 64
)

// spread holds rows from behind the first ones, up to the end of the last file: runs of rows, fewestRuns to twice as many, that begin
// equally far apart among the rows behind the first ones of all files. The first of these rows in a file begins a run.
type spread struct {
	every int64 // rows from the beginning of a run to that of the next
	runs  []run
	at    fileRows
}

// run holds the rows of a run.
type run struct {
	file   int
	rows   int
	values []table.Values // by scalar of the file
}

// fileRows says which rows of a file are looked at: the first ones, and runs that begin where the number of a row, less that of the row
// from, is a multiple of what lies between two runs.
type fileRows struct {
	file        int
	first, from int64
}

// next returns the row to look at next, from the given one on.
func (s *spread) next(row int64) int64 { return s.at.next(row, s.every) }

func (f fileRows) next(row, every int64) int64 {
	if row < f.first {
		return row
	}
	if at := (row - f.from) % every; at >= runRows {
		return row + every - at
	}
	return row
}

// begin goes on with a file, behind a number of such rows of others. rows is the number of its rows, -1 where it is not known.
func (s *spread) begin(file int, first, behind, rows int64) {
	for behind+rows-first > s.every*2*fewestRuns {
		s.thin()
	}
	behind = (behind + s.every - 1) / s.every * s.every
	s.at = fileRows{file: file, first: first, from: first - behind}
}

// thin drops every second run.
func (s *spread) thin() {
	kept := s.runs[:0]
	for i := 0; i < len(s.runs); i += 2 {
		kept = append(kept, s.runs[i])
	}
	s.runs, s.every = kept, 2*s.every
}

// add adds a row. Where there are 2*fewestRuns runs already, it first drops every second one.
func (s *spread) add(b *table.Batch) {
	if (b.First-s.at.from)%s.every == 0 {
		if len(s.runs) == 2*fewestRuns {
			s.thin()
		}
		s.runs = append(s.runs, run{file: s.at.file, values: make([]table.Values, len(b.Scalars))})
	}
	last := &s.runs[len(s.runs)-1]
	last.rows++
	for j := range last.values {
		last.values[j].Take(&b.Scalars[j], 0)
	}
}

var errEnough = errors.New("enough rows")

// notEnough returns err, unless it is errEnough.
func notEnough(err error) error {
	if err == errEnough {
		return nil
	}
	return err
}
