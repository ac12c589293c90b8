package runs

import (
	"math"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// A method that takes no samples at some budget, as the recommended one may, has no number of samples that it needs.
func TestSamplesNeededOfNone(t *testing.T) {
	for _, samples := range [][2]float64{{0, 100}, {100, 0}, {0, 0}} {
		s := Summary{}
		for i, n := range samples {
			s.Methods = append(s.Methods, MethodSummary{Method: Recommended, Samples: n, Value: 0.05 - 0.04*n/100, Budget: float64(100 * (i + 1))})
		}
		needed := s.SamplesNeeded(0.02)
		must.Hold(t, len(needed) == 0, "%v samples: %+v", samples, needed)
	}
}

func TestSamplesNeeded(t *testing.T) {
	s := Summary{}
	for _, m := range []struct {
		name string
		at   func(n float64) float64
	}{
		{"slow", func(n float64) float64 { return 100 / n }},
		{"fast", func(n float64) float64 { return 1 / n }},
		{"never", func(float64) float64 { return 9 }},
		{"to zero", func(n float64) float64 { return max(0, 3000-n) }},
	} {
		for _, n := range []float64{1000, 3000, 8000} {
			s.Methods = append(s.Methods, MethodSummary{Method: m.name, Samples: n, Value: m.at(n)})
		}
	}
	got := s.SamplesNeeded(0.05)
	if !near(got[0].Samples, 2000, 1e-9) || got[0].Bound != "" {
		t.Errorf("100/n reaches 0.05 at 2000, got %+v", got[0])
	}
	if got[3].Samples != 3000 || got[3].Bound != "" {
		t.Errorf("a score of 0 is reached at 3000, got %+v", got[3])
	}
	if got[1].Bound != "at most" || got[1].Samples != 1000 || got[2].Bound != "more than" || got[2].Samples != 8000 {
		t.Errorf("outside the budgets: %+v", got[1:3])
	}
}

// The interval of the recommended method over the target alone is over rows too, whichever method each seed recommends. Results that do not
// compare these two give no interval.
func TestRecommendedOverRows(t *testing.T) {
	set := smallSet(31, 6, 400, 6, false)
	set.Tasks[1].Train, set.Tasks[1].Test = set.Tasks[1].Train[:20], nil
	dev, cfg := openDevice(t, 1, set), smallConfig()
	cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
	cfg.Methods, cfg.TargetSamples = []string{pipeline.Active, pipeline.Uniform, pipeline.Target}, 20
	id := identityOf(dev, cfg, []string{set.Tasks[1].Name}, 3, 4, 5)
	of := func(best ...string) (out []Result) {
		for i, method := range best {
			cfg.Seed = id.Seeds[i]
			p := must.Get(pipeline.NewProblem(set, cfg, 1))(t)
			l := must.Get(pipeline.NewLearner(dev, p))(t)
			defer l.Close()
			epochs := must.Get(l.Solve(t.Context(), pipeline.State{}, quiet, func(pipeline.State) error { return nil }))(t).Epochs
			for i := range epochs {
				if epochs[i].LeaveOneOut = 1; epochs[i].Method == method {
					epochs[i].LeaveOneOut = 1e-9
				}
			}
			out = append(out, summarise(p, set.Name, p.TargetSamples(), epochs))
			must.Equal(t, out[i].Recommended, method, "the recommended method")
		}
		return out
	}
	last := func(s Summary) *BudgetComparison { return &s.Comparisons[len(s.Comparisons)-1] }
	for _, best := range [][]string{
		{pipeline.Uniform, pipeline.Uniform, pipeline.Uniform},
		{pipeline.Target, pipeline.Uniform, pipeline.Active},
	} {
		results := of(best...)
		s := average(id, results)
		c, other := last(s), s.Comparisons[1]
		must.Hold(t, other.B == pipeline.Target && other.Rows == 20, "%v: %+v", best, other)
		if c.A != Recommended || c.B != pipeline.Target || c.Seeds != 3 || c.Rows != 20 || c.Interval == nil {
			t.Fatalf("%v: %+v", best, c)
		}
		within := 0.0
		for i, r := range results {
			for _, over := range r.Comparisons {
				if over.A == best[i] && over.B == pipeline.Target {
					within += math.Pow(over.Difference-over.Interval[0], 2) / 3
				}
			}
		}
		must.Hold(t, c.Difference-c.Interval[0] >= math.Sqrt(within)*(1-1e-12), "%v: %v is narrower than over rows alone", best, *c.Interval)

		for i := range results {
			results[i].Comparisons = results[i].Comparisons[:2]
		}
		c = last(average(id, results))
		must.Hold(t, c.Interval == nil && c.Rows == 20, "%v, without the comparison: %+v", best, c)
	}
	id.Seeds = id.Seeds[:1]
	results := of(pipeline.Uniform)
	must.Equal(t, *last(average(id, results)).Interval, *results[0].Comparisons[2].Interval, "the interval of one seed")
}
