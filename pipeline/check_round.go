package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
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

// checkRound refuses labelled rows that are not those of the round after st.
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

// check refuses rows that a source does not have or that have no label, and labels that are
// no numbers, or no classes.
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
