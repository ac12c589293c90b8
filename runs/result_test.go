package runs

import (
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// Fewer than five target samples, each left out, choose no method: the first one is recommended.
func TestRecommendOfFewSamples(t *testing.T) {
	set := smallSet(31, 6, 400, 6, false)
	dev := openDevice(t, 1, set)
	for _, samples := range []int{1, 2, 4, 5} {
		cfg := smallConfig()
		cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
		cfg.Methods, cfg.TargetSamples = []string{pipeline.Active, pipeline.Uniform, pipeline.Target, pipeline.Constant}, samples
		dir := t.TempDir()
		res := mustRun(t, dev, identityOf(dev, cfg, []string{set.Tasks[1].Name}, 3), dir)
		if samples >= 5 {
			must.Hold(t, res.ByLeaveOneOut() && !res.TooFew, "%d samples: %s", samples, res.Reason)
			continue
		}
		must.Equal(t, res.Recommended, pipeline.Active, "%d samples", samples)
		must.Hold(t, !res.ByLeaveOneOut() && strings.Contains(res.Reason,
			map[int]string{1: "1 target sample tells nothing", 2: "2 target samples tell nothing", 4: "4 target samples tell nothing"}[samples]),
			"%d samples: %s", samples, res.Reason)
		must.Equal(t, must.Get(ReadModel(dir))(t).Method, pipeline.Active, "%d samples: the model", samples)
	}
}

// ByLeaveOneOut does not depend on the words of the reason.
func TestByLeaveOneOut(t *testing.T) {
	for _, test := range []struct {
		few  string
		want bool
	}{{"", true}, {"mean squared error of the target's samples, each left out of its head: of too few", false}} {
		r := Result{Methods: []MethodResult{{Method: pipeline.Active}}}
		r.recommend(test.few, BySquares, samples{20, 0, 20})
		if test.want {
			r.Reason = "some other words"
		}
		must.Equal(t, r.ByLeaveOneOut(), test.want, "%q", r.Reason)
	}
	must.Hold(t, !new(Result).ByLeaveOneOut(), "nothing is recommended")
}

// A method is recommended in place of the first where it makes the labels e^3 times as likely.
func TestRecommend(t *testing.T) {
	method := func(name string, left, loss float64) MethodResult {
		return MethodResult{Method: name, LeaveOneOut: left, LogLoss: loss}
	}
	active, uniform, pooled := pipeline.Active, pipeline.Uniform, pipeline.Pooled
	target, trees := pipeline.Target, pipeline.Trees
	for _, test := range []struct {
		want    string
		by      Criterion
		methods []MethodResult
	}{
		// 20 samples are made e^3 times as likely by a variance exp(-0.3) = 0.741 times as large.
		{active, BySquares, []MethodResult{method(active, 0.1, 0), method(uniform, 0.0742, 0)}},
		{uniform, BySquares, []MethodResult{method(active, 0.1, 0), method(uniform, 0.0740, 0)}},
		{active, BySquares, []MethodResult{method(active, 0, 0), method(uniform, 0, 0)}},
		{uniform, BySquares, []MethodResult{method(active, 0.1, 0), method(uniform, 0.0739, 0), method(target, 0.0740, 0)}},
		{target, BySquares, []MethodResult{method(active, 0.1, 0), method(uniform, 0.0740, 0), method(target, 0.0739, 0)}},
		{target, BySquares, []MethodResult{method(target, 0.1, 0), method(pooled, 0.0742, 0)}},
		{active, BySquares, []MethodResult{method(active, 0.1, 9), method(uniform, 0.2, 4), method(pooled, 0.01, 6.1)}},
		{pooled, BySquares, []MethodResult{method(active, 0.1, 9), method(uniform, 0.2, 4), method(pooled, 0.3, 5.9)}},
		{uniform, BySquares, []MethodResult{method(active, 0.2, 4), method(uniform, 0.1, 9), method(pooled, 0.3, 6.1)}},
		{pooled, BySquares, []MethodResult{method(active, 0.2, 4), method(uniform, 0.1, 9), method(pooled, 0.3, 5.9)}},
		{pooled, BySquares, []MethodResult{method(active, 0.2, 0), method(uniform, 0.1, 0), method(pooled, 0.05, 0)}},
		{active, ByLogLoss, []MethodResult{method(active, 0.1, 9), method(uniform, 0.05, 6.1), method(pooled, 0.01, 6.1)}},
		{uniform, ByLogLoss, []MethodResult{method(active, 0.1, 9), method(uniform, 0.2, 5.8), method(pooled, 0.01, 5.9)}},
		{pooled, ByLogLoss, []MethodResult{method(active, 0.1, 9), method(uniform, 0.2, 5.9), method(pooled, 0.3, 5.8)}},
		{trees, BySquares, []MethodResult{method(active, 0.1, 0), method(pooled, 0.071, 0), method(trees, 0.07, 0)}},
		{active, BySquares, []MethodResult{method(active, 0.1, 0), method(pooled, 0.11, 0), method(trees, 0.08, 0)}},
		{pooled, ByLogLoss, []MethodResult{method(active, 0.1, 9), method(pooled, 0.3, 5.8), method(trees, 0.3, 5.9)}},
		{active, ByLogLoss, []MethodResult{method(active, 0.1, 9), method(pooled, 0.3, 6.1), method(trees, 0.3, 6.1)}},
		{trees, ByLogLoss, []MethodResult{method(active, 0.1, 9), method(uniform, 0.2, 5.9), method(trees, 0.3, 5.8)}},
	} {
		r := Result{Methods: test.methods}
		r.recommend("", test.by, samples{20, 0, 20})
		must.Equal(t, r.Recommended, test.want, "%s", r.Reason)
		otherRows := test.want != active && test.want != trees && r.Method(active) != nil
		must.Hold(t, r.ByLeaveOneOut() && strings.HasSuffix(r.Reason, "did not help here") == otherRows,
			"%s", r.Reason)
		must.Hold(t, strings.Contains(r.Reason, "better by too little") == (r.Apart() == nil && r.Least().Method != test.want ||
			r.Apart() != nil && test.want == active && r.Least().Method != active), "%s", r.Reason)
	}
}

// A method that is certainly better than the recommended one on held-out rows is named, of several the best. The samples that recommended a
// method do not contradict it.
func TestContradicted(t *testing.T) {
	const rows = 40
	epoch := func(method string, wrong int) *pipeline.Epoch {
		e := &pipeline.Epoch{Method: method, Losses: &pipeline.Losses{Rows: rows, Sums: make([]float64, rows)}}
		for i := range wrong {
			e.Losses.Sums[i] = 1
		}
		e.Score = pipeline.Score{Metric: pipeline.MetricError, Value: float64(wrong) / rows}
		return e
	}
	last := []*pipeline.Epoch{epoch(pipeline.Active, 6), epoch(pipeline.Uniform, 4), epoch(pipeline.Target, 20), epoch(pipeline.Constant, 30)}
	c := contradicted(pipeline.Target, last)
	must.Hold(t, c != nil && c.A == pipeline.Uniform && c.B == pipeline.Target && c.Rows == rows && c.Difference == 0.4 && c.Interval[0] > 0,
		"%+v", c)
	must.Hold(t, contradicted(pipeline.Active, last) == nil, "two rows of 40 are no contradiction")
	must.Hold(t, contradicted("", last) == nil, "nothing is recommended")
	for _, e := range last {
		e.Score.LeaveOneOut = true
	}
	must.Hold(t, contradicted(pipeline.Target, last) == nil, "the rows are those that recommended it")
}

// Sources of which a run drew every row are marked.
func TestAllDrawn(t *testing.T) {
	set := smallSet(30, 5, 60, 6, true)
	dev := openDevice(t, 1, set)
	p := must.Get(pipeline.NewProblem(set, smallConfig(), 1))(t)
	there := 0
	for _, n := range p.Available() {
		there += n
	}
	for _, all := range []bool{false, true} {
		cfg := smallConfig()
		cfg.Schedule = pipeline.Schedule{Kind: pipeline.ScheduleBudget, Epochs: 2, Floor: 4, Budget: float64(there) / 2}
		if all {
			cfg.Schedule.Budget *= 2
		}
		res := mustRun(t, dev, identityOf(dev, cfg, []string{set.Tasks[1].Name}, 3), t.TempDir())
		for _, s := range res.Sources {
			full := s.Samples == p.Available()[slices.Index(p.SourceNames(), s.Source)]
			must.Hold(t, s.AllDrawn == full && (full || !all), "%s: %d rows are all: %v", s.Source, s.Samples, s.AllDrawn)
		}
	}
}

// An earlier round is named where it makes the samples e^3 times as likely as the last one, but not for less. Rounds of other methods do
// not count.
func TestEarlier(t *testing.T) {
	epochs := []pipeline.Epoch{
		{Method: "active", Epoch: 1, Samples: 10, LeaveOneOut: 0.3}, {Method: "active", Epoch: 2, Samples: 20, LeaveOneOut: 0.2},
		{Method: "active", Epoch: 3, Samples: 30, LeaveOneOut: 0.25}, {Method: "uniform", Epoch: 1, Samples: 30, LeaveOneOut: 0.01},
	}
	last := &epochs[2]
	for _, c := range []struct {
		effective float64
		there     bool
	}{{26, false}, {27, true}, {1000, true}} { // 27/2 log(0.25/0.2) = 3.01
		got := earlier(epochs, last, samples{n: 2000, effective: c.effective})
		must.Hold(t, (got != nil) == c.there && (got == nil || *got == EarlierRound{2, 20, 0.2}), "%g samples: %+v", c.effective, got)
	}
	last.LeaveOneOut = 0.19
	must.Hold(t, earlier(epochs, last, samples{n: 2000, effective: 2000}) == nil, "the last round is the best one")
	last.LeaveOneOut = 0
	must.Hold(t, earlier(epochs, last, samples{n: 2000, effective: 2000}) == nil, "rounds without numbers")
}

// In a study the last round is compared only with rounds that had as many samples of the target.
func TestEarlierRoundOfStudy(t *testing.T) {
	round := func(n, target int, loo float64) RoundScore {
		m := MethodResult{Method: "active", Samples: 10 * n, LeaveOneOut: loo, Score: pipeline.Score{Metric: pipeline.MetricMSE}}
		return RoundScore{Round: n, Target: target, Losses: &pipeline.Losses{Rows: target}, Result: Result{Methods: []MethodResult{m}}}
	}
	rounds, last := []RoundScore{round(1, 10, 0.1), round(2, 60, 0.2), round(3, 60, 0.3)}, round(4, 60, 0.25)
	last.After(rounds)
	must.Hold(t, last.Result.Earlier != nil && *last.Result.Earlier == EarlierRound{2, 20, 0.2}, "%+v", last.Result.Earlier)
	last.After(rounds[:1])
	must.Hold(t, last.Result.Earlier == nil, "of a round of other samples: %+v", last.Result.Earlier)
	last.Result.Methods[0].Score.Metric = pipeline.MetricError
	last.After(rounds)
	must.Hold(t, last.Result.Earlier == nil, "of classes: %+v", last.Result.Earlier)
}

// With too few samples of the target no earlier round is named, however much better it is, in a run and in a study.
func TestEarlierOfFewSamples(t *testing.T) {
	for _, samples := range []int{1, 2, 4, 5, 20} {
		set := smallSet(31, 6, 400, 6, false)
		set.Tasks[1].Train, set.Tasks[1].Test = set.Tasks[1].Train[:samples], nil
		dev, cfg := openDevice(t, 1, set), smallConfig()
		cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
		cfg.TargetSamples = samples
		p := must.Get(pipeline.NewProblem(set, cfg, 1))(t)
		l := must.Get(pipeline.NewLearner(dev, p))(t)
		defer l.Close()
		epochs := must.Get(l.Solve(t.Context(), pipeline.State{}, quiet, func(pipeline.State) error { return nil }))(t).Epochs
		for i := range epochs {
			epochs[i].LeaveOneOut = []float64{1e-300, 1, 2, 3}[i]
		}
		few := samples < 5
		res := summarise(p, set.Name, p.TargetSamples(), epochs)
		must.Hold(t, (res.Earlier == nil) == few && res.TooFew == few, "%d samples: %+v", samples, res.Earlier)
		if samples < 3 {
			for _, m := range res.Methods {
				must.Hold(t, m.Interval == nil, "%d samples: %s has the interval %v", samples, m.Method, m.Interval)
			}
			must.Equal(t, len(res.Comparisons), samples-1, "%d samples: comparisons", samples)
		}
		round := func(n int) RoundScore {
			m := MethodResult{Method: "active", LeaveOneOut: epochs[n].LeaveOneOut, Score: pipeline.Score{Metric: pipeline.MetricMSE}}
			return RoundScore{Round: n + 1, Target: samples, Losses: &pipeline.Losses{Rows: samples},
				Result: Result{Methods: []MethodResult{m}, TooFew: few}}
		}
		last := round(2)
		last.After([]RoundScore{round(0), round(1)})
		must.Hold(t, (last.Result.Earlier == nil) == few, "%d samples in a study: %+v", samples, last.Result.Earlier)
	}
}
