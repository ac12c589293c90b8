package study

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/text"
)

// FarLabel is a number that is probably a slip: it is so far from the others of its source, or it stands for no number.
type FarLabel struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Column string `json:"column"`
	// Label is the number as it stands in a file.
	Label string `json:"label"`
}

// String names the label and its row.
func (l FarLabel) String() string {
	return fmt.Sprintf("%s of row %s of %s", l.Label, text.OneLine(l.ID, 80), text.OneLine(l.Source, 80))
}

// namesOf returns the names of labels.
func namesOf(far []FarLabel) (names []string) {
	for _, l := range far {
		names = append(names, l.String())
	}
	return names
}

// OtherUnit is a source whose labels of a column are probably in another unit than those of the other sources.
type OtherUnit struct {
	Source string `json:"source"`
	Column string `json:"column"`
	// Low and High are the 0.05 and 0.95 quantiles of its labels, UsualLow and UsualHigh those of the labels of the typical source.
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	UsualLow  float64 `json:"usual_low"`
	UsualHigh float64 `json:"usual_high"`
}

// String says what the labels are.
func (u OtherUnit) String() string {
	return fmt.Sprintf("nine of ten labels of %s in %s are %s", text.OneLine(u.Column, 80), text.OneLine(u.Source, 80),
		dataset.OtherUnit{Low: u.Low, High: u.High, UsualLow: u.UsualLow, UsualHigh: u.UsualHigh})
}

// slipsOf finds what is probably wrong with the labels of an event (see [state.slips]).
func (st *state) slipsOf(e *TellEvent) ([]FarLabel, []OtherUnit, error) {
	told := map[place]bool{}
	for _, group := range e.Rows {
		for _, i := range group.Rows {
			told[place{st.study.places[group.Source], i}] = true
		}
	}
	return st.slips(func(at place) bool { return told[at] })
}

// slips returns the labels that are probably slips, by comparison with the labels of all sources (see [dataset.Slips]), among the rows for
// which of is true, and the sources of such rows whose labels are probably in another unit (see [dataset.OtherUnits]), whose labels are
// then no slips. Checked labels are left out, and so are sources of which half of the labels are checked.
func (st *state) slips(of func(place) bool) (far []FarLabel, units []OtherUnit, err error) {
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
		other := map[int]bool{}
		if o.Logarithm() == nil { // of a logarithm a unit is an offset, which the intercept of the source takes up
			for _, u := range dataset.OtherUnits(numbers) {
				other[u.Source] = true
				if name := s.data.Set.Pools[u.Source].Name; st.someUnchecked(u.Source, rows[u.Source], of) {
					units = append(units, OtherUnit{name, o.Name, u.Low, u.High, u.UsualLow, u.UsualHigh})
				}
			}
		}
		for pool, places := range dataset.Slips(numbers, o.Logarithm()) {
			for _, at := range places {
				i := rows[pool][at]
				if r := st.rows[pool][i]; r != nil && r.checked || other[pool] || !of(place{pool, i}) {
					continue
				}
				id, err := s.idOf(pool, i)
				if err != nil {
					return nil, nil, err
				}
				far = append(far, FarLabel{id, s.data.Set.Pools[pool].Name, o.Name, textOf(o, st.label(pool, i)[c])})
			}
		}
	}
	return far, units, nil
}

// someUnchecked reports whether of is true for one of the rows of a pool, and fewer than half of these are checked.
func (st *state) someUnchecked(pool int, rows []int32, of func(place) bool) (some bool) {
	checked := 0
	for _, i := range rows {
		some = some || of(place{pool, i})
		if r := st.rows[pool][i]; r != nil && r.checked {
			checked++
		}
	}
	return some && 2*checked < len(rows)
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
