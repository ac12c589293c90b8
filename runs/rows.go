package runs

import (
	"fmt"
	"strconv"

	"github.com/amtrl/amtrl/pipeline"
)

// encodeRows is rows.csv: the rows that the first method drew, in drawing order, with the id that the data give them
// and their place in the data, counted from 0. Where rows have no place of their own in the data it is that in the pool.
func encodeRows(p *pipeline.Problem, epochs []pipeline.Epoch) ([]byte, error) {
	rows := [][]string{RowsHeader}
	for i, e := range epochs {
		if e.Method != epochs[0].Method {
			break
		}
		prop, err := p.Propose(pipeline.State{Epochs: epochs[:i:i]})
		if err != nil {
			return nil, err
		}
		for m, name := range p.SourceNames() {
			if n := len(prop.Sources[m]); n != e.Counts[m] {
				return nil, fmt.Errorf("%s: round %d: source %s: expected the %d samples of the allocation, found %d", epochsFile, e.Epoch, name,
					n, e.Counts[m])
			}
			pool := p.Set.Pools[p.Sources[m].Pool]
			for _, r := range prop.Sources[m][prop.Before[m]:] {
				id, row := "", int64(r)
				if pool.Origin != nil {
					if id, row, err = pool.Origin.Find(int(r)); err != nil {
						return nil, err
					}
				}
				rows = append(rows, []string{strconv.Itoa(e.Epoch), name, id, strconv.FormatInt(row, 10), number(p.Costs[m])})
			}
		}
	}
	return encodeCSV(rows)
}
