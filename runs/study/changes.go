package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amtrl/amtrl/internal/text"
)

// changes collects what answers change in a state.
type changes struct {
	st             *state
	how            TellOptions
	told           Told
	labels         []TellRows // by pool, as skips and checked are
	skips, checked [][]int32
	conflicts      []string       // rows that already have another answer
	contradicted   []Contradicted // their labels
}

func newChanges(st *state, how TellOptions) *changes {
	pools := len(st.study.data.Set.Pools)
	return &changes{st: st, how: how, labels: make([]TellRows, pools), skips: make([][]int32, pools), checked: make([][]int32, pools)}
}

// take adds the answer of a row, which must not have been added before.
func (c *changes) take(a placed) {
	r := c.st.rows[a.pool][a.row]
	add := c.label
	if a.skip {
		add = c.skip
	}
	if add(a, r) && (r == nil || r.ask == 0) {
		c.told.Unasked++
	}
}

// skip records that a row is given up, and reports whether that is new.
func (c *changes) skip(a placed, r *row) bool {
	switch have := c.st.label(a.pool, a.row); {
	case have != nil && !c.how.Replace:
		c.conflicts = append(c.conflicts, fmt.Sprintf("%s (%s, skipped now)", text.OneLine(a.id, 80), c.st.study.labelText(have)))
		c.contradicted = append(c.contradicted, c.st.study.contradicted(a.answer, false, have, false)...)
	case r != nil && r.status == skipped:
		c.told.Known++
	default:
		c.skips[a.pool] = append(c.skips[a.pool], a.row)
		if c.told.Skipped++; have != nil {
			c.told.Withdrawn++
		}
		return true
	}
	return false
}

// label records the labels of a row, and reports whether one of them is new or replaces another.
func (c *changes) label(a placed, r *row) bool {
	s, have := c.st.study, c.st.label(a.pool, a.row)
	news, other := false, false
	for i, v := range a.values {
		switch {
		case v != v:
		case have == nil || have[i] != have[i]:
			news = true
		case have[i] != v:
			other = true
		}
	}
	if other && !c.how.Replace {
		c.conflicts = append(c.conflicts, fmt.Sprintf("%s (%s, now %s)", text.OneLine(a.id, 80), s.labelText(have), s.labelText(a.values)))
		c.contradicted = append(c.contradicted, s.contradicted(a.answer, false, have, false)...)
		return false
	}
	if c.how.Checked && (r == nil || !r.checked || news || other) {
		c.checked[a.pool] = append(c.checked[a.pool], a.row)
		c.told.Checked++
	}
	switch {
	case other:
		c.told.Replaced++
	case news:
		c.told.Labels++
	default:
		c.told.Known++
		return false
	}
	g := &c.labels[a.pool]
	g.Rows = append(g.Rows, a.row)
	if g.Labels == nil {
		g.Labels = make([][]string, len(s.data.Outputs))
	}
	for i, o := range s.data.Outputs {
		g.Labels[i] = append(g.Labels[i], textOf(o, a.values[i]))
	}
	return true
}

// contradicted returns the labels in which an answer differs from an earlier one, which skipped the row or had these values. A column that
// only one of them has contradicts among the answers of one call.
func (s *Study) contradicted(a *answer, skipped bool, values []float32, among bool) (out []Contradicted) {
	if skipped != a.skip {
		all := func(skip bool, values []float32) string {
			var list []string
			for c, o := range s.data.Outputs {
				if !skip && values[c] == values[c] {
					list = append(list, textOf(o, values[c]))
				}
			}
			return strings.Join(list, ", ")
		}
		return []Contradicted{{ID: a.id, Have: all(skipped, values), Got: all(a.skip, a.values)}}
	}
	for c, o := range s.data.Outputs {
		have, got := values[c], a.values[c]
		if both := have == have && got == got; both && have != got || !both && among && (have == have || got == got) {
			out = append(out, Contradicted{a.id, o.Name, textOf(o, have), textOf(o, got)})
		}
	}
	return out
}

// event returns the changes as an event, with the rows grouped by source. If rows already have another answer, it returns a
// [Contradiction].
func (c *changes) event() (*TellEvent, error) {
	if n := len(c.conflicts); n > 0 {
		return nil, &Contradiction{Rows: c.contradicted, text: fmt.Sprintf("%s %s another answer already: %s; nothing was changed",
			text.Several(n, "row"), text.Form(n, "has", "have"), text.List(c.conflicts, mostListed))}
	}
	e, s := &TellEvent{Replace: c.how.Replace}, c.st.study
	for i, p := range s.data.Set.Pools {
		if g := c.labels[i]; len(g.Rows) > 0 {
			g.Source = p.Name
			e.Rows = append(e.Rows, g)
		}
		e.Skips = append(e.Skips, s.skipRows(i, c.skips[i])...)
		if rows := c.checked[i]; len(rows) > 0 {
			e.Checked = append(e.Checked, CheckedRows{p.Name, rows})
		}
	}
	return e, nil
}

// skipRows returns the rows of a pool to give up, with held-out rows apart from the others.
func (s *Study) skipRows(pool int, rows []int32) []SkipRows {
	if len(rows) == 0 {
		return nil
	}
	name, held := s.data.Set.Pools[pool].Name, s.heldOut(pool)
	groups := []SkipRows{{Source: name}, {Source: name, Held: true}}
	for _, i := range rows {
		g := &groups[0]
		if held[i] {
			g = &groups[1]
		}
		g.Rows = append(g.Rows, i)
	}
	return slices.DeleteFunc(groups, func(g SkipRows) bool { return len(g.Rows) == 0 })
}
