package runs

import (
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/pipeline"
)

// The result says so where the rows do not show the recommended method to be better than a constant prediction.
func TestDoubt(t *testing.T) {
	const rows, chance = 60, ": the target's rows do not show that its labels can be predicted"
	classes := func(method string, wrong int, logLoss float64) *pipeline.Epoch {
		e := &pipeline.Epoch{Method: method, LogLoss: logLoss, Losses: &pipeline.Losses{Rows: rows, Sums: make([]float64, rows)}}
		for i := range wrong {
			e.Losses.Sums[i] = 1
		}
		e.Score = pipeline.Score{Metric: pipeline.MetricError, Value: float64(wrong) / rows, LeaveOneOut: true}
		return e
	}
	numbers := func(method string, at, spread float64) *pipeline.Epoch {
		e := classes(method, 0, 0)
		e.Score = pipeline.Score{Metric: pipeline.MetricMSE, Value: at}
		for i := range rows {
			e.Losses.Sums[i] = at + spread*float64(i%2*2-1)
		}
		return e
	}
	left := func(e *pipeline.Epoch, leaveOneOut float64) *pipeline.Epoch {
		e.LeaveOneOut = leaveOneOut
		return e
	}
	exact := func(method string, risk float64) *pipeline.Epoch {
		return &pipeline.Epoch{Method: method, Score: pipeline.Score{Metric: pipeline.MetricExcess, Value: risk}}
	}
	constant := classes(pipeline.Constant, 27, 41)
	for name, c := range map[string]struct {
		best, constant *pipeline.Epoch
		want           string
	}{
		"errors as many": {classes(pipeline.Active, 27, 41), constant, "active errs no less than constant" + chance},
		"more errors":    {classes(pipeline.Uniform, 28, 43), constant, "uniform errs no less than constant" + chance},
		"two errors less, labels no likelier": {classes(pipeline.Active, 25, 42), constant,
			"that active errs less than constant may be chance" + chance},
		"errors as many, labels likelier": {classes(pipeline.Active, 27, 30), constant,
			"active's error is no lower than constant's, though it makes the labels of the target's samples likelier"},
		"two errors less, labels likelier": {classes(pipeline.Active, 25, 30), constant, ""},
		"far fewer errors":                 {classes(pipeline.Active, 5, 40.5), constant, ""},
		"constant itself":                  {constant, constant, ""},
		"no constant":                      {classes(pipeline.Active, 27, 41), classes(pipeline.Target, 20, 30), ""},
		"numbers by chance": {numbers(pipeline.Active, 0.9, 0.5), numbers(pipeline.Constant, 1, 0.1),
			"that active errs less than constant may be chance" + chance},
		"numbers by chance, labels likelier": {
			left(numbers(pipeline.Active, 0.9, 0.5), 0.96), left(numbers(pipeline.Constant, 1, 0.1), 1), ""},
		"numbers by chance, labels as likely": {left(numbers(pipeline.Active, 0.9, 0.5), 0.97), left(numbers(pipeline.Constant, 1, 0.1), 1),
			"that active errs less than constant may be chance" + chance},
		"numbers for sure": {numbers(pipeline.Active, 0.5, 0.2), numbers(pipeline.Constant, 1, 0.1), ""},
		"numbers that features know": {numbers(pipeline.Active, 9e-5, 1e-6), numbers(pipeline.Constant, 1, 0.1),
			"active's error is less than a ten-thousandth of constant's: some features may be the label, or known only after it"},
		"numbers that are all but certain": {numbers(pipeline.Active, 2e-4, 1e-6), numbers(pipeline.Constant, 1, 0.1), ""},
		"exact, next to nothing":           {exact(pipeline.Active, 0), exact(pipeline.Constant, 0.2), ""},
		"exact, less":                      {exact(pipeline.Active, 0.1), exact(pipeline.Constant, 0.2), ""},
		"exact, more": {exact(pipeline.Active, 0.2), exact(pipeline.Constant, 0.2),
			"active errs no less than constant" + chance},
	} {
		r := Result{Recommended: c.best.Method}
		must.Equal(t, r.doubt([]*pipeline.Epoch{c.best, c.constant}, samples{rows, 0, float64(rows)}), c.want, "%s", name)
		r.TooFew = true
		must.Equal(t, r.doubt([]*pipeline.Epoch{c.best, c.constant}, samples{rows, 0, float64(rows)}), "", "%s, of too few samples", name)
	}
}

// The result says so where the target's own samples alone do as well as the recommended method, unless the rows show more.
func TestDoubtOfSources(t *testing.T) {
	of := func(method string, value float64) *pipeline.Epoch {
		return &pipeline.Epoch{Method: method, Score: pipeline.Score{Metric: pipeline.MetricMSE, Value: value}}
	}
	const want = "active errs no less than target, which learns from the target's samples alone: these rows do not show that the sources help"
	for _, c := range []struct {
		active, target float64
		contradicted   bool
		want           string
	}{{0.5, 0.4, false, want}, {0.5, 0.5, false, want}, {0.4, 0.5, false, ""}, {0.5, 0.4, true, ""}} {
		r := Result{Recommended: pipeline.Active}
		if c.contradicted {
			r.Contradicted = &pipeline.Comparison{}
		}
		last := []*pipeline.Epoch{of(pipeline.Active, c.active), of(pipeline.Target, c.target), of(pipeline.Constant, 1)}
		must.Equal(t, r.doubt(last, samples{60, 0, 60}), c.want, "active %g, target %g", c.active, c.target)
		r = Result{Recommended: pipeline.Target}
		must.Equal(t, r.doubt(last, samples{60, 0, 60}), "", "target itself")
	}
}

// Where labels are noise, constant is recommended, or result.json doubts that they can be predicted, except where the 40 held-out rows of
// one of the targets show by chance that they can.
func TestDoubtOfNoise(t *testing.T) {
	set, rng := smallSet(31, 6, 400, 6, false), rand.New(rand.NewPCG(31, 2))
	for _, task := range set.Tasks {
		for i := range task.Labels {
			task.Labels[i] = float32(rng.NormFloat64())
		}
	}
	dev, cfg := openDevice(t, 1, set), smallConfig()
	cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
	cfg.Methods, cfg.TargetSamples = []string{pipeline.Active, pipeline.Constant}, 30
	var undoubted []string
	for _, task := range set.Tasks {
		res := mustRun(t, dev, identityOf(dev, cfg, []string{task.Name}, 3), t.TempDir())
		if res.Recommended != pipeline.Constant && res.Doubt == "" {
			undoubted = append(undoubted, task.Name)
		}
	}
	must.Hold(t, len(undoubted) <= 1, "the labels of %q are said to be predicted", undoubted)
}
