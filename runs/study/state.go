package study

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/internal/text"
)

// status says where a row stands. A row that the journal does not mention has no status.
type status uint8

const (
	free status = iota // also a row whose ask expired
	pending
	answered
	skipped
)

// row is what the journal says about a row of a pool.
type row struct {
	status status
	// ask is the number of the last ask for it, 0 for none.
	ask int
	// values are its labels, in the form of columnar.Known, or nil where none was told since it was last given up. told is of the same length
	// and has the first line of the journal with a label of each column, 0 where the label is in the data or there is none.
	values []float32
	told   []int
	// checked says that its labels were looked at.
	checked bool
}

// state is what follows from the journal and the data.
type state struct {
	study *Study
	rows  []map[int32]*row // by pool
	asks  []*AskEvent
	// askedIn has the line of the journal of each ask.
	askedIn []int
	// open are the asks that have not expired.
	open map[int]bool
	fits []*FitEvent
	// labels is the last line of the journal with labels, 0 for none.
	labels int
	// classes is the last line that added classes, 0 for none.
	classes int
	// replaced are the lines that replaced or withdrew labels.
	replaced []replacement
}

// replacement says that a line of the journal replaced or withdrew labels, of which the first was told in line told, 0 for one in the data.
type replacement struct{ line, told int }

func (st *state) replace(line, told int) {
	if n := len(st.replaced); n > 0 && st.replaced[n-1].line == line {
		st.replaced[n-1].told = min(told, st.replaced[n-1].told)
	} else {
		st.replaced = append(st.replaced, replacement{line, told})
	}
}

// wrong reports whether the last round learned from labels that were replaced or withdrawn since, be it while it was learned.
func (st *state) wrong() bool {
	upto := st.learnedUpTo()
	return len(st.fits) > 0 && slices.ContainsFunc(st.replaced, func(r replacement) bool { return r.told <= upto && upto < r.line })
}

// toldIn returns the first line of the journal with a label of a column, 0 for none.
func (r *row) toldIn(column int) int {
	if r.told == nil {
		return 0
	}
	return r.told[column]
}

// firstTold returns the first line of the journal with a label of any column, 0 for none.
func (r *row) firstTold() int {
	first := 0
	for _, line := range r.told {
		if line > 0 && (first == 0 || line < first) {
			first = line
		}
	}
	return first
}

// skip gives up a row, whose labels no longer count.
func (st *state) skip(e *Event, pool int, i int32) {
	r := st.row(pool, i)
	for c, v := range st.label(pool, i) {
		if v == v {
			st.labels = e.N
			st.replace(e.N, r.toldIn(c))
		}
	}
	r.status, r.values, r.told, r.checked = skipped, nil, nil, false
}

// replay returns the state after these events.
func (s *Study) replay(events []Event) (*state, error) {
	st := &state{study: s, rows: make([]map[int32]*row, len(s.data.Set.Pools)), open: map[int]bool{}}
	for i := range st.rows {
		st.rows[i] = map[int32]*row{}
	}
	for i := range events {
		if err := st.apply(&events[i]); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", journalFile, events[i].N, err)
		}
	}
	return st, nil
}

func (st *state) apply(e *Event) error {
	switch {
	case e.Ask != nil:
		return st.applyAsk(e.N, e.Ask)
	case e.Tell != nil:
		return st.applyTell(e)
	case e.Expire != nil:
		return st.applyExpire(e.Expire)
	case e.Fit != nil:
		return st.applyFit(e)
	}
	return nil
}

func (st *state) applyAsk(line int, e *AskEvent) error {
	if e.Number != len(st.asks)+1 {
		return fmt.Errorf("expected ask %d, found %d", len(st.asks)+1, e.Number)
	}
	if e.TargetRows > 0 && (len(e.Rows) != 1 || e.Rows[0].Source != st.study.Settings.Target) {
		return fmt.Errorf("ask %d: expected rows of %s alone", e.Number, st.study.Settings.Target)
	}
	st.asks, st.askedIn, st.open[e.Number] = append(st.asks, e), append(st.askedIn, line), true
	for _, group := range e.Rows {
		err := st.each(group.Source, group.Rows, func(pool int, i int32) error {
			r := st.row(pool, i)
			switch {
			case r.status != free:
				return fmt.Errorf("expected rows of %s that are neither asked nor answered, found %d", group.Source, i)
			case st.label(pool, i) != nil:
				return fmt.Errorf("expected rows of %s without a label, found %d", group.Source, i)
			}
			r.status, r.ask = pending, e.Number
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (st *state) applyTell(e *Event) error {
	if len(e.Tell.Classes) > 0 {
		st.classes = e.N
	}
	for _, group := range e.Tell.Rows {
		if err := st.tell(e, group); err != nil {
			return err
		}
	}
	for _, group := range e.Tell.Skips {
		err := st.each(group.Source, group.Rows, func(pool int, i int32) error {
			st.skip(e, pool, i)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, group := range e.Tell.Checked {
		err := st.each(group.Source, group.Rows, func(pool int, i int32) error {
			if st.label(pool, i) == nil {
				return fmt.Errorf("expected rows of %s with a label, found %d", group.Source, i)
			}
			st.row(pool, i).checked = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (st *state) applyExpire(e *ExpireEvent) error {
	for _, number := range e.Asks {
		if number < 1 || number > len(st.asks) || !st.open[number] {
			return fmt.Errorf("expected an open ask, found %d", number)
		}
		delete(st.open, number)
		for r := range st.waitingRows(number) {
			r.status = free
		}
	}
	return nil
}

func (st *state) applyFit(e *Event) error {
	f := e.Fit
	if f.Round != len(st.fits)+1 || f.Upto >= e.N || f.Upto < st.learnedUpTo() {
		return fmt.Errorf("expected round %d of labels up to a line before, found round %d up to %d", len(st.fits)+1, f.Round, f.Upto)
	}
	st.fits = append(st.fits, f)
	return nil
}

// each calls f with the pool and each of the rows of a source, all of which must be rows of its pool, until f returns an error.
func (st *state) each(source string, rows []int32, f func(pool int, i int32) error) error {
	pool, err := st.pool(source, rows)
	if err != nil {
		return err
	}
	for _, i := range rows {
		if err := f(pool, i); err != nil {
			return err
		}
	}
	return nil
}

func (st *state) tell(e *Event, group TellRows) error {
	pool, err := st.pool(group.Source, group.Rows)
	if err != nil {
		return err
	}
	outputs := st.study.data.Outputs
	if len(group.Labels) != len(outputs) {
		return fmt.Errorf("expected labels of %d columns, found %d", len(outputs), len(group.Labels))
	}
	for c, o := range outputs {
		if len(group.Labels[c]) != len(group.Rows) {
			return fmt.Errorf("expected %d labels of %s, found %d", len(group.Rows), o.Name, len(group.Labels[c]))
		}
		for i, word := range group.Labels[c] {
			if word == "" {
				continue
			}
			v, err := valueOf(o, word)
			if err != nil {
				return err
			}
			r := st.row(pool, group.Rows[i])
			if r.values == nil {
				if r.values = slices.Clone(st.label(pool, group.Rows[i])); r.values == nil {
					r.values = slices.Repeat([]float32{float32(math.NaN())}, len(outputs))
				}
				r.told = make([]int, len(outputs))
			}
			switch was := r.values[c]; {
			case was != was:
				r.told[c] = e.N
			case was != v:
				st.replace(e.N, r.told[c])
			}
			r.values[c], r.status, r.checked = v, answered, false
		}
	}
	st.labels = e.N
	return nil
}

// pool returns the index of a source's pool. It is an error where the pool does not have all the rows.
func (st *state) pool(source string, rows []int32) (int, error) {
	pool, there := st.study.places[source]
	if !there {
		return 0, fmt.Errorf("expected a source of the data, found %q", source)
	}
	for _, i := range rows {
		if n := st.study.data.Set.Pools[pool].Rows; i < 0 || int(i) >= n {
			return 0, fmt.Errorf("expected rows of %s from 0 to %d, found %d", source, n-1, i)
		}
	}
	return pool, nil
}

// row returns the entry of a row, which it makes where there is none.
func (st *state) row(pool int, i int32) *row {
	r := st.rows[pool][i]
	if r == nil {
		r = new(row)
		st.rows[pool][i] = r
	}
	return r
}

// label returns the labels of a row, told or in the data, or nil where it has none or is given up.
func (st *state) label(pool int, i int32) []float32 {
	switch r := st.rows[pool][i]; {
	case r == nil:
	case r.values != nil:
		return r.values
	case r.status == skipped:
		return nil
	}
	return st.study.known(pool, i)
}

// known returns the labels that the data have of a row, or nil where they have none.
func (s *Study) known(pool int, i int32) []float32 {
	k, n := s.data.Known[pool], len(s.data.Outputs)
	at, found := slices.BinarySearch(k.Rows, i)
	if !found {
		return nil
	}
	return k.Values[at*n : (at+1)*n]
}

// askOf returns the ask whose request had the key, or nil. No key is that of no request.
func (st *state) askOf(key string) *AskEvent {
	for _, e := range st.asks {
		if key != "" && e.Request == key {
			return e
		}
	}
	return nil
}

// learnedUpTo returns the last line of the journal whose labels were learned from.
func (st *state) learnedUpTo() int {
	if len(st.fits) == 0 {
		return 0
	}
	return st.fits[len(st.fits)-1].Upto
}

// pending returns the number of rows that wait for an answer.
func (st *state) pending() int {
	n := 0
	for number := range st.open {
		n += st.waiting(number)
	}
	return n
}

// waiting returns the number of rows for which an ask still waits.
func (st *state) waiting(number int) int {
	n := 0
	for range st.waitingRows(number) {
		n++
	}
	return n
}

// waitingRows yields the rows for which an ask still waits.
func (st *state) waitingRows(number int) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, group := range st.asks[number-1].Rows {
			pool := st.study.places[group.Source]
			for _, i := range group.Rows {
				if r := st.rows[pool][i]; r.status == pending && r.ask == number && !yield(r) {
					return
				}
			}
		}
	}
}

// late returns the open asks whose time is over, in their order.
func (st *state) late(now time.Time) []int {
	var late []int
	for _, a := range st.asks {
		if t, err := time.Parse(timeForm, a.Expires); err == nil && st.open[a.Number] && !now.Before(t) {
			late = append(late, a.Number)
		}
	}
	return late
}

// valueOf parses a label, and returns the index of a class or a number.
func valueOf(o columnar.Output, word string) (float32, error) {
	if o.Type != manifest.Number {
		if c := text.IndexSame(o.Classes, word); c >= 0 {
			return float32(c), nil
		}
		return 0, fmt.Errorf("expected a class of %s, found %q", o.Name, word)
	}
	v, err := strconv.ParseFloat(word, 32)
	if _, no := text.ParseNumber(word); no != nil {
		err = no
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("expected a number for %s, found %q", o.Name, word)
	}
	if expected := o.Logarithm().Refuses(float64(float32(v))); expected != "" {
		return 0, fmt.Errorf("%s: expected %s, found %q", o.Name, expected, word)
	}
	return float32(v) + 0, nil // -0 is 0
}

// textOf formats a label so that valueOf can parse it. It is empty for NaN.
func textOf(o columnar.Output, v float32) string {
	switch {
	case v != v:
		return ""
	case o.Type != manifest.Number:
		return o.Classes[int(v)]
	}
	return strconv.FormatFloat(float64(v), 'g', -1, 32)
}
