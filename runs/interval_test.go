package runs

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/internal/text"
	"github.com/amtrl/amtrl/pipeline"
)

// Of samples of rows from one population, about 95 in 100 give intervals that hold the true value, also where an error is near 0. With few
// squares fewer do, and fewer still where their tails are heavy.
func TestScoreIntervalCovers(t *testing.T) {
	rng := testrand.New(t)
	const times = 10_000 // a standard error of 0.25 points: the true coverages are 1.4 points within the bounds
	squares := func(r *rand.Rand) float64 { v := r.NormFloat64(); return v * v }
	heavy := func(r *rand.Rand) float64 { v := r.ExpFloat64(); return v * v } // squared residuals from Laplace's distribution
	for _, test := range []struct {
		name        string
		rows        int
		metric      string
		truth       float64
		draw        func(*rand.Rand) float64
		least, most float64
	}{
		{"an error of 0.3", 400, pipeline.MetricError, 0.3, func(r *rand.Rand) float64 { return hit(r, 0.3) }, 0.92, 0.98},
		{"an error of 0.01", 400, pipeline.MetricError, 0.01, func(r *rand.Rand) float64 { return hit(r, 0.01) }, 0.92, 0.98},
		{"squares", 400, pipeline.MetricMSE, 1, squares, 0.92, 0.98},
		{"300 squares in groups of one and two", 300, pipeline.MetricMSE, 1, squares, 0.92, 0.98},
		{"40 squares", 40, pipeline.MetricMSE, 1, squares, 0.92, 0.98},
		{"40 squares with heavy tails", 40, pipeline.MetricMSE, 2, heavy, 0.90, 0.98},
		{"15 squares", 15, pipeline.MetricMSE, 1, squares, 0.90, 0.98},
	} {
		held, plain, rows := 0, 0, float64(test.rows)
		values := make([]float64, test.rows)
		for range times {
			losses, sum := &pipeline.Losses{Rows: test.rows, Sums: make([]float64, min(test.rows, 200))}, 0.0
			for i := range test.rows {
				v := test.draw(rng)
				sum, values[i] = sum+v, v
				losses.Sums[i%len(losses.Sums)] += v
			}
			i := ScoreInterval(pipeline.Score{Metric: test.metric, Value: sum / rows}, losses, true)
			if i == nil || i[0] < 0 || i[0] > sum/rows || i[1] < sum/rows {
				t.Fatalf("%s: the interval %v does not hold the score %g", test.name, i, sum/rows)
			}
			if i[0] <= test.truth && test.truth <= i[1] {
				held++
			}
			if mean, spread := stat.MeanStdDev(values, nil); math.Abs(mean-test.truth) <= 1.96*spread/math.Sqrt(rows) {
				plain++
			}
		}
		got := float64(held) / times
		t.Logf("%s: %.1f %% of the intervals hold it, of 1.96 standard errors %.1f %%", test.name, 100*got, 100*float64(plain)/times)
		if got < test.least || got > test.most {
			t.Errorf("%s: %.1f %% of the intervals hold it, expected %.0f to %.0f %%", test.name, 100*got, 100*test.least, 100*test.most)
		}
	}
}

func hit(r *rand.Rand, p float64) float64 {
	if r.Float64() < p {
		return 1
	}
	return 0
}

// Two labels of one row do not count as two rows: where they are wrong together, the interval is that of one label.
func TestLabelsOfOneRow(t *testing.T) {
	of := func(labels int, sums ...float64) *pipeline.Losses {
		l := &pipeline.Losses{Rows: labels * len(sums), Sums: sums}
		if labels > 1 {
			l.Units = len(sums)
		}
		return l
	}
	for _, metric := range []string{pipeline.MetricError, pipeline.MetricMSE} {
		s := pipeline.Score{Metric: metric, Value: 0.5}
		one, two := ScoreInterval(s, of(1, 0, 1, 0, 1, 1, 0), true), ScoreInterval(s, of(2, 0, 2, 0, 2, 2, 0), true)
		must.Hold(t, near(one[0], two[0], 1e-12) && near(one[1], two[1], 1e-12), "%s: %v of one label, %v of two", metric, *one, *two)
	}
	a, b := &pipeline.Epoch{Losses: of(2, 0, 2, 0, 1, 1, 0)}, &pipeline.Epoch{Losses: of(2, 0, 0, 0, 1, 2, 1)}
	must.Equal(t, pipeline.CompareLosses(a, b).Rows, 6, "rows that are compared")
}

func TestNoScoreInterval(t *testing.T) {
	mse := pipeline.Score{Metric: pipeline.MetricMSE, Value: 0.5}
	for name, i := range map[string]*[2]float64{
		"exact":         ScoreInterval(pipeline.Score{Metric: pipeline.MetricExcess, Value: 1}, nil, true),
		"no rows":       ScoreInterval(mse, &pipeline.Losses{}, true),
		"earlier round": ScoreInterval(mse, &pipeline.Losses{Rows: 4, Sums: []float64{1, 0, 0, 1}}, false),
		"one row":       ScoreInterval(mse, &pipeline.Losses{Rows: 1, Sums: []float64{0.5}}, true),
	} {
		if i != nil {
			t.Errorf("%s: found the interval %v, expected none", name, *i)
		}
	}
}

// The intervals of a run are the same in its result, in relevance.csv and when the finished folder is read. A sweep of one target and one
// seed compares over the test rows as its run does, of several seeds over these, and of several targets over targets.
func TestIntervals(t *testing.T) {
	set := smallSet(27, 6, 400, 6, true)
	dev := openDevice(t, 1, set)
	cfg := smallConfig()
	cfg.Intercept, cfg.Head = true, pipeline.Head{Ridge: pipeline.RidgeAuto, Prior: pipeline.PriorResidual, Rcond: -1}
	cfg.Methods = []string{pipeline.Active, pipeline.Uniform, pipeline.Target}
	id, dir := identityOf(dev, cfg, []string{set.Tasks[1].Name}, 3), t.TempDir()
	res := mustRun(t, dev, id, dir)
	if again := mustRun(t, dev, id, dir); !reflect.DeepEqual(again, res) {
		t.Errorf("the finished folder says\n%+v, the run\n%+v", again, res)
	}
	rows := must.Get(csv.NewReader(bytes.NewReader(must.Get(os.ReadFile(filepath.Join(dir, relevanceFile)))(t))).ReadAll())(t)
	for i, s := range res.Sources {
		var want []string
		for _, v := range []float64{s.NuLow, s.NuHigh, s.Share, s.ShareLow, s.ShareHigh, s.TopFive} {
			want = append(want, text.Number(v))
		}
		if !slices.Equal(rows[i+1][2:8], want) || !(s.NuLow < s.NuHigh) {
			t.Errorf("relevance.csv has %v, the result %v", rows[i+1], want)
		}
	}
	if len(res.Comparisons) != 2 {
		t.Fatalf("%d comparisons of three methods", len(res.Comparisons))
	}
	for _, m := range res.Methods {
		if m.Rows != 40 || m.Interval == nil || m.Interval[0] > m.Score.Value || m.Interval[1] < m.Score.Value {
			t.Errorf("%s: %g on %d rows, interval %v", m.Method, m.Score.Value, m.Rows, m.Interval)
		}
		if n := len(m.Rounds); n > 0 != (m.Epochs > 1) || n > 0 && (n != m.Epochs || m.Rounds[n-1].Value != m.Score.Value ||
			*m.Rounds[n-1].Interval != *m.Interval || m.Rounds[n-1].Samples != m.Samples || m.Rounds[0].Interval == nil) {
			t.Errorf("%s of %d epochs: rounds %+v", m.Method, m.Epochs, m.Rounds)
		}
	}
	active := res.Method(pipeline.Active).Score.Value
	for i, c := range res.Comparisons {
		if c.Rows != 40 || c.A != pipeline.Active || c.B != cfg.Methods[i+1] || c.Difference != res.Method(c.B).Score.Value-active ||
			c.Interval == nil {
			t.Errorf("comparison %d: %+v", i, c)
		}
	}

	one := mustSweep(t, dev, id, t.TempDir(), 1)
	for i, c := range res.Comparisons {
		if !reflect.DeepEqual(one.Comparisons[i].Comparison, c) {
			t.Errorf("a sweep of the one run has %+v, the run %+v", one.Comparisons[i], c)
		}
	}
	id.Seeds = []uint64{3, 4, 5}
	if c := mustSweep(t, dev, id, t.TempDir(), 1).Comparisons[0]; c.Seeds != 3 || c.Rows != 0 {
		t.Errorf("one target, three seeds: %+v", c)
	}
	id.Targets = []string{set.Tasks[1].Name, set.Tasks[2].Name}
	if c := mustSweep(t, dev, id, t.TempDir(), 1).Comparisons[0]; c.Seeds != 0 || c.Rows != 0 || c.Targets != 2 || c.Interval == nil {
		t.Errorf("two targets, three seeds: %+v", c)
	}
}

// Without held-out rows, the interval of one target over several seeds is for other rows too, and so not much shorter than that of a single
// run.
func TestIntervalsOfSamples(t *testing.T) {
	seed := testrand.Seed(t)
	dev := openDevice(t, 1, labelledSet(seed))
	cfg := labelledConfig()
	cfg.Methods = []string{pipeline.Active, pipeline.Constant}
	id := identityOf(dev, cfg, []string{"pool1"}, seed)
	run := mustRun(t, dev, id, t.TempDir()).Comparisons[0]
	id.Seeds = []uint64{seed, seed + 1, seed + 2}
	c := mustSweep(t, dev, id, t.TempDir(), 1).Comparisons[0]
	must.Hold(t, c.Seeds == 3 && c.Rows == run.Rows && run.Rows > 0, "%+v of runs such as %+v", c, run)
	least := 0.5 * (run.Interval[1] - run.Interval[0]) // the runs differ a little
	must.Hold(t, c.Interval[1]-c.Interval[0] > least, "%v is far shorter than %v", c.Interval, run.Interval)
}

// Where the head does not depend on the sources' heads, the files have no intervals.
func TestNoIntervals(t *testing.T) {
	set := smallSet(28, 5, 400, 6, true)
	dev, dir := openDevice(t, 1, set), t.TempDir()
	mustRun(t, dev, identityOf(dev, smallConfig(), []string{set.Tasks[1].Name}, 3), dir)
	for _, name := range []string{epochsFile, resultFile} {
		raw := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		for _, key := range []string{"uncertainty", "losses", "comparisons", "nu_low", "top_five"} {
			if bytes.Contains(raw, []byte(`"`+key+`"`)) {
				t.Errorf("%s has %s", name, key)
			}
		}
	}
}
