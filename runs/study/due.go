package study

import (
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// settled reports whether an ask may learn first, as far as pending rows go. In a schedule none may be pending, as its rounds end with all
// answers. Where each ask has a budget of its own, a few may: at most one in ten of the rows of sources that were asked for since the last
// round, and of those of the target, or one where that is less. Of no source may more than half be pending, unless it is hardly asked for.
// Without an ask since the last round, the rows of the last ask count.
func (s *Study) settled(st *state) bool {
	if s.Settings.RoundBudget == 0 || st.pending() == 0 {
		return st.pending() == 0
	}
	first := slices.IndexFunc(st.askedIn, func(line int) bool { return line > st.learnedUpTo() })
	if first < 0 {
		first = len(st.asks) - 1
	}
	all, each := replies{}, map[string]replies{} // of sources, the target apart
	for _, e := range st.asks[first:] {
		for _, group := range e.Rows {
			t := st.replies(e.Number, group)
			each[group.Source] = each[group.Source].plus(t)
			if group.Source != s.Settings.Target {
				all = all.plus(t)
			}
		}
	}
	if !all.nearly() || !each[s.Settings.Target].nearly() {
		return false
	}
	for _, t := range each {
		if t.asked >= dataset.FewestSamples && !t.half() {
			return false
		}
	}
	return true
}

// replies counts rows that were asked for and those of them that are pending.
type replies struct{ asked, pending int }

func (a replies) plus(b replies) replies { return replies{a.asked + b.asked, a.pending + b.pending} }

func (a replies) half() bool { return 2*a.pending <= a.asked }

// nearly reports whether nearly all rows are answered or given up.
func (a replies) nearly() bool { return a.pending <= max(1, a.asked/10) && a.half() }

// replies counts the rows of an ask that have not expired since and were not asked for again.
func (st *state) replies(number int, group AskRows) (out replies) {
	pool := st.study.places[group.Source]
	for _, i := range group.Rows {
		switch r := st.rows[pool][i]; {
		case r.ask != number || r.status == free:
		case r.status == pending:
			out = out.plus(replies{1, 1})
		default:
			out.asked++
		}
	}
	return out
}

// outdated reports whether the last round learned from labels that were replaced since, where each ask has a budget of its own.
func (s *Study) outdated(st *state) bool {
	return s.Settings.RoundBudget > 0 && st.wrong()
}

// due reports whether an ask learns first. Once sources were asked for, it does if labels came since the last round. Before, it does only
// where each ask has a budget of its own: in the first round if every source of more than a few rows has labels, which labelled says, and
// in later rounds if labels came since the last. In a schedule each round begins with an ask.
func (s *Study) due(st *state, labelled bool) bool {
	each := s.Settings.RoundBudget > 0
	if st.began() || each && len(st.fits) > 0 {
		return st.labels > st.learnedUpTo()
	}
	return each && labelled
}

// unlabelled returns the names of the sources of the first round that have enough rows to learn from but no label. some says whether
// another source and the target have labels.
func (s *Study) unlabelled(st *state) (names []string, some bool, err error) {
	p, err := s.problem(1)
	if err != nil {
		return nil, false, err
	}
	order, _, _ := p.Order()
	in := st.samples(p, 1)
	for m, l := range in.Sources {
		if len(l.Rows) > 0 {
			some = len(in.Target.Rows) > 0
		} else if len(order[m]) >= dataset.FewestSamples {
			names = append(names, p.Sources[m].Name)
		}
	}
	return names, some, nil
}
