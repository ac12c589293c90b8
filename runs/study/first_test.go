package study

import (
	"context"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// The first ask of a study whose sources have labels, in the data or told unasked, learns from them; where the budget is that
// of all rounds, or a source has no label, it is the first round.
func TestFirstAskLearns(t *testing.T) {
	for _, c := range []struct {
		name           string
		budget         float64
		inData, learns bool
	}{{"labels in the data", 9, true, true}, {"labels told", 9, false, true}, {"a budget of all rounds", 0, true, false},
		{"a source without labels", 9, true, false}} {
		f := newFixtureOf(t, testrand.New(t), c.budget, func(source string, i int) (bool, bool) {
			return i < 12 && (c.inData || source == "t") && (source != "c" || c.name != "a source without labels"), false
		})
		if !c.inData {
			must.Get(f.Tell(t.Context(), f.answers(t, "early.csv", "id,label", "a1,yes", "a2,no", "b3,yes", "b4,no", "c1,yes", "c2,no"), false))(t)
		}
		learned := 0
		learn := func(ctx context.Context) error {
			learned++
			_, err := f.Learn(ctx, openCPU)
			return err
		}
		a := must.Get(f.Ask(t.Context(), Request{Learn: learn}))(t)
		for _, r := range a.Rows {
			must.Hold(t, strings.HasPrefix(r.Reason, "relevance") == c.learns, "%s: %+v", c.name, r)
		}
		must.Hold(t, (learned == 1) == c.learns && len(a.Rows) > 0, "%s: it learned %d rounds and asks for %d rows", c.name, learned, len(a.Rows))
		must.Get(f.Verify(t.Context(), openNamed, nil))(t)
	}
}
