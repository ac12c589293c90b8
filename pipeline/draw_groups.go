package pipeline

import (
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// grouping holds the number of the group of each row of a pool, as [dataset.Pool].Groups does. nil means that every row
// is on its own.
type grouping []int32

// gathered returns rows of which the first n are to be samples with the rows of each group one after the other, in the
// order of the groups' first rows. Groups that do not fit into the first n as a whole come after these n.
func (g grouping) gathered(rows []int32, n int) []int32 {
	groups := g.of(rows)
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
	if len(out) < n { // then the first group of last is cut at n
		return append(out, last...)
	}
	return slices.Concat(out[:n], last, out[n:])
}

// ofTwo moves a row of another group to the end of the first n gathered rows, where these are at least two and
// all of one group, so that a group can be left out. Where there is no other group it returns the rows as they are.
func (g grouping) ofTwo(rows []int32, n int) []int32 {
	if g == nil || n < 2 {
		return rows
	}
	first := g[rows[0]]
	other := slices.IndexFunc(rows, func(r int32) bool { return g[r] < 0 || g[r] != first })
	if first < 0 || other < n {
		return rows
	}
	r := rows[other]
	return slices.Insert(slices.Delete(slices.Clone(rows), other, other+1), n-1, r)
}

// of returns the groups of rows.
func (g grouping) of(rows []int32) regress.Groups {
	if g == nil {
		return regress.Ungrouped(len(rows))
	}
	numbers := make([]int32, len(rows))
	for i, r := range rows {
		numbers[i] = g[r]
	}
	return regress.GroupsOf(numbers)
}

// same returns those of rows, in their order, whose group has a row in others.
func (g grouping) same(rows, others []int32) []int32 {
	if g == nil {
		return nil
	}
	has := map[int32]bool{}
	for _, r := range others {
		has[g[r]] = g[r] >= 0
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return !has[g[r]] })
}

// other returns those of rows, in their order, whose group has no row in others.
func (g grouping) other(rows, others []int32) []int32 {
	same := g.same(rows, others)
	if len(same) == 0 {
		return rows
	}
	is := listed(len(g), same)
	return slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return is[r] })
}

// whole marks all rows whose group has a marked row, in marks, which it returns.
func (g grouping) whole(marks []bool) []bool {
	if g == nil {
		return marks
	}
	for _, r := range g.same(upTo(len(g)), marked(marks)) {
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

// Apart returns those of rows of the target's pool, in their order, whose group has no row in others, so that they
// can be held out from these.
func (p *Problem) Apart(rows, others []int32) []int32 {
	return p.draws.groups.other(rows, others)
}

// Groups returns the number of groups of rows of the target, 0 where each row is on its own, and the effective number
// of rows, independent ones that tell as much if all rows of a group tell the same: n^2 / sum n_g^2 for groups of n_g
// rows (Kish 1965).
func (p *Problem) Groups(rows []int32) (groups int, effective float64) {
	t := p.groupsOf(rows)
	if t.Group != nil {
		groups = t.Count()
	}
	return groups, t.Effective()
}

// checkGroups returns an error for a target that has a test row in the group of a training row, which could tell its
// label, and for one without test rows whose samples are all of one group, so that none can be left out. Copies of a row
// may be on both sides.
func (p *Problem) checkGroups() error {
	named := grouping(p.Set.Pools[p.Target.Pool].Groups)
	if held := named.same(p.Target.testRows(p.Set), p.Target.trainRows(p.Set)); len(held) > 0 {
		return fmt.Errorf("target %s: expected all rows of a group on one side of the split, found row %d for tests whose group has rows to "+
			"draw from, and %s in all", p.TargetName(), held[0], text.Several(len(held), "such row"))
	}
	if n := len(p.draws.target); n > 1 && len(p.draws.test) == 0 && p.Set.Model == nil && p.groupsOf(p.draws.target).Count() == 1 {
		return fmt.Errorf("target %s has no test rows, and all its %s are of one group: expected at least two groups, of which one "+
			"can be left out", p.TargetName(), text.Several(n, "sample"))
	}
	return nil
}

// groupsOf returns the groups of rows of the target's pool.
func (p *Problem) groupsOf(rows []int32) regress.Groups { return p.draws.groups.of(rows) }
