package runs

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amtrl/amtrl/dataset/table"
)

// Where the metadata of a model have numbers for each feature: the means that stand for missing ones, and the centre in all its
// digits, where there are such.
const (
	metaMeans  = "means"
	metaCentre = "centre"
)

// gaps are the missing features of rows, which become the means of the data of the run.
type gaps struct {
	means   []float64 // empty where all features must be there
	columns []string
	filled  []int64
}

func readGaps(meta map[string]string, cols int) (g gaps, err error) {
	g.means, err = readNumbers(meta, metaMeans, cols)
	g.filled = make([]int64, len(g.means))
	return g, err
}

// readNumbers reads a number for each of so many features, none where they are not there.
func readNumbers(meta map[string]string, key string, cols int) (numbers []float64, err error) {
	if meta[key] == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(meta[key]), &numbers); err != nil {
		return nil, fmt.Errorf("metadata %s: %w", key, err)
	}
	if len(numbers) != cols {
		return nil, fmt.Errorf("metadata %s: expected one for each of %d features, found %d", key, cols, len(numbers))
	}
	return numbers, nil
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
	return fmt.Errorf("%w: fill: mean in the manifest of the run would put the mean there", err)
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
func (g *gaps) tell(f func(column string, cells int64)) {
	for j, n := range g.filled {
		if n > 0 && f != nil {
			f(g.columns[j], n)
		}
	}
}
