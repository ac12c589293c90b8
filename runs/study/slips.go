package study

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/text"
)

// slipsOf names the labels of an event that are probably slips (see [state.slips]).
func (st *state) slipsOf(e *TellEvent) ([]string, error) {
	told := map[place]bool{}
	for _, group := range e.Rows {
		for _, i := range group.Rows {
			told[place{st.study.places[group.Source], i}] = true
		}
	}
	return st.slips(func(at place) bool { return told[at] })
}

// slips names the labels that are probably slips, by comparison with the labels of all sources (see [dataset.Slips]), among the rows for
// which of is true. Checked labels are not named.
func (st *state) slips(of func(place) bool) (names []string, err error) {
	s := st.study
	pools := len(s.data.Set.Pools)
	for c, o := range s.data.Outputs {
		if o.Type != manifest.Number {
			continue
		}
		rows, numbers := make([][]int32, pools), make([][]float64, pools)
		for pool := range pools {
			for _, i := range st.labelledRows(pool) {
				if v := st.label(pool, i)[c]; v == v {
					rows[pool], numbers[pool] = append(rows[pool], i), append(numbers[pool], float64(o.Value(v)))
				}
			}
		}
		for pool, places := range dataset.Slips(numbers, o.Logarithm()) {
			for _, at := range places {
				i := rows[pool][at]
				if r := st.rows[pool][i]; r != nil && r.checked || !of(place{pool, i}) {
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

// labelledRows returns the rows of a pool that have a label, told or in the data, in ascending order.
func (st *state) labelledRows(pool int) []int32 {
	rows := slices.DeleteFunc(slices.Clone(st.study.data.Known[pool].Rows), func(i int32) bool { return st.label(pool, i) == nil })
	for i, r := range st.rows[pool] {
		if r.values != nil && st.study.known(pool, i) == nil {
			rows = append(rows, i)
		}
	}
	slices.Sort(rows)
	return rows
}
