package study

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/columnar"
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

// OddLabels are labels that are probably wrong.
type OddLabels struct {
	// FarLabels are the numbers that are probably slips, and Far names them.
	Far       []string   `json:"far,omitempty"`
	FarLabels []FarLabel `json:"far_labels,omitempty"`
	// OtherUnits are the sources whose labels are probably in another unit.
	OtherUnits []OtherUnit `json:"other_units,omitempty"`
	// Outside are numbers that are far outside of those that were known before they were told.
	Outside []Outside `json:"outside,omitempty"`
}

// slipsOf finds what is probably wrong with the labels of an event (see [state.slips]).
func (st *state) slipsOf(e *TellEvent) (OddLabels, error) {
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
// then no slips. Neither are those that came together and are outside of the labels before (see [outside]), unless half of these are slips.
// Checked labels are left out, and so are sources of which half of the labels are checked.
func (st *state) slips(of func(place) bool) (out OddLabels, err error) {
	s := st.study
	pools := len(s.data.Set.Pools)
	for c, o := range s.data.Outputs {
		if o.Type != manifest.Number {
			continue
		}
		rows, numbers := make([][]int32, pools), make([][]float64, pools)
		var told []numberTold
		for pool := range pools {
			for _, i := range st.labelledRows(pool) {
				if v := st.label(pool, i)[c]; v == v {
					y := float64(o.Value(v))
					rows[pool], numbers[pool] = append(rows[pool], i), append(numbers[pool], y)
					l := numberTold{place: place{pool, i}, number: y}
					if r := st.rows[pool][i]; r != nil {
						l.line, l.checked = r.toldIn(c), r.checked
					}
					told = append(told, l)
				}
			}
		}
		slips := map[place]bool{}
		for pool, places := range dataset.Slips(numbers, o.Logarithm()) {
			for _, at := range places {
				slips[place{pool, rows[pool][at]}] = true
			}
		}
		slices.SortStableFunc(told, func(a, b numberTold) int { return cmp.Compare(a.line, b.line) })
		odd := outside(told, pools)
		other, most := map[int]bool{}, 0
		for _, d := range odd {
			most += 2 * len(d.odd)
		}
		if o.Logarithm() == nil && most <= len(told) { // of a logarithm a unit is an offset, which the intercept of the source takes up
			for _, u := range dataset.OtherUnits(numbers) {
				other[u.Source] = true
				if name := s.data.Set.Pools[u.Source].Name; st.someUnchecked(u.Source, rows[u.Source], of) {
					out.OtherUnits = append(out.OtherUnits, OtherUnit{name, o.Name, u.Low, u.High, u.UsualLow, u.UsualHigh})
				}
			}
		}
		out.Outside = append(out.Outside, s.outsideOf(o, odd, func(l numberTold) bool { return !other[l.pool] && of(l.place) }, slips)...)
		for pool := range pools {
			for _, i := range rows[pool] {
				if r := st.rows[pool][i]; !slips[place{pool, i}] || r != nil && r.checked || other[pool] || !of(place{pool, i}) {
					continue
				}
				id, err := s.idOf(pool, i)
				if err != nil {
					return OddLabels{}, err
				}
				far := FarLabel{id, s.data.Set.Pools[pool].Name, o.Name, textOf(o, st.label(pool, i)[c])}
				out.Far, out.FarLabels = append(out.Far, far.String()), append(out.FarLabels, far)
			}
		}
	}
	return out, nil
}

// outsideOf describes those labels of a column in doubt for which of is true, if there are any. Those that came together are left out if
// half of them are slips, and are no slips otherwise.
func (s *Study) outsideOf(o columnar.Output, odd []doubted, of func(numberTold) bool, slips map[place]bool) []Outside {
	out := Outside{Column: o.Name, Low: math.Inf(1), High: math.Inf(-1), UsualLow: math.Inf(1), UsualHigh: math.Inf(-1)}
	plain := func(y float64) float64 { return y }
	if log := o.Logarithm(); log != nil { // write the label as a file has it
		plain = log.Inverse
	}
	sources := map[int]bool{}
	for _, d := range odd {
		d.odd = slices.DeleteFunc(d.odd, func(l numberTold) bool { return !of(l) })
		named := 0
		for _, l := range d.odd {
			if slips[l.place] {
				named++
			}
		}
		if 2*named >= len(d.odd) {
			continue
		}
		for _, l := range d.odd {
			delete(slips, l.place)
			sources[l.pool] = true
			out.Low, out.High = min(out.Low, plain(l.number)), max(out.High, plain(l.number))
		}
		out.Labels, out.Told = out.Labels+len(d.odd), out.Told+len(d.told)
		out.UsualLow, out.UsualHigh = min(out.UsualLow, plain(d.usualLow)), max(out.UsualHigh, plain(d.usualHigh))
	}
	if out.Labels == 0 {
		return nil
	}
	for _, pool := range slices.Sorted(maps.Keys(sources)) {
		out.Sources = append(out.Sources, s.data.Set.Pools[pool].Name)
	}
	return []Outside{out}
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
