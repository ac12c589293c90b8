package pipeline

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// gathered are rows of a pool, of which the first n are to be samples, with those of a group one after the other: in the order of their
// first rows, but for those that the n have no room for as a whole, which come last.
func gathered(pool *dataset.Pool, rows []int32, n int) []int32 {
	if pool.Groups == nil {
		return rows
	}
	groups := regress.GroupsOf(numbersOf(pool, rows))
	if groups.Group == nil {
		return rows
	}
	out, last := make([]int32, 0, len(rows)), make([]int32, 0, len(rows))
	for _, members := range groups.Members {
		to := &out
		if len(out) < n && len(out)+len(members) > n {
			to = &last
		}
		for _, i := range members {
			*to = append(*to, rows[i])
		}
	}
	if len(out) < n { // then the first of the last is cut
		return append(out, last...)
	}
	return slices.Concat(out[:n], last, out[n:])
}

// ofTwoGroups moves a row of another group to the end of the first n of gathered rows, at least two, where these are of one group: one can
// then be left out.
func ofTwoGroups(pool *dataset.Pool, rows []int32, n int) []int32 {
	if pool.Groups == nil || n < 2 {
		return rows
	}
	first := pool.Groups[rows[0]]
	other := slices.IndexFunc(rows, func(r int32) bool { return pool.Groups[r] < 0 || pool.Groups[r] != first })
	if first < 0 || other < n {
		return rows
	}
	r := rows[other]
	return slices.Insert(slices.Delete(slices.Clone(rows), other, other+1), n-1, r)
}

// numbersOf are the numbers of the groups of rows of a pool that has such.
func numbersOf(pool *dataset.Pool, rows []int32) []int32 {
	numbers := make([]int32, len(rows))
	for i, r := range rows {
		numbers[i] = pool.Groups[r]
	}
	return numbers
}

// sameGroups are those of rows that are of a group with one of others, in their order.
func sameGroups(pool *dataset.Pool, rows, others []int32) []int32 {
	if pool.Groups == nil {
		return nil
	}
	has := map[int32]bool{}
	for _, r := range others {
		has[pool.Groups[r]] = pool.Groups[r] >= 0
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return !has[pool.Groups[r]] })
}

// otherGroups are those of rows that are of no group with one of others, in their order.
func otherGroups(pool *dataset.Pool, rows, others []int32) []int32 {
	same := sameGroups(pool, rows, others)
	if len(same) == 0 {
		return rows
	}
	is := listed(pool.Rows, same)
	return slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return is[r] })
}

// wholeGroups overwrites marks of the rows of a pool with those of all rows whose group has one.
func wholeGroups(pool *dataset.Pool, marks []bool) []bool {
	if pool.Groups == nil {
		return marks
	}
	for _, r := range sameGroups(pool, upTo(pool.Rows), marked(marks)) {
		marks[r] = true
	}
	return marks
}

func upTo(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// Apart are those of rows of the target's pool that are of no group with one of others, in their order: such as are held out from these.
func (p *Problem) Apart(rows, others []int32) []int32 {
	return otherGroups(p.Set.Pools[p.Target.Pool], rows, others)
}

// Groups is how many groups rows of the target are of, 0 where each is on its own, and how many rows on their own tell as
// much, if those of a group tell the same: n^2 / sum n_g^2 of groups of n_g (Kish 1965).
func (p *Problem) Groups(rows []int32) (groups int, effective float64) {
	t := p.together(rows)
	if t.Group != nil {
		groups = t.Count()
	}
	return groups, t.Effective()
}

// checkGroups refuses a target of which the data hold out rows that belong to others to draw from, which would tell them, and one without
// test rows whose samples all belong together, of which none can be left out.
func (p *Problem) checkGroups() error {
	pool := p.Set.Pools[p.Target.Pool]
	if pool.Groups == nil {
		return nil
	}
	if held := sameGroups(pool, p.Target.testRows(p.Set), p.Target.trainRows(p.Set)); len(held) > 0 {
		return fmt.Errorf("target %s: expected all rows of a group on one side of the split, found row %d for tests whose group has rows to "+
			"draw from, and %s in all", p.TargetName(), held[0], text.Several(len(held), "such row"))
	}
	if n := len(p.draws.target); n > 1 && len(p.draws.test) == 0 && p.Set.Model == nil && p.together(p.draws.target).Count() == 1 {
		return fmt.Errorf("target %s has no test rows, and all its %s are of one group: expected at least two groups, of which one "+
			"can be left out", p.TargetName(), text.Several(n, "sample"))
	}
	return nil
}

// together are the groups of rows of the target's pool.
func (p *Problem) together(rows []int32) regress.Groups {
	pool := p.Set.Pools[p.Target.Pool]
	if pool.Groups == nil {
		return regress.Ungrouped(len(rows))
	}
	return regress.GroupsOf(numbersOf(pool, rows))
}
