package study

import (
	"fmt"
	"maps"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
)

// slips names labels of an event that are probably slips by those that all sources have (see [dataset.Slips]).
func (st *state) slips(e *TellEvent) (names []string, err error) {
	s := st.study
	told := make([]map[int32]bool, len(s.data.Set.Pools))
	for _, group := range e.Rows {
		rows := map[int32]bool{}
		for _, i := range group.Rows {
			rows[i] = true
		}
		told[s.places[group.Source]] = rows
	}
	for c, o := range s.data.Outputs {
		if o.Type != "number" {
			continue
		}
		rows, numbers := make([][]int32, len(told)), make([][]float64, len(told))
		for pool := range told {
			for _, i := range st.labelledRows(pool) {
				if v := st.label(pool, i)[c]; v == v {
					rows[pool], numbers[pool] = append(rows[pool], i), append(numbers[pool], float64(o.Value(v)))
				}
			}
		}
		for pool, places := range dataset.Slips(numbers) {
			for _, at := range places {
				i := rows[pool][at]
				if !told[pool][i] {
					continue
				}
				id, err := s.idOf(pool, i)
				if err != nil {
					return nil, err
				}
				names = append(names, fmt.Sprintf("%s of row %s of %s", textOf(o, st.label(pool, i)[c]), text.OneLine(id, 80),
					text.OneLine(s.data.Set.Pools[pool].Name, 80)))
			}
		}
	}
	return names, nil
}

// labelledRows are the rows of a pool with a label, told or of the data, in their order.
func (st *state) labelledRows(pool int) []int32 {
	rows := slices.Clone(st.study.data.Known[pool].Rows)
	for _, i := range slices.Sorted(maps.Keys(st.rows[pool])) {
		if st.rows[pool][i].values != nil && st.study.known(pool, i) == nil {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}
