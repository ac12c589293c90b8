package dataset

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// CountGroups returns the number of groups among the given rows. A row without a group counts as one, so that where Groups is nil it
// returns the number of rows.
func (p *Pool) CountGroups(rows []int32) int {
	if p.Groups == nil {
		return len(rows)
	}
	count, seen := 0, map[int32]bool{}
	for _, r := range rows {
		if g := p.Groups[r]; g < 0 || !seen[g] {
			count++
			seen[g] = true
		}
	}
	return count
}

// LabelledRows returns the rows of a pool that are in Train of any task, and those that are in Test of any task, ascending and each once.
func (s *Set) LabelledRows(pool int) (train, test []int32) {
	// The classes of a column share one list, which is merged once.
	merge := func(of func(*Task) []int32) (rows []int32) {
		var seen [][]int32
		for i := range s.Tasks {
			list := of(&s.Tasks[i])
			same := func(l []int32) bool { return len(l) == len(list) && &l[0] == &list[0] }
			if s.Tasks[i].Pool != pool || len(list) == 0 || slices.ContainsFunc(seen, same) {
				continue
			}
			seen, rows = append(seen, list), append(rows, list...)
		}
		slices.Sort(rows)
		return slices.Compact(rows)
	}
	return merge(func(t *Task) []int32 { return t.Train }), merge(func(t *Task) []int32 { return t.Test })
}

// oddGroups lists what is odd about the groups of the target's labelled rows.
func (s *Set) oddGroups() (out []Oddity) {
	for i, p := range s.Pools {
		if !p.Target || p.Groups == nil {
			continue
		}
		odd := func(advice, found string, args ...any) {
			out = append(out, Oddity{p.Name, fmt.Sprintf(found, args...), advice})
		}
		train, test := s.LabelledRows(i)
		all := slices.Concat(train, test)
		sizes, largest := map[int32]int{}, 0
		for _, r := range all {
			if g := p.Groups[r]; g >= 0 {
				sizes[g]++
				largest = max(largest, sizes[g])
			}
		}
		held, groups := len(revealed(p.Groups, train, test)), p.CountGroups(all)
		if held > 0 {
			odd("have all rows of a group on one side of split: a run refuses the data", "%s for tests, of %s, %s of a group with rows to draw from",
				text.Several(held, "row"), text.Count(len(test)), text.Form(held, "is", "are"))
		}
		switch rows := text.Several(len(all), "labelled row"); {
		case groups == len(all) && len(all) > 1:
			odd("leave it out of columns, or name the column that tells them", "each of %s is a group of its own", rows)
		case groups == 1 && len(all) > 1:
			odd("have rows of other groups labelled: nothing can be left out", "all %s are of one group", rows)
		case groups < FewestSamples && len(all) >= FewestSamples:
			odd("have rows of other groups labelled: so few do not tell which method is best", "%s in %s: expected at least %d groups", rows,
				text.Several(groups, "group"), FewestSamples)
		case 2*largest > len(all) && len(all) > 1:
			odd("have rows of other groups labelled: most of what is stated hangs on this one", "one group has %s of %s",
				text.Count(largest), rows)
		}
	}
	return append(out, s.sharedGroups()...)
}

// sharedGroups lists the targets some of whose groups have labelled rows in sources too.
func (s *Set) sharedGroups() (out []Oddity) {
	for i, p := range s.Pools {
		if p.Target && p.Groups != nil {
			out = append(out, s.SharedGroups(i, func(pool int) []int32 {
				train, test := s.LabelledRows(pool)
				return slices.Concat(train, test)
			})...)
		}
	}
	return out
}

// Groups of the target are shared as numbers are that begin anew in each source where at least anewGroups of them have rows in sources,
// half of all or more, and each of these in anewSources sources on average: patients seldom are in so many hospitals.
const (
	anewGroups  = 5
	anewSources = 3
)

// SharedGroups returns the oddity of rows of sources that are of groups of the target's rows, if there are any: they reveal what is then
// left out. labelled returns the rows of a pool that count.
func (s *Set) SharedGroups(target int, labelled func(pool int) []int32) []Oddity {
	of := s.Pools[target]
	if of.Groups == nil {
		return nil
	}
	last := map[int32]int{} // by group of the target: the last source that has rows of it, or target
	for _, r := range labelled(target) {
		if g := of.Groups[r]; g >= 0 {
			last[g] = target
		}
	}
	rows, shared, pairs, sources := 0, 0, 0, []string(nil)
	for i, p := range s.Pools {
		if p.Target || i == target || p.Groups == nil {
			continue
		}
		before := rows
		for _, r := range labelled(i) {
			g := p.Groups[r]
			seen, is := last[g]
			if !is {
				continue
			}
			rows++
			if seen == target {
				shared++
			}
			if seen != i {
				pairs++
				last[g] = i
			}
		}
		if rows > before {
			sources = append(sources, text.OneLine(p.Name, 80))
		}
	}
	if shared == 0 {
		return nil
	}
	const most = 5
	advice := "if new rows of the target are of other groups, the error on it is too good: take these rows out to see it without"
	if shared >= anewGroups && 2*shared >= len(last) && pairs >= anewSources*shared {
		advice = "if their numbers begin anew in each source, make them differ, as by the name of the source before them: different " +
			"things count as one now; else, " + advice
	}
	return []Oddity{{of.Name, fmt.Sprintf("%s of %s of its labelled rows also %s rows in %s: %s, of %s", text.Count(shared),
		text.Several(len(last), "group"), text.Form(shared, "has", "have"), text.Several(len(sources), "source"), text.Several(rows, "row"),
		text.List(sources, most)), advice}}
}
