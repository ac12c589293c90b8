package pipeline

import (
	"fmt"
	"slices"
)

// checkDrawn refuses a round in which a row of a source or of the target is there twice, such as where the rows of earlier rounds were
// added to a proposal that has them, or is both a sample and held out of the target, or which has a row of the target in a source that
// draws none of these: the target itself, and what has its pool where it has no test rows of its own. A row of the same
// group is as the row. Rows must be those of the pools.
func (p *Problem) checkDrawn(in Round) error {
	target, test := slices.Sorted(slices.Values(in.Target.Rows)), slices.Sorted(slices.Values(in.Test.Rows))
	const once = "expected each row once, found row %d twice"
	for _, rows := range [][]int32{target, test} {
		if row := twice(rows); row >= 0 {
			return fmt.Errorf("rows of the target %s: "+once, p.TargetName(), row)
		}
	}
	if row := common(target, test); row >= 0 {
		return fmt.Errorf("rows of the target %s: expected samples that are not held out, found row %d", p.TargetName(), row)
	}
	pool := p.Set.Pools[p.Target.Pool]
	if alike := sameGroups(pool, test, target); len(alike) > 0 {
		return fmt.Errorf("rows of the target %s: expected samples of other groups than what is held out, found row %d of one with a sample",
			p.TargetName(), alike[0])
	}
	apart := p.Target.keepsApart(p.Set)
	for m, s := range p.Sources {
		rows := slices.Sorted(slices.Values(in.Sources[m].Rows))
		if row := twice(rows); row >= 0 {
			return fmt.Errorf("rows of %s: "+once, s.Name, row)
		}
		if s.Name != p.TargetName() && !(apart && s.Pool == p.Target.Pool) {
			continue
		}
		for _, of := range []struct {
			rows []int32
			what string
		}{{target, "a sample"}, {test, "held out"}} {
			if row := common(rows, of.rows); row >= 0 {
				return fmt.Errorf("rows of %s: expected none that is %s of the target %s, found row %d", s.Name, of.what, p.TargetName(), row)
			}
			if alike := sameGroups(pool, rows, of.rows); apart && len(alike) > 0 {
				return fmt.Errorf("rows of %s: expected none of a group that has %s of the target %s, found row %d", s.Name, of.what,
					p.TargetName(), alike[0])
			}
		}
	}
	return nil
}

// twice is the first of sorted rows that is there again, -1 where none is.
func twice(rows []int32) int32 {
	for i := 1; i < len(rows); i++ {
		if rows[i] == rows[i-1] {
			return rows[i]
		}
	}
	return -1
}

// common is the first row of two sorted lists, -1 where there is none.
func common(a, b []int32) int32 {
	for _, row := range a {
		if _, is := slices.BinarySearch(b, row); is {
			return row
		}
	}
	return -1
}
