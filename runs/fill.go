package runs

import (
	"errors"
	"fmt"

	"github.com/amtrl/amtrl/dataset/table"
)

// gaps replaces missing features of rows by the means over the data of the run, and counts them.
type gaps struct {
	means   []float64 // by feature; empty where no feature may be missing
	columns []string
	filled  []int64
}

// allow makes q accept missing cells in features that are a column each, if they can be filled.
func (g *gaps) allow(q *table.Query) {
	if q.Gaps = len(g.means) > 0; q.Gaps {
		g.columns = q.Features
	}
}

// hint adds to the error of a missing feature what would fill it. It returns other errors as they are.
func (g *gaps) hint(err error) error {
	if _, is := errors.AsType[*table.MissingError](err); !is {
		return err
	}
	return fmt.Errorf("%w: fill: mean+indicator in the manifest of the run would put the mean there", err)
}

func (g *gaps) fill(v *table.Vectors) {
	if len(g.means) == 0 {
		return
	}
	for i, x := range v.F32 {
		if x != x {
			j := i % v.Width
			v.Set(i, g.means[j])
			g.filled[j]++
		}
	}
}

// tell calls f for each column with filled cells. rows is the number of rows that were read.
func (g *gaps) tell(f func(column string, cells, rows int64), rows int64) {
	for j, n := range g.filled {
		if n > 0 && j < len(g.columns) && f != nil { // features that are computed from columns belong to none
			f(g.columns[j], n, rows)
		}
	}
}
