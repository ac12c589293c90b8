package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// repeatOddity says how many labelled rows of a target are copies of others, or near copies, that Groups does not have in
// one group with them, and how many of those for tests are copies of rows to draw from.
func (s *Set) repeatOddity(pool int, place placeOf) (out []Oddity) {
	p, again, near := s.Pools[pool], map[int32]copied{}, map[int32]copied{}
	var first, firstNear copied
	rows, least := s.copiesOf(pool), math.Inf(1)
	if slices.ContainsFunc(rows, func(c copied) bool { return p.zero(int(c.row)) }) { // else no other row need be read
		zeros := s.zeroVectors()
		rows = slices.DeleteFunc(rows, func(c copied) bool { return isZero(zeros, pool, c.row) })
	}
	for _, c := range rows {
		of, one := again, &first
		if c.apart > 0 {
			of, one = near, &firstNear
		}
		if p.Groups != nil && p.Groups[c.row] >= 0 && p.Groups[c.row] == p.Groups[c.as] {
			continue
		}
		if len(of) == 0 {
			*one = c
		}
		if of[c.row] = c; c.apart > 0 {
			least = min(least, c.apart)
		}
	}
	if len(again) > 0 {
		out = append(out, Oddity{p.Name, fmt.Sprintf("%s the features of a labelled row before, the first is %s, like %s",
			text.Several(len(again), "labelled row")+text.Form(len(again), " has", " have"), place(p, int(first.row)), place(p, int(first.as))),
			"samples among them are left out together, as a group, since copies would make the error look too small; take them out if they " +
				"are copies"})
	}
	train, test := s.LabelledRows(pool)
	if len(near) > 0 {
		times := fmt.Sprintf("%.1f", math.Floor(10*least)/10)
		if least >= 10 {
			times = text.Count(int(least))
		}
		out = append(out, Oddity{p.Name, fmt.Sprintf("%s of %s %s nearly the features of a labelled row before, the first is %s, like %s: any "+
			"other row is %s times as far from them, or more", text.Count(len(near)), text.Several(len(train)+len(test), "labelled row"),
			text.Form(len(near), "has", "have"), place(p, int(firstNear.row)), place(p, int(firstNear.as)), times),
			"samples among them are left out together, as a group, since near copies would make the error look too small; if a column tells " +
				"what they have in common, such as a template, name it with group"})
	}
	if len(out) == 0 {
		return nil
	}
	if n := len(revealed(s.joined(pool, rows), train, test)) - len(revealed(p.Groups, train, test)); n > 0 {
		out = append(out, Oddity{p.Name, fmt.Sprintf("%s of %s %s of rows to draw from", text.Several(n, "row")+" for tests",
			text.Count(len(test)), copiesAre(n, len(near) > 0)), "the error on the test rows looks too small; take one of the two out"})
	}
	return out
}

// copiesAre returns what n rows are, copies or, where near is true, copies or near copies.
func copiesAre(n int, near bool) string {
	if near {
		return text.Form(n, "is a copy, or nearly,", "are copies, or nearly,")
	}
	return text.Form(n, "is a copy", "are copies")
}

// revealed returns those of the rows for tests whose group has a row to draw from.
func revealed(groups, train, test []int32) (rows []int32) {
	if groups == nil {
		return nil
	}
	of := map[int32]bool{}
	for _, r := range train {
		of[groups[r]] = groups[r] >= 0
	}
	for _, r := range test {
		if of[groups[r]] {
			rows = append(rows, r)
		}
	}
	return rows
}
