package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// Proposal is what a round asks for: the rows to be labelled, as indices into the pool of each source.
type Proposal struct {
	Method string
	// Epoch counts the rounds of the method from 1.
	Epoch int
	// Sources holds the rows of each source in drawing order, those of earlier rounds first.
	Sources [][]int32
	// Before counts the rows of each source that the round before learned from. Where it had the labels of all rows that
	// were proposed to it, these are the first here, and the rows after them are new. Rows that had no answer are proposed
	// again at their place in drawing order, so a program with such rows keeps a list of those it has labels of.
	Before []int
	// Target holds the target's samples and Test its held-out rows, the same in every round. Without held-out rows the
	// score is by leave-one-out.
	Target, Test []int32
}

// Propose returns what the round after st draws: how many samples of each source the allocation gives (Alg. 2, line 4;
// Alg. 1 and uniform for the baselines), and which rows these are. Rows are drawn without replacement in an order fixed
// by seed, target and source, so that the samples of earlier rounds stay. st must be a state of this problem with a
// round left.
func (p *Problem) Propose(st State) (Proposal, error) {
	if err := p.Check(st.Epochs); err != nil {
		return Proposal{}, err
	}
	method, e := p.round(len(st.Epochs))
	if e == 0 {
		return Proposal{}, fmt.Errorf("target %s: all %d epochs are finished", p.TargetName(), len(st.Epochs))
	}
	counts, err := p.allocate(st, method, e)
	if err != nil {
		return Proposal{}, p.inRound(method, e, err)
	}
	_, before := p.before(st, e)
	out := Proposal{Method: method, Epoch: e, Before: before, Target: slices.Clone(p.draws.target), Test: slices.Clone(p.draws.test)}
	total := 0
	for m, n := range counts {
		out.Sources = append(out.Sources, slices.Clone(p.draws.source[m][:n]))
		total += n
	}
	if total == 0 && !isBaseline(method) {
		advice := "raise the budget or the floor"
		if m := floats.MinIdx(p.Costs); p.Config.Schedule.Kind == ScheduleBudget && p.plans[e-1].Cost < p.Costs[m] {
			advice = fmt.Sprintf("all rows by the end of the epoch may cost %s, and one of the cheapest source, %s, costs %s: ",
				text.Amount(p.plans[e-1].Cost), text.OneLine(p.Sources[m].Name, 80), text.Amount(p.Costs[m])) + advice
		}
		if n := len(p.plans); n > 1 {
			advice += fmt.Sprintf(", or have fewer epochs than %d", n)
		}
		return Proposal{}, p.inRound(method, e, errors.New("the schedule draws no sample: "+advice))
	}
	return out, nil
}

// inRound adds to an error the round in which it occurred.
func (p *Problem) inRound(method string, epoch int, err error) error {
	return fmt.Errorf("target %s, %s, epoch %d: %w", p.TargetName(), method, epoch, err)
}

// allocate returns the number of samples of each source by the end of the round.
func (p *Problem) allocate(st State, method string, e int) ([]int, error) {
	plan, limit, schedule := p.plans[e-1], p.Available(), p.Config.Schedule
	last, have := p.before(st, e)
	rates, floor := uniformRates(p.Costs), 0
	switch {
	case isBaseline(method):
		return have, nil
	case IsBeside(method):
		return slices.Clone(p.lastOfFirst(st).Counts), nil
	case method == Active:
		if rates = p.Config.Allocation.even(p.Costs); e > 1 {
			rates = p.Config.Allocation.after(last, p.Costs)
		}
		cost := plan.Cost
		switch schedule.Kind {
		case ScheduleBudget:
			return p.Allocate(last, cost, schedule.Floor, have, limit), nil
		case ScheduleTheory: // the plan is for ||nu|| = 1; nu_1 is (1/M, ..., 1/M)
			sq := 1 / float64(len(p.Sources))
			if e > 1 {
				sq = linalg.Dot(last.Nu, last.Nu)
			}
			cost *= sq
		}
		return raise(rates, cost, plan.Floor, have, limit), nil
	case method == Known:
		nu, err := p.trueNu()
		if err != nil {
			return nil, err
		}
		rates, floor = Allocation{Rule: p.Config.Allocation.Rule}.rates(nu, p.Costs), schedule.Floor // the lower bound of Alg. 1
	}
	return spend(rates, p.Costs, p.budget(st), floor, have, limit), nil
}

// Allocate returns how many samples in all method Active gives each source for a total cost: by the relevance of the
// round last, or evenly if last is nil, by [RulePriced] as for equal relevance. have holds the samples that each source has
// and keeps, and limit the most that it can have. A source gets at least floor samples where its limit allows. have and
// limit must have an element for each source, and so must last.Nu, whose numbers are finite, and last.Match, unless it is
// nil; cost must be finite.
func (p *Problem) Allocate(last *Epoch, cost float64, floor int, have, limit []int) []int {
	rates := p.Config.Allocation.even(p.Costs)
	if last != nil {
		rates = p.Config.Allocation.after(last, p.Costs)
	}
	return spend(rates, p.Costs, cost, floor, have, limit)
}

// Order returns the rows of each source in drawing order, the rows of the target, of which the first are its samples,
// and the target's held-out rows. The caller must not change them.
func (p *Problem) Order() (sources [][]int32, target, test []int32) {
	return p.draws.source, p.draws.pool, p.draws.test
}

// budget returns the cost that Uniform and Known may spend: that of the active run, or of the whole plan without one.
func (p *Problem) budget(st State) float64 {
	for i := len(st.Epochs) - 1; i >= 0; i-- {
		if st.Epochs[i].Method == Active {
			return st.Epochs[i].Cost
		}
	}
	return p.plans[len(p.plans)-1].Cost
}

// lastOfFirst returns the record of the last round of the first method. st must have it.
func (p *Problem) lastOfFirst(st State) *Epoch { return &st.Epochs[p.RoundsOf(p.Config.Methods[0])-1] }

// Round is what a round learns from: all labelled rows so far, including those of earlier rounds.
type Round struct {
	Method string
	Epoch  int
	// Sources are the rows of each source of the problem, in its order.
	Sources []Labelled
	// Target are the target's samples, Test its held-out rows.
	Target, Test Labelled
}

// LookUp answers a proposal with the labels of the data set, NaN where a row has none (see [Problem.CheckLabels]) or
// does not exist, as in a proposal of another problem, which Learn refuses.
func (p *Problem) LookUp(prop Proposal) Round {
	r := Round{
		Method: prop.Method, Epoch: prop.Epoch,
		Target: p.Target.label(p.Set, prop.Target), Test: p.Target.label(p.Set, prop.Test),
	}
	for m, rows := range prop.Sources {
		of := Labelled{Rows: rows}
		if m < len(p.Sources) {
			of = p.Sources[m].label(p.Set, rows)
		}
		r.Sources = append(r.Sources, of)
	}
	return r
}
