package study

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// New samples of the target restart the curve, which plan, status and ask say until there are two rounds with them. Earlier rounds keep
// their intervals.
func TestNewSamplesRestartCurve(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	round := func(targetRows int) *runs.MethodResult {
		for _, n := range []int{targetRows, 0} {
			if a := must.Get(f.Ask(t.Context(), Request{TargetRows: n}))(t); len(a.Rows) > 0 {
				must.Get(f.Tell(t.Context(), f.answerAll(t, "answers.csv", a), TellOptions{}))(t)
			}
		}
		must.Get(f.Learn(t.Context(), openCPU))(t)
		return &must.Get(ReadLearned(f.Dir))(t).Run.Result.Methods[0]
	}
	check := func(want string) {
		t.Helper()
		plan, status := must.Get(f.Plan(0))(t), must.Get(f.Status())(t)
		must.Equal(t, plan.Unknown, want, "the plan")
		must.Equal(t, status.Unknown, want, "the status")
		must.Hold(t, (plan.Gain == nil) == (want != "") && (status.Next == nil) == (want != ""), "a gain of %v and %v", plan.Gain, status.Next)
	}
	own := []*runs.MethodResult{round(0)}
	check("what more labels would bring is known after two rounds")
	own = append(own, round(0))
	check("")
	own = append(own, round(8))
	const restarted = "round 3 has other samples of the target than round 2 (20 and 12), so that their errors cannot be compared: what more " +
		"labels would bring is known after one more round with the samples of round 3"
	check(restarted)
	for i, was := range own[:2] {
		is := own[2].Rounds[i]
		must.Hold(t, is.Rows == 12 && *is.Interval == *was.Interval, "round %d has %+v, had %v", i+1, is, *was.Interval)
	}
	a := must.Get(f.Ask(t.Context(), Request{StopBelow: 1e-9}))(t)
	must.Equal(t, a.Unmeasured, restarted, "the ask")
	must.Get(f.Tell(t.Context(), f.answerAll(t, "answers.csv", a), TellOptions{}))(t)
	must.Get(f.Learn(t.Context(), openCPU))(t)
	check("")
	must.Get(f.Verify(t.Context(), openNamed, nil))(t)
}

// The gain of the next ask is the same wherever it is stated: that of the ask's own rows, whatever is pending, late or not yet learned.
func TestGainOfNextAsk(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	for i := range 2 {
		a := must.Get(f.Ask(t.Context(), Request{StopBelow: 1e9}))(t)
		must.Hold(t, a.Unmeasured != "", "after %d rounds a gain is known", i)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), TellOptions{}))(t)
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
	must.Get(f.Tell(t.Context(), f.answerAll(t, "late.csv", a), TellOptions{}))(t)
	check("nine rows answered, and not learned", 27, 0)
}

// What the rounds of a study say of twice the labels, without its data, is what its plan says, also where fewer rows are left. They say
// nothing after one round.
func TestLearnedGains(t *testing.T) {
	// The rows of source a cost 2, and some of them are held out.
	f := newFixtureIn(t, testrand.New(t), "}\nsources: {cost: {a: 2}", 9, func(source string, i int) (bool, bool) {
		return source == "t" && i < 12, source == "a" && i >= 36
	})
	asked := map[string]bool{}
	learn := func(budget float64) *Learned {
		t.Helper()
		a := must.Get(f.Ask(t.Context(), Request{Budget: budget}))(t)
		for _, r := range a.Rows {
			asked[r.ID] = true
		}
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", a.Number), a), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
		return must.Get(ReadLearned(f.Dir))(t)
	}
	check := func(what string, l *Learned) float64 {
		t.Helper()
		want, gains := must.Get(f.Plan(0))(t).Double, l.Gains
		if len(gains) == 0 || gains[len(gains)-1] != *want {
			t.Fatalf("%s: the rounds expect %+v, the plan %+v", what, gains, want)
		}
		for i, g := range gains {
			to := g.From + (want.To-want.From)*float64(i+1)/float64(len(gains))
			must.Hold(t, g.From == want.From && math.Abs(g.To-to) < 1e-9, "%s, step %d: %+v", what, i, g)
		}
		return want.To / want.From
	}
	must.Hold(t, learn(0).Gains == nil, "one round says what labels bring")
	must.Equal(t, check("two rounds", learn(0)), 2, "times the labels")
	times := check("fewer rows left", learn(90))
	must.Hold(t, times < 2, "%g times the labels", times)
	lines := []string{"id,status", "a39,skip"}
	for id := range f.labels {
		if !asked[id] && id[0] != 't' && id != "a39" {
			lines = append(lines, id+",skip")
		}
	}
	must.Get(f.Tell(t.Context(), f.answers(t, "some.csv", lines[:5]...), TellOptions{}))(t)
	now := check("rows given up", must.Get(ReadLearned(f.Dir))(t))
	must.Hold(t, now < times, "%g times the labels, before rows were given up %g", now, times)
	must.Get(f.Tell(t.Context(), f.answers(t, "all.csv", lines...), TellOptions{}))(t)
	must.Hold(t, must.Get(ReadLearned(f.Dir))(t).Gains == nil, "no rows are left, and bring something")
}

// No budget buys more than the rows that are left, and no error falls below 0.
func TestGainHasAnEnd(t *testing.T) {
	f := newFixture(t, testrand.New(t))
	for i := range 2 {
		a := must.Get(f.Ask(t.Context(), Request{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	plan, more := must.Get(f.Plan(1e6))(t), must.Get(f.Plan(2e6))(t)
	cost := 0.0
	for _, s := range plan.Sources {
		if s.Source != f.Settings.Target {
			cost += s.Cost
		}
	}
	must.Hold(t, *plan.Gain == *more.Gain && plan.Gain.To == plan.Gain.From+cost, "of rows of a cost of %g: %+v, %+v", cost, plan.Gain,
		more.Gain)
	must.Get(f.Ask(t.Context(), Request{Budget: 1e6}))(t)
	_, err := f.Ask(t.Context(), Request{Budget: 1e6})
	must.Hold(t, errors.Is(err, ErrAllAsked) && strings.Contains(err.Error(), "pending"), "an ask where all rows are pending: %v", err)
	plan = must.Get(f.Plan(1e6))(t)
	must.Hold(t, plan.Gain.Mean == 0 && plan.Double.Mean == 0, "of no rows: %+v, %+v", plan.Gain, plan.Double)

	last := &pipeline.Losses{Rows: 4, Sums: []float64{0, 0, 1, 0}}
	c := &curve{metric: pipeline.MetricError, x: []float64{1, 2}, cost: 2, rate: 1,
		losses: []*pipeline.Losses{{Rows: 4, Sums: []float64{1, 1, 1, 1}}, last}}
	g := c.gain(2, 1e9)
	must.Hold(t, g.Mean == 0.25 && g.High == 0.25 && g.Low <= 0.25, "of an error of .25: %+v", g)
}

// A schedule whose rows are all pending is not ended by --stop-below, and has no next ask with a gain.
func TestGainOfNothing(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 0, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
	f.Settings.Config.Schedule.Epochs = 3
	for i := range 2 {
		a := must.Get(f.Ask(t.Context(), Request{}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), TellOptions{}))(t)
		must.Get(f.Learn(t.Context(), openCPU))(t)
	}
	must.Get(f.Ask(t.Context(), Request{}))(t)
	must.Hold(t, must.Get(f.Status())(t).Next == nil, "an ask of no rows is expected to bring something")
	must.Fail(t, "an ask", must.Err(f.Ask(t.Context(), Request{StopBelow: 0.1})), "rows are pending")
}

// A study whose budget an ask has overspent plans nothing more, expects nothing of that, and says what it may spend and what it has spent.
func TestOverspentBudget(t *testing.T) {
	f := newFixtureOf(t, testrand.New(t), 0, func(source string, i int) (bool, bool) { return source == "t" && i < 12, false })
	f.Settings.Config.Schedule.Epochs = 3
	for i, budget := range []float64{0, 80} {
		a := must.Get(f.Ask(t.Context(), Request{Budget: budget}))(t)
		must.Get(f.Tell(t.Context(), f.answerAll(t, fmt.Sprintf("%d.csv", i), a), TellOptions{}))(t)
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

// The expected gain is that of the curve from which the losses are drawn, and its interval holds it as often as stated.
func TestGain(t *testing.T) {
	rng := testrand.New(t)
	const targets, trials = 150, 120
	within := 0
	for range trials {
		c := &curve{metric: pipeline.MetricMSE, x: []float64{100, 200, 300, 400}, cost: 400, rate: 1}
		spread := make([]float64, targets) // the slope differs from row to row
		for i := range spread {
			spread[i] = 60 + 20*rng.NormFloat64()
		}
		for _, x := range c.x {
			l := &pipeline.Losses{Rows: targets, Sums: make([]float64, targets)}
			for i := range l.Sums {
				l.Sums[i] = 0.2 + spread[i]/x + 0.02*rng.NormFloat64()
			}
			c.losses = append(c.losses, l)
		}
		g, want := c.gain(400, 100), 60*(1./400-1./500)
		if g.Low > g.Mean || g.High < g.Mean {
			t.Errorf("the interval of %g is %g to %g", g.Mean, g.Low, g.High)
		}
		if math.Abs(g.Mean-want) > 0.3*want {
			t.Errorf("a gain of %g, expected %g", g.Mean, want)
		}
		if g.Low <= want && want <= g.High {
			within++
		}
	}
	// 90 %, less five standard errors for this number of trials.
	if within < trials*76/100 {
		t.Errorf("%d of %d intervals have the gain", within, trials)
	}
	one := []runs.RoundScore{{Cost: 5, Losses: &pipeline.Losses{Rows: 1, Sums: []float64{1}}}}
	if newCurve(one) != nil || newCurve(nil) != nil {
		t.Error("one round has a curve")
	}
}

// Rounds whose samples are of sources without a share count for nothing in a curve, samples count by the shares of their sources after the
// last round, and further cost by what that of the last round added.
func TestCurveCountsByShare(t *testing.T) {
	rng := testrand.New(t)
	losses := func() *pipeline.Losses {
		return &pipeline.Losses{Rows: 3, Sums: []float64{rng.Float64(), rng.Float64(), rng.Float64()}}
	}
	var scores []runs.RoundScore
	counts, share := [3]int{0, 0, 30}, []float64{0.9, 0.1, 0}
	cost := 0.0
	for r := range 4 {
		s := runs.RoundScore{Round: r + 1, Losses: losses()}
		s.Result.Methods = []runs.MethodResult{{Score: pipeline.Score{Metric: pipeline.MetricMSE}}}
		if r > 0 {
			counts[0], counts[1] = counts[0]+rng.IntN(5)+1, counts[1]+rng.IntN(50)+1
		}
		cost += 10 + 90*rng.Float64()
		s.Cost = cost
		for m, n := range counts {
			s.Result.Sources = append(s.Result.Sources, runs.SourceResult{Source: fmt.Sprint(m), Samples: n, Share: share[m]})
		}
		scores = append(scores, s)
	}
	c := newCurve(scores)
	must.Equal(t, len(c.x), 3, "rounds of the curve")
	x := func(r int) float64 {
		of := scores[r].Result.Sources
		return 0.9*float64(of[0].Samples) + 0.1*float64(of[1].Samples)
	}
	for i := range c.x {
		isNear(t, c.x[i], x(i+1), "samples by share")
	}
	isNear(t, c.at(cost), x(3), "after the last round")
	isNear(t, c.at(2*cost-scores[2].Cost), 2*x(3)-x(2), "after as much again")
}

// Losses that rise, or that are the same in all rounds, do not show that nothing will be gained.
func TestGainIsNeverNone(t *testing.T) {
	rng := testrand.New(t)
	for _, rounds := range []int{2, 3, 5} {
		for _, rise := range []float64{0, 0.05, 0.5} {
			c := &curve{metric: pipeline.MetricError, cost: 100 * float64(rounds), rate: 1}
			for r := range rounds {
				l := &pipeline.Losses{Rows: 40, Sums: make([]float64, 40)}
				for i := range l.Sums { // some samples must be wrong, or nothing is left to gain
					if i < 8 || rise > 0 && rng.Float64() < 0.1+rise*float64(r)/float64(rounds) {
						l.Sums[i] = 1
					}
				}
				c.x, c.losses = append(c.x, 100*float64(r+1)), append(c.losses, l)
			}
			g := c.gain(0, 100)
			must.Hold(t, 0 < g.Low && g.Low < g.Mean && g.Mean < g.High && g.High < 0.5, "%d rounds: %+v", rounds, g)
		}
	}
}

// The mean and the quantiles of a truncated normal distribution are those of draws, and continuous where another formula takes over.
func TestPositive(t *testing.T) {
	rng := testrand.New(t)
	for _, centre := range []float64{-1.5, -0.3, 0, 0.8, 6} {
		spread := 0.1 + rng.Float64()
		p := positive{centre * spread, spread}
		var drawn []float64
		for len(drawn) < 40_000 {
			if v := p.centre + spread*rng.NormFloat64(); v > 0 {
				drawn = append(drawn, v)
			}
		}
		slices.Sort(drawn)
		near := func(what string, got, want float64) {
			must.Hold(t, math.Abs(got-want) < 0.04*spread, "%g spreads of %g: %s is %g, of draws %g", centre, spread, what, got, want)
		}
		near("the mean", p.mean(), stat.Mean(drawn, nil))
		for _, q := range []float64{0.05, 0.5, 0.95} {
			near("a quantile", p.quantile(q), stat.Quantile(q, stat.Empirical, drawn, nil))
		}
	}
	for _, at := range []float64{nearlyExponential, exponential} {
		before, behind := positive{-at * 0.9999, 1}, positive{-at * 1.0001, 1}
		must.Hold(t, math.Abs(before.mean()/behind.mean()-1) < 0.002, "means of %g and %g", before.mean(), behind.mean())
		must.Hold(t, math.Abs(before.quantile(0.95)/behind.quantile(0.95)-1) < 0.04, "quantiles %g and %g", before.quantile(0.95),
			behind.quantile(0.95))
	}
	must.Hold(t, positive{-1e9, 1}.mean() > 0 && positive{-1e9, 1}.quantile(0.05) > 0, "nothing is above 0")
	must.Hold(t, positive{2, 0}.mean() == 2 && positive{-2, 0}.quantile(0.5) == 0, "what is known is not said")
}

func isNear(t *testing.T, got, want float64, what string) {
	t.Helper()
	must.Hold(t, math.Abs(got-want) <= 1e-9*math.Abs(want), "%s: %g, expected %g", what, got, want)
}
