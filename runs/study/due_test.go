package study

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where each ask has a budget of its own, an ask learns first from the answers so far if few rows are pending, and says where it does not.
// Answers that come later are learned from with those of the next ask. In a schedule no row may be pending.
func TestAskLearnsWithFewPending(t *testing.T) {
	type answered struct {
		name    string
		budget  float64
		without func(n int, source string) bool // of rows of the ask, in order of priority: those without an answer
		learns  bool
	}
	rng := testrand.New(t)
	for _, c := range must.Some(rng, 4, []answered{
		{"all answered", 30, func(int, string) bool { return false }, true},
		{"one in ten pending", 30, func(n int, _ string) bool { return n < 3 }, true},
		{"more pending", 30, func(n int, _ string) bool { return n < 4 }, false},
		{"one of few pending", 9, func(n int, _ string) bool { return n == 0 }, true},
		{"two of few pending", 9, func(n int, _ string) bool { return n < 2 }, false},
		{"none answered", 9, func(int, string) bool { return true }, false},
		{"one of all rounds pending", 0, func(n int, _ string) bool { return n == 0 }, false},
	}...) {
		f := newFixtureOf(t, testrand.New(t), c.budget, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
		learned := 0
		learn := func(ctx context.Context) error {
			learned++
			return must.Err(f.Learn(ctx, openCPU))
		}
		first := must.Get(f.Ask(t.Context(), Request{Learn: learn}))(t)
		lines, late := []string{"id,label"}, []string{"id,label"}
		for n, r := range first.Rows {
			if line := r.ID + "," + f.labels[r.ID]; c.without(n, r.Source) {
				late = append(late, line)
			} else {
				lines = append(lines, line)
			}
		}
		must.Get(f.Tell(t.Context(), f.answers(t, "1.csv", lines...), TellOptions{}))(t)
		st := must.Get(f.Status())(t)
		must.Equal(t, st.Waits, !c.learns && st.Fresh, "%s: the status says that the next ask waits", c.name)
		second, err := f.Ask(t.Context(), Request{Learn: learn})
		must.Equal(t, learned == 1, c.learns, "%s: the second ask learns", c.name)
		if c.budget == 0 {
			must.Fail(t, "an ask within a schedule", err, "1 row is pending: learn from the answers so far, or give a budget")
			continue
		}
		must.Do(t, err)
		must.Equal(t, second.Round, learned+1, "%s: the round of the second ask", c.name)
		must.Equal(t, second.Pending, len(late)-1, "%s: pending rows", c.name)
		must.Equal(t, second.Unlearned, !c.learns && len(lines) > 1, "%s: there are answers not learned from", c.name)
		for _, r := range second.Rows {
			must.Equal(t, strings.Contains(r.Reason, ": share "), c.learns, "%s: the reason %s", c.name, r.Reason)
		}
		must.Get(f.Tell(t.Context(), f.answers(t, "late.csv", late...), TellOptions{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, "2.csv", second), TellOptions{}))(t)
		third := must.Get(f.Ask(t.Context(), Request{Learn: learn}))(t)
		st = must.Get(f.Status())(t)
		must.Hold(t, third.Pending == 0 && st.Answered == len(first.Rows)+len(second.Rows), "%s: after late answers %+v", c.name, st)
		v := must.Get(f.Verify(t.Context(), openNamed, nil))(t)
		must.Hold(t, v.Asks == 3 && v.Rounds == learned, "%s: replayed %+v", c.name, v)
	}
}

// Which asks are settled is what a count, row by row, of the events gives.
func TestSettled(t *testing.T) {
	rng := testrand.New(t)
	f := newFixture(t, rng)
	few := func(pending, all int) bool { return pending <= max(1, all/10) && pending <= all/2 }
	for range 300 {
		_, _, st, err := f.load()
		must.Do(t, err)
		type where struct {
			source string
			row    int32
		}
		last := map[where]int{} // the ask of each row
		asks, upto, line := []int{}, 0, 0
		free := map[string][]int{"a": rng.Perm(40), "b": rng.Perm(40), "c": rng.Perm(40), "t": rng.Perm(28)}
		apply := func(e Event) {
			line++
			e.N = line
			must.Do(t, st.apply(&e))
		}
		answer := map[where]bool{}
		for range 1 + rng.IntN(4) {
			e := &AskEvent{Number: len(asks) + 1, Round: len(st.fits) + 1}
			for _, source := range []string{"a", "b", "c", "t"} {
				n := min(len(free[source]), rng.IntN([]int{3, 16}[rng.IntN(2)]))
				group := AskRows{Source: source}
				for _, i := range free[source][:n] {
					if source == "t" {
						i += 12 // the others have labels
					}
					group.Rows = append(group.Rows, int32(i))
					last[where{source, int32(i)}] = e.Number
				}
				free[source] = free[source][n:]
				if n > 0 {
					e.Rows = append(e.Rows, group)
				}
			}
			apply(Event{Ask: e})
			asks = append(asks, line)
			share := []float64{0.5, 0.9, 0.97, 1}[rng.IntN(4)]
			for _, group := range e.Rows {
				for _, i := range group.Rows {
					switch at := (where{group.Source, i}); {
					case rng.Float64() >= share:
					case rng.IntN(4) == 0:
						apply(Event{Tell: &TellEvent{Skips: []SkipRows{{Source: group.Source, Rows: []int32{i}}}}})
						answer[at] = true
					default:
						apply(Event{Tell: &TellEvent{Rows: []TellRows{{Source: group.Source, Rows: []int32{i}, Labels: [][]string{{"yes"}}}}}})
						answer[at] = true
					}
				}
			}
			switch rng.IntN(4) {
			case 0:
				upto = line
				apply(Event{Fit: &FitEvent{Round: len(st.fits) + 1, Upto: upto}})
			case 1:
				apply(Event{Expire: &ExpireEvent{[]int{e.Number}}})
				for at, number := range last {
					if number == e.Number && !answer[at] {
						delete(last, at)
						i := int(at.row)
						if at.source == "t" {
							i -= 12
						}
						free[at.source] = append([]int{i}, free[at.source]...)
					}
				}
			}
		}
		first := len(asks) // the last, where none came since the round
		for n, line := range asks {
			if line > upto {
				first = min(first, n+1)
			}
		}
		all, pending, waiting := map[string]int{}, map[string]int{}, 0
		for at, number := range last {
			if !answer[at] {
				waiting++
			}
			if number >= first {
				all[at.source]++
				if !answer[at] {
					pending[at.source]++
				}
			}
		}
		want := few(pending["a"]+pending["b"]+pending["c"], all["a"]+all["b"]+all["c"]) && few(pending["t"], all["t"])
		for source, n := range all {
			want = want && (n < 5 || pending[source] <= n/2)
		}
		must.Equal(t, f.settled(st), want || waiting == 0, "%d pending, asked %v, pending %v since ask %d", waiting, all, pending, first)
		schedule := *f.Study
		schedule.Settings.RoundBudget = 0
		must.Equal(t, schedule.settled(st), waiting == 0, "in a schedule, %d pending", waiting)
	}
}

// A study in which one answer of each ask never comes learns before each ask.
func TestAnswersThatNeverCome(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	for n := range 5 {
		a := must.Get(f.Ask(t.Context(), Request{Learn: func(ctx context.Context) error { return must.Err(f.Learn(ctx, openCPU)) }}))(t)
		must.Hold(t, a.Round == n+1 && a.Pending == n && !a.Unlearned, "ask %d: %+v", n+1, a)
		a.Rows = a.Rows[1:]
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", n), a), TellOptions{}))(t)
	}
	must.Get(f.Verify(t.Context(), openNamed, nil))(t)
}
