package study

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/dataset/columnar"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// The first ask of a study whose sources have labels, in the data or told unasked, learns from them. Where the budget is for all rounds, or
// a source with enough rows has no label, the ask is the first round and does not learn.
func TestFirstAskLearns(t *testing.T) {
	for _, c := range []struct {
		name           string
		budget         float64
		inData, learns bool
	}{{"labels in the data", 9, true, true}, {"labels told", 9, false, true}, {"a budget of all rounds", 0, true, false},
		{"a source without labels", 9, true, false}, {"a source of four rows without labels", 9, true, true}} {
		f := newFixtureOf(t, testrand.New(t), c.budget, func(source string, i int) (labelled, held bool) {
			without := source == "c" && strings.HasPrefix(c.name, "a source")
			return i < 12 && (c.inData || source == "t") && !without, without && c.learns && i >= 4
		})
		if !c.inData {
			early := f.answers(t, "early.csv", "id,label", "a1,yes", "a2,no", "b3,yes", "b4,no", "c1,yes", "c2,no")
			must.Get(f.Tell(t.Context(), early, TellOptions{}))(t)
		}
		learned := 0
		learn := func(ctx context.Context) error {
			learned++
			_, err := f.Learn(ctx, openCPU)
			return err
		}
		a := must.Get(f.Ask(t.Context(), Request{Learn: learn}))(t)
		for _, r := range a.Rows {
			must.Hold(t, strings.Contains(r.Reason, ": share ") == c.learns, "%s: %+v", c.name, r)
		}
		named := c.name == "a source without labels"
		must.Hold(t, named == slices.Equal(a.Unlabelled, []string{"c"}) && named == (a.Unlabelled != nil), "%s: %v", c.name, a.Unlabelled)
		must.Hold(t, (learned == 1) == c.learns && len(a.Rows) > 0, "%s: it learned %d rounds and asks for %d rows", c.name, learned, len(a.Rows))
		must.Get(f.Verify(t.Context(), openNamed, nil))(t)
	}
}

// Where sources differ in cost, the reason of an ask states the relevance, as the round found it, apart from the share of the cost.
func TestReasonTellsPriceFromRelevance(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 40, func(_ string, i int) (bool, bool) { return i < 12, false })
	f.Settings.Config.Costs = map[string]float64{"a": 8}
	f.Settings.Config.Allocation.Mix = 0.1 // shares are then due to relevance, even where it tells nothing
	data := must.Get(columnar.OpenCandidates(f.folder, "", 0))(t)
	settings, choices := NewSettings("", f.Settings.Data.Path, data, 40, f.Settings.Config)
	must.Hold(t, settings.Config.Allocation.Rule == pipeline.RuleSquared && len(choices) > 0, "what was decided became %+v", settings.Config)
	open := f.Settings.Config
	open.Allocation.Rule = pipeline.RuleAuto
	settings, choices = NewSettings("", f.Settings.Data.Path, data, 40, open)
	said := slices.ContainsFunc(choices, func(c pipeline.Choice) bool {
		return c == pipeline.Choice{Setting: pipeline.SettingAllocation, Value: pipeline.RulePriced, Reason: "sources cost between 1 and 8"}
	})
	must.Hold(t, settings.Config.Allocation.Rule == pipeline.RulePriced && said, "%+v, %v", settings.Config.Allocation, choices)
	f.Settings = settings
	must.Get(f.Learn(t.Context(), openCPU))(t)
	_, _, st, err := f.load()
	must.Do(t, err)
	round := must.Get(f.loadRound(len(st.fits)))(t)
	last := &round.Epochs[len(round.Epochs)-1]
	p := must.Get(f.problem(2))(t)
	shares := settings.Config.Allocation.SharesAfter(last, p.Costs)
	plan := must.Get(f.propose(st, 40))(t)
	must.Hold(t, len(plan.groups) > 0, "the plan asks for no row")
	for m, source := range p.Sources {
		want := fmt.Sprintf("relevance %.2f, share of the cost %.1f %%", last.Nu[m], 100*shares[m])
		for _, g := range plan.groups {
			must.Hold(t, g.Source != source.Name || g.Reason == want, "%q, expected %q", g.Reason, want)
		}
	}
}
