package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// What the next ask is expected to bring is one number: that of its own rows, whatever is pending, late or not yet learned.
func TestGainOfNextAsk(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	for i := range 2 {
		a := must.Get(f.Ask(t.Context(), Request{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), false))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	check := func(what string, from float64, waiting int) {
		t.Helper()
		want := newCurve(must.Get(f.Relevance())(t)).gain(from, 9)
		want.Pending = waiting
		next := must.Get(f.Status())(t).Next
		plan := must.Get(f.Plan(0))(t)
		var stop *Stop
		_, err := f.Ask(t.Context(), Request{StopBelow: 1e9})
		must.Hold(t, errors.As(err, &stop), "%s: an ask that is worth nothing: %v", what, err)
		below := map[bool]string{true: "below 1e+11 points;", false: "below 1e+09;"}[stop.Gain.Metric == pipeline.MetricError]
		must.Hold(t, strings.Contains(stop.Error(), below), "%s: the ask says %v, expected %s", what, stop, below)
		for who, g := range map[string]*Gain{"status": next, "plan": plan.Gain, "ask": &stop.Gain} {
			must.Hold(t, g != nil && *g == *want, "%s: %s expects %+v, not %+v", what, who, g, want)
		}
		must.Equal(t, plan.Double.To, 2*from, "%s: twice the labels", what)
	}
	check("nothing pending", 18, 0)
	a := must.Get(f.Ask(t.Context(), Request{Expires: time.Hour}))(t)
	check("nine rows pending", 27, 9)
	f.clock = f.clock.Add(2 * time.Hour)
	next := must.Get(f.Status())(t).Next // before an ask gives the rows back
	must.Hold(t, next.From == 18 && next.Pending == 0, "nine rows late: status expects %+v", next)
	check("nine rows late", 18, 0)
	must.Get(f.Tell(t.Context(), f.answerAll(t, "late.csv", a), false))(t)
	check("nine rows answered, and not learned", 27, 0)
}

// A schedule whose rows are all pending is not ended by --stop-below, and has no next ask to expect anything of.
func TestGainOfNothing(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 0, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
	f.Settings.Config.Schedule.Epochs = 3
	for i := range 2 {
		a := must.Get(f.Ask(t.Context(), Request{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), false))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Hold(t, must.Get(f.Status())(t).Next == nil, "an ask of no rows is expected to bring something")
	must.Fail(t, "an ask", must.Err(f.Ask(t.Context(), Request{StopBelow: 0.1})), "rows are pending")
}

// A study whose budget an ask has overspent plans nothing more, expects nothing of it, and says what it has and what is spent.
func TestOverspentBudget(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 0, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
	f.Settings.Config.Schedule.Epochs = 3
	for i, budget := range []float64{0, 80} {
		a := must.Get(f.Ask(t.Context(), Request{Budget: budget}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), false))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	spent := must.Get(f.Status())(t).Spent
	must.Hold(t, spent > 60, "%g is spent of 60", spent)
	plan := must.Get(f.Plan(0))(t)
	must.Hold(t, plan.Budget == 0 && len(plan.Sources) == 0, "a plan of an overspent budget: %+v", plan)
	must.Hold(t, plan.Gain != nil && plan.Gain.Mean == 0 && plan.Gain.From == plan.Gain.To, "its gain is %+v", plan.Gain)
	must.Hold(t, !strings.Contains(plan.Gain.String(), "-"), "its gain is %s", plan.Gain)
	says := fmt.Sprintf("nothing to ask for: by round 3 the study may spend 60, and %g is spent: give a budget to ask for more", spent)
	must.Fail(t, "an ask", must.Err(f.Ask(t.Context(), Request{})), says)
}
