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
		out = append(out, s.sharedGroups(sizes)...)
	}
	return out
}

// sharedGroups lists the sources that have rows in groups of the target's labelled rows. target holds the number of these rows by group.
func (s *Set) sharedGroups(target map[int32]int) (out []Oddity) {
	for _, p := range s.Pools {
		shared, groups := 0, map[int32]bool{}
		for _, g := range p.Groups {
			if g >= 0 && target[g] > 0 && !p.Target {
				shared++
				groups[g] = true
			}
		}
		if shared > 0 {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s of %s %s of %s that the target has labelled rows of", text.Count(shared),
				text.Several(p.Rows, "row"), text.Form(shared, "is", "are"), text.Several(len(groups), "group")),
				"take them out: what is learned there is known of the target's groups, and the error on the target is too good with it"})
		}
	}
	return out
}
