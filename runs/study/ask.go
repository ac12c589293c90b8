package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/amtrl/amtrl/internal/atomicfile"
	"github.com/amtrl/amtrl/internal/lease"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Ask chooses rows to label and writes them to the journal. The relevance of the last round decides how many rows of each source are asked
// for. Within a source rows are taken at random, in an order that the seed fixes, and never one that is pending, answered or skipped.
// Unless rows are still pending, Ask first learns from the answers that came since the last round. Where each ask has a budget of its own,
// it does not wait for a few rows, as about one in ten of those asked for since; and if labels were replaced since, it learns in any case,
// as the last round learned from wrong ones. It also learns from labels that were there before the first ask, where every source of
// [dataset.FewestSamples] rows or more has some and each ask has a budget of its own.
func (s *Study) Ask(ctx context.Context, r Request) (*Asked, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if s.data == nil {
		return nil, ErrNotAttached
	}
	const tries = 3 // other processes may tell labels all the time
	for i := 0; ; i++ {
		asked, due, err := s.ask(ctx, r, r.Learn != nil && i < tries)
		if err != nil || !due {
			return asked, err
		}
		switch err := r.Learn(ctx); {
		case errors.Is(err, ErrTooFew): // such as where only the target has labels
			i = tries
		case err != nil && !errors.Is(err, ErrNothingNew): // another process was first
			return nil, err
		}
	}
}

// ask does what Ask does, but where a round is due and mayLearn is set, it asks for nothing and leaves the round to the caller.
func (s *Study) ask(ctx context.Context, r Request, mayLearn bool) (asked *Asked, due bool, err error) {
	held, err := s.lock(ctx, s.Dir)
	if err != nil {
		return nil, false, err
	}
	defer held.Release()
	s, j, st, err := s.load()
	if err != nil {
		return nil, false, err
	}
	if err := s.restoreTable(st); err != nil {
		return nil, false, err
	}
	if before := st.askOf(r.Key); before != nil {
		asked, err := s.repeat(before, r)
		return asked, false, err
	}
	if err := s.expire(held, j, st); err != nil {
		return nil, false, err
	}
	if r.TargetRows > 0 {
		asked, err = s.askTarget(ctx, held, j, st, r)
		return asked, false, err
	}
	var without []string // of a first ask: the sources without labels, where others have some
	labelled := false
	if !st.began() && len(st.fits) == 0 && s.Settings.RoundBudget > 0 {
		if without, labelled, err = s.unlabelled(st); err != nil {
			return nil, false, err
		}
	}
	waiting := st.pending()
	if mayLearn && (s.outdated(st) || s.settled(st) && s.due(st, labelled && len(without) == 0)) {
		return nil, true, nil
	}
	prop, err := s.propose(st, r.Budget)
	if err != nil {
		return nil, false, err
	}
	e := &AskEvent{Number: len(st.asks) + 1, Round: len(st.fits) + 1, Request: r.Key, Budget: r.Budget, Rows: prop.groups}
	if len(e.Rows) == 0 {
		return nil, false, nothing(waiting, prop)
	}
	unmeasured := ""
	if r.StopBelow > 0 {
		scores, err := s.scores(st)
		if err != nil {
			return nil, false, err
		}
		gain := st.gain(newCurve(scores), prop, prop.cost)
		if gain != nil && gain.Mean < r.StopBelow {
			return nil, false, &Stop{*gain, r.StopBelow}
		}
		if gain == nil {
			unmeasured = noCurve(scores)
		}
	}
	if asked, err = s.record(ctx, held, j, e, r.Expires); err != nil {
		return nil, false, err
	}
	if labelled {
		asked.Unlabelled = without
	}
	asked.Unlearned = waiting > 0 && st.labels > st.learnedUpTo()
	asked.Exhausted = prop.cost > prop.rest
	asked.Pending, asked.Unmeasured = waiting, unmeasured
	return asked, false, nil
}

// record writes the table of an ask, which expires after the given time unless that is 0, and then its line in the journal.
func (s *Study) record(ctx context.Context, held *lease.Lease, j *journal, e *AskEvent, expires time.Duration) (*Asked, error) {
	if expires > 0 {
		e.Expires = s.now().Add(expires).UTC().Format(timeForm)
	}
	asked, err := s.asked(e)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	table, err := asked.csv()
	if err != nil {
		return nil, err
	}
	// The table appears once the line is there, so that no table is of an ask that the journal does not have. Where a killed process left
	// only the line, restoreTable writes the table.
	return asked, atomicfile.WriteThen(asked.Path, table, func() error { return s.write(held, j, Event{Ask: e}) })
}

// repeat returns the rows of an ask whose request is made again.
func (s *Study) repeat(e *AskEvent, r Request) (*Asked, error) {
	if r.Budget != 0 && r.Budget != e.Budget {
		was := "the budget of the study"
		if e.Budget != 0 {
			was = "budget " + text.Number(e.Budget)
		}
		return nil, &Contradiction{text: fmt.Sprintf("request %q was made with %s, expected the same, found %g", r.Key, was, r.Budget)}
	}
	if r.TargetRows != e.TargetRows {
		return nil, &Contradiction{text: fmt.Sprintf("request %q was made for %s of the target, expected the same, found %d", r.Key,
			text.Several(e.TargetRows, "row"), r.TargetRows)}
	}
	if r.Expires > 0 && e.Expires == "" {
		return nil, &Contradiction{text: fmt.Sprintf("request %q was made without an expiry, expected the same, found one of %s", r.Key,
			r.Expires)}
	}
	asked, err := s.asked(e)
	if err == nil {
		asked.Repeated = true
		err = s.writeAsk(asked)
	}
	return asked, err
}

func nothing(waiting int, prop *proposal) error {
	switch {
	case prop.left == 0 && waiting > 0:
		return fmt.Errorf("%w, and %s %s pending", ErrAllAsked, text.Several(waiting, "row"), text.Form(waiting, "is", "are"))
	case waiting > 0:
		return fmt.Errorf("nothing to ask for within the budget of round %d, of which %s %s pending: learn from the answers so far, or give "+
			"a budget to ask for more", prop.round, text.Several(waiting, "row"), text.Form(waiting, "is", "are"))
	case prop.left == 0:
		return ErrAllAsked
	}
	if prop.cost == 0 {
		return fmt.Errorf("nothing to ask for: by round %d the study may spend %s, and %s is spent: give a budget to ask for more", prop.round,
			text.Amount(prop.scheduled), text.Amount(prop.spent))
	}
	return fmt.Errorf("nothing to ask for: a budget of %s pays for no row", text.Amount(prop.cost))
}

// load reads the journal and returns the study, a copy for one call alone, with the classes that it has now, and its state.
func (s *Study) load() (now *Study, j *journal, st *state, err error) {
	if s.data == nil {
		return nil, nil, nil, ErrNotAttached
	}
	if j, err = s.readWhole(); err != nil {
		return nil, nil, nil, err
	}
	if now, err = s.after(j.events); err != nil {
		return nil, nil, nil, err
	}
	st, err = now.replay(j.events)
	return now, j, st, err
}

// expire writes to the journal that the time of some asks is over, so that their rows without an answer can be asked for again.
func (s *Study) expire(held *lease.Lease, j *journal, st *state) error {
	late := st.late(s.now())
	if len(late) == 0 {
		return nil
	}
	if err := s.write(held, j, Event{Expire: &ExpireEvent{late}}); err != nil {
		return err
	}
	return st.apply(&j.events[len(j.events)-1])
}

// release does what expire does without writing to the journal, for commands that change nothing.
func (s *Study) release(j *journal, st *state) error {
	late := st.late(s.now())
	if len(late) == 0 {
		return nil
	}
	return st.apply(&Event{N: len(j.events) + 1, Expire: &ExpireEvent{late}})
}

type proposal struct {
	round  int
	groups []AskRows
	// cost is what the rows of sources may cost. before is the cost of the rows that are answered, in the data too, or pending; left is the
	// number of rows that are left.
	cost, before float64
	// scheduled is what the rows of sources without a label in the data may cost by the end of the round, spent what they cost so far.
	scheduled, spent float64
	left             int
	rest             float64 // cost of the rows that are left
	problem          *pipeline.Problem
	have             []int // samples of each source, with pending ones
}

func (s *Study) propose(st *state, budget float64) (*proposal, error) {
	n := len(st.fits)
	if n == 0 {
		return s.proposeAfter(st, 0, nil, budget)
	}
	before, err := s.loadRound(n)
	if err != nil {
		return nil, err
	}
	return s.proposeAfter(st, n, &before.Epochs[n-1], budget)
}

// proposeAfter is propose after so many rounds, of which last is the last epoch, nil for none.
func (s *Study) proposeAfter(st *state, rounds int, last *pipeline.Epoch, budget float64) (*proposal, error) {
	out := &proposal{round: rounds + 1}
	schedule := s.Settings.Config.Schedule
	if s.Settings.RoundBudget == 0 && budget == 0 && out.round > schedule.Epochs {
		return nil, fmt.Errorf("%w after %s: give a budget to ask for more", ErrScheduleOver, text.Several(schedule.Epochs, "round"))
	}
	p, err := s.problem(out.round)
	if err != nil {
		return nil, err
	}
	order, target, _ := p.Order()
	n := len(p.Sources)
	have, limit, marks := make([]int, n), make([]int, n), make([][]status, n)
	known := 0.0
	for m, source := range p.Sources {
		marks[m] = st.marks(source.Pool)
		limit[m] = len(order[m])
		for _, i := range order[m] {
			switch marks[m][i] {
			case pending, answered:
				have[m]++
				if s.known(source.Pool, i) != nil { // whether it was told as well or not
					known += p.Costs[m]
				}
			case skipped:
				limit[m]--
			}
		}
		out.before += p.Costs[m] * float64(have[m])
		out.left += limit[m] - have[m]
		out.rest += p.Costs[m] * float64(limit[m]-have[m])
	}
	out.scheduled, out.spent = s.scheduled(out.round), out.before-known
	total, floor := known+out.scheduled, schedule.Floor
	if budget == 0 {
		budget = s.Settings.RoundBudget
	}
	out.cost, out.problem, out.have = math.Max(0, total-out.before), p, have
	if budget > 0 { // in addition to what is spent, and with a floor that it pays for
		total, out.cost = out.before+budget, budget
		floor = affordable(p.Costs, have, limit, floor, total)
	}
	counts := p.Allocate(last, total, floor, have, limit)
	var shares []float64
	var by []string
	if last != nil {
		shares, by = s.Settings.Config.Allocation.SharesAfter(last, p.Costs), s.Settings.Config.Allocation.DueTo(last, p.Costs)
	}
	if group := st.askSamples(p, target); len(group.Rows) > 0 {
		out.groups = append(out.groups, group)
	}
	for m, source := range p.Sources {
		group := AskRows{Source: source.Name, Cost: p.Costs[m], Reason: "first round"}
		if last != nil {
			group.Reason = reason(by[m], last.Nu[m], shares[m], slices.Min(p.Costs) != slices.Max(p.Costs), counts[m] == limit[m])
		}
		for _, i := range order[m] {
			if len(group.Rows) == counts[m]-have[m] {
				break
			}
			if marks[m][i] == free {
				group.Rows = append(group.Rows, i)
			}
		}
		if len(group.Rows) > 0 {
			out.groups = append(out.groups, group)
		}
	}
	return out, nil
}

// reason says what most of a source's share is due to, and whether all its rows are asked for. Where sources differ in cost, the share is
// one of the cost, and it depends on the price too.
func reason(by string, nu, share float64, priced, all bool) string {
	what, rows := "relevance", ""
	if all {
		rows = ", all rows left"
	}
	switch by {
	case pipeline.ByExploration:
		what = "exploration"
	case pipeline.ByEven:
		what = "spread evenly"
	}
	switch {
	case !priced:
		return fmt.Sprintf("%s: share %.1f %%%s", what, 100*share, rows)
	case by == pipeline.ByRelevance:
		return fmt.Sprintf("%s %.2f, share of the cost %.1f %%%s", what, nu, 100*share, rows)
	}
	return fmt.Sprintf("%s, share of the cost %.1f %%%s", what, 100*share, rows)
}

// affordable returns the largest floor, at most the given one, whose samples cost no more than total.
func affordable(costs []float64, have, limit []int, floor int, total float64) int {
	for ; floor > 0; floor-- {
		sum := 0.0
		for m, c := range costs {
			sum += c * float64(max(have[m], min(floor, limit[m])))
		}
		if sum <= total {
			return floor
		}
	}
	return 0
}

// asked returns the rows of an ask in order of priority: any prefix of the list has about the shares of the whole list.
func (s *Study) asked(e *AskEvent) (*Asked, error) {
	type place struct {
		at    float64
		group int
		row   int32
	}
	var places []place
	for g, group := range e.Rows {
		for k, i := range group.Rows {
			places = append(places, place{(float64(k) + 0.5) / float64(len(group.Rows)), g, i})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.group, b.group)) })
	out := &Asked{Number: e.Number, Round: e.Round, Expires: e.Expires, Path: s.askPath(e.Number)}
	for n, p := range places {
		group := e.Rows[p.group]
		id, err := s.idOf(s.places[group.Source], p.row)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, AskedRow{ID: id, Source: group.Source, Reason: group.Reason, Cost: group.Cost, Priority: n + 1})
	}
	return out, nil
}

// idOf returns the id of a row, or its number in the data where rows have no ids.
func (s *Study) idOf(pool int, i int32) (string, error) {
	id, number, err := s.data.Set.Pools[pool].Origin.Find(int(i))
	if s.data.Set.Columns.ID == "" {
		id = strconv.FormatInt(number, 10)
	}
	return id, err
}

// AskColumns returns the columns of the table of an ask.
func AskColumns() []string {
	return []string{"id", "source", "cost", "priority", "reason", "ask", "expires"}
}

// Record returns row i as a record of AskColumns.
func (a *Asked) Record(i int) []string {
	r := a.Rows[i]
	return []string{r.ID, r.Source, text.Number(r.Cost), strconv.Itoa(r.Priority), r.Reason, strconv.Itoa(a.Number), a.Expires}
}

func (a *Asked) csv() ([]byte, error) {
	rows := [][]string{AskColumns()}
	for i := range a.Rows {
		rows = append(rows, a.Record(i))
	}
	return runs.EncodeCSV(rows)
}

func (s *Study) writeAsk(a *Asked) error {
	raw, err := a.csv()
	if err != nil {
		return err
	}
	return atomicfile.Write(a.Path, raw)
}
