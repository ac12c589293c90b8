package study

import (
	"context"
	"fmt"
	"slices"

	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/pipeline"
)

// askSamples returns the target's samples that have no label and are not pending, as rows to ask for.
func (st *state) askSamples(p *pipeline.Problem, order []int32) AskRows {
	group := st.ofTarget(p)
	marks := st.marks(p.Target.Pool)
	for _, i := range st.targetRows(p, order) {
		if marks[i] == free {
			group.Rows = append(group.Rows, i)
		}
	}
	return group
}

func (st *state) ofTarget(p *pipeline.Problem) AskRows {
	return AskRows{Source: p.TargetName(), Cost: st.study.cost(p.Target.Pool), Reason: "target sample"}
}

// askTarget asks for rows of the target alone.
func (s *Study) askTarget(ctx context.Context, held *lease.Lease, j *journal, st *state, r Request) (*Asked, error) {
	group, err := st.moreOfTarget(r.TargetRows)
	if err != nil {
		return nil, err
	}
	if len(group.Rows) == 0 {
		return nil, fmt.Errorf("target %s: %w", s.Settings.Target, nothing(st.pending(), new(proposal)))
	}
	e := &AskEvent{Number: len(st.asks) + 1, Round: len(st.fits) + 1, Request: r.Key, TargetRows: r.TargetRows, Rows: []AskRows{group}}
	asked, err := s.record(ctx, held, j, e, r.Expires)
	if err == nil {
		asked.Exhausted = len(group.Rows) < r.TargetRows
	}
	return asked, err
}

// moreOfTarget returns n rows of the target, or as many as are left, to become samples beside those of the settings: taken at random from
// the rows without a label that are neither held out, nor of a group with held-out rows, nor pending or skipped.
func (st *state) moreOfTarget(n int) (AskRows, error) {
	p, err := st.study.problem(1)
	if err != nil {
		return AskRows{}, err
	}
	group, marks := st.ofTarget(p), st.marks(p.Target.Pool)
	_, order, _ := p.Order()
	for _, i := range st.firstTargetRows(p, order) {
		marks[i] = pending // those without a label are asked for with the next rows of sources
	}
	for _, i := range st.study.data.TargetRows {
		if marks[i] == free {
			group.Rows = append(group.Rows, i)
		}
	}
	group.Rows = p.Apart(group.Rows, st.samples(p, 1).Test.Rows)
	p.ShuffleTarget(group.Rows)
	if n >= len(group.Rows) {
		group.Reason += ", all rows left"
		return group, nil
	}
	group.Rows = group.Rows[:n]
	return group, nil
}

// began reports whether rows of sources were asked for.
func (st *state) began() bool {
	return slices.ContainsFunc(st.asks, func(e *AskEvent) bool { return e.TargetRows == 0 })
}
