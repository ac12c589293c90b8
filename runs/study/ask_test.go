package study

import (
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A budget that does not pay for the floor of two rows of each source is kept, and divided among all sources.
func TestFloorThatIsPaidFor(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	for budget := 3.0; budget < 6; budget++ {
		for _, what := range []string{"of the study", "of an ask"} {
			s, r := f.Settings, Request{Budget: budget}
			if what == "of the study" {
				s.RoundBudget, s.Config.Schedule.Budget, r.Budget = budget, budget, 0
			}
			dir := filepath.Join(t.TempDir(), "S")
			must.Do(t, Create(dir, s, f.folder, f.data))
			rows := must.Get(f.open(t, dir).Ask(t.Context(), r))(t).Rows
			of := map[string]int{}
			for _, r := range rows {
				of[r.Source]++
			}
			must.Hold(t, len(rows) == int(budget) && len(of) == 3, "budget %g %s: rows %v", budget, what, of)
		}
	}
}

// In every prefix of an ask each source has its share of the rows, up to half a row and to what the halves of the others add up to, and the
// rows of a source stay in their order.
func TestPriorityKeepsShares(t *testing.T) {
	rng := testrand.New(t)
	f := newFixture(t, rng)
	for range 50 {
		e, all := &AskEvent{Number: 1}, 0
		for _, source := range []string{"a", "b", "c", "t"}[:2+rng.IntN(3)] {
			group := AskRows{Source: source, Rows: make([]int32, 1+rng.IntN([]int{2, 40}[rng.IntN(2)]))}
			for i, at := range rng.Perm(40)[:len(group.Rows)] {
				group.Rows[i] = int32(at)
			}
			e.Rows, all = append(e.Rows, group), all+len(group.Rows)
		}
		rows := must.Get(f.asked(e))(t).Rows
		must.Equal(t, len(rows), all, "rows")
		seen := make([]int, len(e.Rows))
		for n, r := range rows {
			g := slices.IndexFunc(e.Rows, func(group AskRows) bool { return group.Source == r.Source })
			id := must.Get(f.idOf(f.places[r.Source], e.Rows[g].Rows[seen[g]]))(t)
			must.Hold(t, r.ID == id && r.Priority == n+1, "row %d is %+v, expected %s", n, r, id)
			seen[g]++
			for g, group := range e.Rows {
				share := float64(len(group.Rows)) / float64(all)
				off := math.Abs(float64(seen[g]) - share*float64(n+1))
				must.Hold(t, off <= 0.5+share*float64(len(e.Rows)-2)/2+1e-9, "%d of the first %d rows are of %s, which has %d of %d", seen[g],
					n+1, group.Source, len(group.Rows), all)
			}
		}
	}
}

// The result of a round has the rows of the ask that follows it, whatever was skipped, and of one beyond the schedule.
func TestRoundNamesNextAsk(t *testing.T) {
	rng := testrand.New(t)
	for _, budget := range []float64{0, 15} {
		f := newFixtureOf(t, rng, budget, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
		var before map[string]int
		for range 3 {
			r := Request{}
			if budget == 0 && before != nil && must.Get(f.Status())(t).Rounds >= 2 {
				r.Budget = 30
			}
			a, err := f.Ask(t.Context(), r)
			if errors.Is(err, ErrAllAsked) {
				must.Equal(t, len(before), 0, "rows of the ask after the round")
				break
			}
			must.Do(t, err)
			counts, lines := map[string]int{}, []string{"id,label,status"}
			for i, row := range a.Rows {
				if counts[row.Source]++; i%5 == 0 {
					lines = append(lines, row.ID+",,skip")
				} else {
					lines = append(lines, row.ID+","+f.labels[row.ID]+",")
				}
			}
			must.Hold(t, before == nil || maps.Equal(before, counts), "budget %g: the round has %v, the ask is for %v", budget, before, counts)
			must.Get(f.Tell(t.Context(), f.answers(t, "answers.csv", lines...), TellOptions{}))(t)
			must.Get(f.Learn(t.Context(), openCPU))(t)
			l := must.Get(ReadLearned(f.Dir))(t)
			before = map[string]int{}
			for _, s := range l.Run.Result.Sources {
				if s.Next > 0 {
					before[s.Source] = s.Next
				}
			}
		}
		must.Get(f.Verify(t.Context(), openNamed, nil))(t)
	}
}
