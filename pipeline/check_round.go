package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// checkDrawn returns an error for a round in which
//
//   - the rows of a source, the target's samples or its held-out rows have a row twice, such as where the rows of
//     earlier rounds were added to a proposal that has them already;
//   - a held-out row of the target is one of its samples, or in the group of one;
//   - the target as a source has one of its samples or held-out rows;
//   - the target has no test rows of its own (see [Source.keepsApart]), and a source on its pool has a sample, a
//     held-out row or another row of their groups.
//
// The rows must exist in their pools.
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
	named := grouping(p.Set.Pools[p.Target.Pool].Groups)
	if alike := named.same(test, target); len(alike) > 0 {
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
			if !apart {
				continue
			}
			if alike := named.same(rows, of.rows); len(alike) > 0 {
				return fmt.Errorf("rows of %s: expected none of a group that has %s of the target %s, found row %d", s.Name, of.what,
					p.TargetName(), alike[0])
			}
		}
	}
	return nil
}

// twice returns the first row that a sorted list has twice, or -1.
func twice(rows []int32) int32 {
	for i := 1; i < len(rows); i++ {
		if rows[i] == rows[i-1] {
			return rows[i]
		}
	}
	return -1
}

// common returns the first row of a that the sorted list b has too, or -1.
func common(a, b []int32) int32 {
	for _, row := range a {
		if _, is := slices.BinarySearch(b, row); is {
			return row
		}
	}
	return -1
}

// checkRound returns an error unless in is a valid round after st. It checks the method and epoch, the number of
// sources, and the rows and labels.
func (l *Learner) checkRound(st State, in Round) error {
	p := l.problem
	if method, e := p.round(len(st.Epochs)); in.Method != method || in.Epoch != e || e == 0 {
		return fmt.Errorf("target %s: expected epoch %d of %s, found epoch %d of %s", p.TargetName(), e, method, in.Epoch, in.Method)
	}
	if len(in.Sources) != len(p.Sources) {
		return p.inRound(in.Method, in.Epoch, fmt.Errorf("expected rows of %d sources, found %d", len(p.Sources), len(in.Sources)))
	}
	total := 0
	for m, s := range in.Sources {
		if limit := len(p.draws.source[m]); len(s.Rows) > limit {
			return p.inRound(in.Method, in.Epoch, fmt.Errorf("source %d: expected at most %d rows, found %d", m, limit, len(s.Rows)))
		}
		total += len(s.Rows)
	}
	for i, rows := range slices.Concat(in.Sources, []Labelled{in.Target, in.Test}) {
		name, source := "the target", p.Target
		if i < len(p.Sources) {
			name, source = p.Sources[i].Name, p.Sources[i]
		}
		if err := rows.check(p.Set, source); err != nil {
			return p.inRound(in.Method, in.Epoch, fmt.Errorf("rows of %s: %w", name, err))
		}
	}
	if err := p.checkDrawn(in); err != nil {
		return p.inRound(in.Method, in.Epoch, err)
	}
	if isBaseline(in.Method) {
		total = 1
	}
	exact := p.Set.Model != nil && p.Config.Representation == ClassLinear
	if total == 0 || len(in.Target.Rows) == 0 || len(in.Test.Rows) == 0 && !exact && !p.Config.leavesOneOut() {
		return p.inRound(in.Method, in.Epoch, fmt.Errorf("expected labelled rows of sources, target and test, found %d, %d and %d",
			total, len(in.Target.Rows), len(in.Test.Rows)))
	}
	return nil
}

// check returns an error where a row does not exist in the pool of the source or has no label, and where a label is
// infinite or, for classes, neither 0 nor 1. NaN is a missing label, which is allowed where there are several outputs.
func (l Labelled) check(set *dataset.Set, of Source) error {
	outputs, rows := len(of.Tasks), set.Pools[of.Pool].Rows
	if n := len(l.Rows) * outputs; n != len(l.Y) {
		return fmt.Errorf("expected %d labels, one for each row and each of the outputs %s, found %d", n, of.outputNames(set), len(l.Y))
	}
	for i, row := range l.Rows {
		if row < 0 || int(row) >= rows {
			return fmt.Errorf("expected rows 0 to %d of pool %s, found row %d", rows-1, set.Pools[of.Pool].Name, row)
		}
		missing := 0
		for c, y := range l.Y[i*outputs : (i+1)*outputs] {
			if v := float64(y); math.IsInf(v, 0) || math.IsNaN(v) && outputs == 1 {
				return fmt.Errorf("the label of row %d of output %s is %g, expected a finite number", row, set.Tasks[of.Tasks[c]].Name, y)
			} else if math.IsNaN(v) {
				missing++
			} else if set.Binary && y != 0 && y != 1 {
				return fmt.Errorf("the label of row %d of output %s is %g, expected 0 or 1", row, set.Tasks[of.Tasks[c]].Name, y)
			}
		}
		if missing == outputs {
			return fmt.Errorf("row %d has no label of the outputs %s, expected at least one", row, of.outputNames(set))
		}
	}
	return nil
}
