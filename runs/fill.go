package runs

import (
	"errors"
	"fmt"

	"github.com/amtrl/amtrl/dataset/table"
)

// gaps are the missing features of rows, which become the means of the data of the run.
type gaps struct {
	means   []float64 // empty where all features must be there
	columns []string
	filled  []int64
}

// ask asks for features that are a column each with gaps, where these can be filled.
func (g *gaps) ask(q *table.Query) {
	if q.Gaps = len(g.means) > 0; q.Gaps {
		g.columns = q.Features
	}
}

// hint says of an error of a missing feature what would fill it.
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

// tell says what was filled.
func (g *gaps) tell(f func(column string, cells, rows int64), rows int64) {
	for j, n := range g.filled {
		if n > 0 && j < len(g.columns) && f != nil { // what knots add is of no column
			f(g.columns[j], n, rows)
		}
	}
}
