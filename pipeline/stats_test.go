package pipeline

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// The p-value of the sign test agrees with counting all outcomes that are at least as extreme, over targets and over the
// seeds of one target.
func TestSignTest(t *testing.T) {
	choose := func(n, k int) float64 {
		c := 1.0
		for i := range k {
			c = c * float64(n-i) / float64(i+1)
		}
		return c
	}
	for n := 1; n <= 30; n++ {
		for better := 0; better <= n; better++ {
			a, b := make([]float64, n+2), make([]float64, n+2)
			for i := range n {
				if i < better {
					b[i] = 1
				} else {
					a[i] = 1
				}
			}
			want := 0.0
			for k := range n + 1 {
				if min(k, n-k) <= min(better, n-better) {
					want += choose(n, k) * math.Pow(0.5, float64(n))
				}
			}
			for _, c := range []Comparison{compare("a", "b", seedEach(a), seedEach(b), 10), compare("a", "b", [][]float64{a}, [][]float64{b}, 10)} {
				if !near(c.SignP, math.Min(want, 1), 1e-9) || c.Better != better || c.Worse != n-better || c.Same != 2 {
					t.Fatalf("%d of %d better: p = %g, want %g (%+v)", better, n, c.SignP, want, c)
				}
			}
		}
	}
}

// seedEach returns scores as those of one seed for each target.
func seedEach(scores []float64) [][]float64 {
	var out [][]float64
	for _, v := range scores {
		out = append(out, []float64{v})
	}
	return out
}

// The bootstrap interval of a mean is close to the normal one for many pairs.
func TestBootstrapInterval(t *testing.T) {
	rng := testrand.New(t)
	n := 400
	a, b := normals(rng, n), normals(rng, n)
	mean, sq := 0.0, 0.0
	for i := range a {
		b[i] += 0.5
		mean += (b[i] - a[i]) / float64(n)
	}
	for i := range a {
		d := b[i] - a[i] - mean
		sq += d * d / float64(n-1)
	}
	half := 1.96 * math.Sqrt(sq/float64(n))
	c := Compare("a", "b", seedEach(a), seedEach(b))
	if !near(c.Difference, mean, 1e-12) || math.Abs(c.Interval[0]-(mean-half)) > 0.15*half || math.Abs(c.Interval[1]-(mean+half)) > 0.15*half {
		t.Errorf("mean %g, interval %v, want about %g +- %g", c.Difference, c.Interval, mean, half)
	}
	if again := Compare("a", "b", seedEach(a), seedEach(b)); !reflect.DeepEqual(again, c) {
		t.Errorf("the same data gave %+v, then %+v", c, again)
	}
}

// The 95 % intervals cover the true difference about as often as they say, whether the noise
// comes from targets or from seeds. Without the correction of [Compare] they would cover more
// where it comes from the seeds: 98.4 % with two seeds.
func TestComparisonCovers(t *testing.T) {
	rng := testrand.New(t)
	const truth = 0.3
	type sweep struct {
		targets, seeds     int
		ofTargets, ofSeeds float64
		least, most        float64
	}
	for _, c := range must.Some(rng, 3, []sweep{
		{30, 1, 1, 1, 0.88, 0.98},
		{30, 2, 0, 1, 0.88, 0.98},
		{30, 2, 1, 1, 0.88, 0.98},
		{30, 4, 1, 0.3, 0.88, 0.98},
		{1, 12, 0, 1, 0.88, 0.98},
		{1, 5, 0, 1, 0.88, 0.98},
		{1, 3, 0, 1, 0.88, 0.99},
		{12, 1, 1, 0, 0.9, 0.98},
		{5, 1, 1, 0, 0.88, 0.98},
		{3, 2, 1, 1, 0.88, 1},
		{2, 1, 1, 0, 0.88, 0.99},
	}...) {
		repeats := 600
		if c.targets > 1 && c.ofTargets == 0 { // 97.1 % are covered, and 98.4 % without the correction
			repeats = 5000
		}
		hits, quantiles := 0, 0 // by the interval, and by the quantiles that it is wider than
		n, by := float64(c.targets), math.Sqrt(float64(c.targets)/float64(c.targets-1))
		if c.targets == 1 {
			n, by = float64(c.seeds), 1
		}
		by *= students(n) / 1.96
		for range repeats {
			a, b := make([][]float64, c.targets), make([][]float64, c.targets)
			for i := range a {
				own := truth + c.ofTargets*rng.NormFloat64()
				for range c.seeds {
					base := rng.NormFloat64() // of both methods
					a[i], b[i] = append(a[i], base), append(b[i], base+own+c.ofSeeds*rng.NormFloat64())
				}
			}
			got := compare("a", "b", a, b, 1000)
			hits += b2i(got.Interval[0] <= truth && truth <= got.Interval[1])
			at := got.Difference + by*(truth-got.Difference)
			quantiles += b2i(got.Interval[0] <= at && at <= got.Interval[1])
			if (got.Seeds > 0) != (c.targets == 1) || got.Targets != c.targets {
				t.Fatalf("%+v", got)
			}
		}
		if covered := float64(hits) / float64(repeats); covered < c.least || covered > c.most {
			t.Errorf("%+v: 95 %% intervals cover %.1f %%", c, 100*covered)
		} else {
			t.Logf("%+v: 95 %% intervals cover %.1f %%, quantiles alone %.1f %%", c, 100*covered, 100*float64(quantiles)/float64(repeats))
		}
	}
}

// OverRows widens an interval over the seeds of one target, which have their rows in common, so that it covers the difference on other rows
// too, however much of it is due to the row, to the seed or to both. Intervals over seeds alone do not.
func TestOverRowsCovers(t *testing.T) {
	rng := testrand.New(t)
	const rows, trials = 60, 400
	for _, c := range []struct {
		seeds          int
		row, seed, own float64
	}{{3, 1, 0, 0.3}, {5, 1, 0.02, 1}, {5, 1, 0.2, 0.3}, {10, 1, 0.13, 0}, {8, 0.5, 0.1, 2}, {1, 1, 0, 0}} {
		covered, alone := 0, 0
		for range trials {
			ofRow := make([]float64, rows)
			for i := range ofRow {
				ofRow[i] = c.row * rng.NormFloat64()
			}
			var runs []Comparison
			b := make([]float64, c.seeds)
			for s := range b {
				ofSeed, d := c.seed*rng.NormFloat64(), make([]float64, rows)
				for i := range d {
					d[i] = 0.5 + ofRow[i] + ofSeed + c.own*rng.NormFloat64()
				}
				mean, spread := stat.MeanStdDev(d, nil)
				end := 1.96 * spread / math.Sqrt(rows)
				b[s], runs = mean, append(runs, Comparison{A: "a", B: "b", Difference: mean, Rows: rows, Interval: &[2]float64{mean - end, mean + end}})
			}
			over := compare("a", "b", [][]float64{make([]float64, c.seeds)}, [][]float64{b}, 400)
			both := over.OverRows(runs)
			must.Hold(t, both.Rows == rows && both.Difference == over.Difference && both.Seeds == over.Seeds, "%+v of %+v", both, over)
			covered += b2i(both.Interval[0] <= 0.5 && 0.5 <= both.Interval[1])
			if over.Interval != nil {
				alone += b2i(over.Interval[0] <= 0.5 && 0.5 <= over.Interval[1])
				must.Hold(t, both.Interval[0] <= over.Interval[0] && over.Interval[1] <= both.Interval[1], "%v is in %v", over.Interval, both.Interval)
			}
		}
		t.Logf("%+v: %d of %d intervals hold the difference, %d over seeds alone", c, covered, trials, alone)
		must.Hold(t, covered > trials*88/100, "%d of %d intervals hold the difference, %+v", covered, trials, c)
		if c.own < 1 && c.seed < 0.1 { // then hardly any of the difference is due to the seed
			must.Hold(t, covered < trials-2, "%d of %d intervals hold the difference, %+v", covered, trials, c)
			must.Hold(t, alone < trials*2/3, "%d of %d intervals over seeds alone hold it, %+v", alone, trials, c)
		}
	}
	none := compare("a", "b", [][]float64{{0, 0}}, [][]float64{{1, 2}}, 100)
	must.Hold(t, none.OverRows([]Comparison{{Difference: 1}, {Difference: 2}}) == none && none.OverRows(nil) == none, "without rows")
}

// One target and one seed, or targets or seeds that all give the same, have no interval.
func TestNoIntervalOfOneNumber(t *testing.T) {
	for _, scores := range [][]float64{{0.3}, {0.3, 0.3, 0.3}} {
		zeros := make([]float64, len(scores))
		c := Compare("a", "b", [][]float64{scores}, [][]float64{zeros})
		if c.Interval != nil || c.Difference != -scores[0] || c.Targets != 1 || c.Worse != len(scores) {
			t.Errorf("%v: %+v", scores, c)
		}
	}
	for _, scores := range [][]float64{{0.3, 0.3, 0.3}, {0, 0}} {
		c := Compare("a", "b", seedEach(scores), seedEach(make([]float64, len(scores))))
		must.Hold(t, c.Interval == nil && near(c.Difference, -scores[0], 1e-12), "%v: %+v", scores, c)
	}
}

// The 95 % intervals over test rows cover the true difference, for errors that are rare and
// mostly shared by both methods, and for squared residuals.
func TestCompareLossesCovers(t *testing.T) {
	rng := testrand.New(t)
	const repeats = 6000
	for _, c := range []struct {
		rows        int
		only, other float64 // the chances that one method alone errs
		binary      bool
	}{{1000, 0.02, 0.015, true}, {150, 0.03, 0.03, true}, {1000, 0, 0, true}, {500, 0, 0, false}, {250, 0, 0, false}, {300, 0.2, 0.4, true}} {
		hits := 0
		for range repeats {
			pred, y := [2][]float32{make([]float32, c.rows), make([]float32, c.rows)}, make([]float32, c.rows)
			for i := range c.rows {
				if !c.binary {
					shared := rng.NormFloat64()
					pred[0][i], pred[1][i] = float32(shared+0.3*rng.NormFloat64()), float32(shared+0.3*rng.NormFloat64())
					continue
				}
				u, both := rng.Float64(), rng.Float64() < 0.05
				pred[0][i] = float32(b2i(both != (u < c.only)))
				pred[1][i] = float32(b2i(both != (c.only <= u && u < c.only+c.other)))
			}
			var e [2]Epoch
			for m := range e {
				e[m].Score, e[m].Losses = scorePredictions(map[bool]string{true: MetricError, false: MetricMSE}[c.binary], false, [][]int{{0}},
					[][]float32{pred[m]}, y, regress.Groups{})
			}
			got := CompareLosses(&e[0], &e[1])
			truth := (c.other - c.only) * (1 - 2*0.05)
			hits += b2i(got.Interval[0] <= truth && truth <= got.Interval[1])
			if got.Rows != c.rows || got.Difference != e[1].Score.Value-e[0].Score.Value || !(got.Interval[0] < got.Interval[1]) {
				t.Fatalf("%+v", got)
			}
		}
		if covered := float64(hits) / float64(repeats); covered < 0.925 || covered > 0.975 && (c.only > 0 || !c.binary) {
			t.Errorf("%+v: 95 %% intervals cover %.1f %%", c, 100*covered)
		} else {
			t.Logf("%+v: 95 %% intervals cover %.1f %%", c, 100*covered)
		}
	}
	if c := CompareLosses(&Epoch{}, &Epoch{Losses: newLosses(5, regress.Groups{})}); c != nil {
		t.Errorf("without losses: %+v", c)
	}
}

// Intervals by sums of losses are about as wide as those by the rows themselves, whatever the order of the rows and whether or not the sums
// are of equally many rows.
func TestCompareLossesAsRows(t *testing.T) {
	rng := testrand.New(t)
	for _, rows := range []int{199, 250, 390, 500, 2000, 20000} {
		for _, order := range []string{"random", "cyclic", "sorted"} {
			for _, metric := range []string{MetricError, MetricMSE} {
				var e [2]Epoch
				for m := range e {
					e[m].Score.Metric, e[m].Losses = metric, newLosses(rows, regress.Groups{})
				}
				sum, square := 0.0, 0.0
				for i := range rows {
					class := i % 4
					switch order {
					case "random":
						class = rng.IntN(4)
					case "sorted":
						class = 4 * i / rows
					}
					x, y := 0.0, float64(b2i(class == 0))
					if metric == MetricMSE {
						x, y = 1+rng.Float64(), 3*y+rng.Float64()
					}
					e[0].Losses.add(i, x)
					e[1].Losses.add(i, y)
					e[0].Score.Value += x / float64(rows)
					e[1].Score.Value += y / float64(rows)
					sum, square = sum+y-x, square+(y-x)*(y-x)
				}
				got := CompareLosses(&e[0], &e[1]).Interval
				n := float64(rows)
				want := 2 * 1.96 * math.Sqrt((square/n-sum*sum/n/n)/n)
				ratio := (got[1] - got[0]) / want
				must.Hold(t, ratio > 0.75 && ratio < 1.3, "%d rows, %s, %s: the interval is %.3g as wide as by the rows", rows, order, metric, ratio)
			}
		}
	}
}

// For few rows the intervals cover the true difference too, hold the measured one, and stay within what is possible.
func TestCompareLossesOfFewRows(t *testing.T) {
	rng := testrand.New(t)
	const repeats = 2000
	for _, c := range []struct {
		rows        int
		only, other float64 // the chances that one method alone errs, or how large their residuals are
		metric      string
	}{
		{6, 0.3, 0.1, MetricError}, {6, 0.05, 0.8, MetricError}, {10, 0.85, 0.02, MetricError}, {20, 0.05, 0.6, MetricError},
		{40, 1, 2, MetricMSE}, {40, 1, 0.3, MetricMSE},
	} {
		hits, truth := 0, c.other-c.only
		if c.metric == MetricMSE {
			truth = c.other*c.other - c.only*c.only
		}
		for range repeats {
			var e [2]Epoch
			for m := range e {
				e[m].Score.Metric, e[m].Losses = c.metric, newLosses(c.rows, regress.Groups{})
			}
			for i := range c.rows {
				x, y, u := rng.NormFloat64(), rng.NormFloat64(), rng.Float64()
				x, y = c.only*c.only*x*x, c.other*c.other*y*y
				if c.metric == MetricError {
					x, y = float64(b2i(u < c.only)), float64(b2i(c.only <= u && u < c.only+c.other))
				}
				e[0].Losses.add(i, x)
				e[1].Losses.add(i, y)
				e[0].Score.Value += x / float64(c.rows)
				e[1].Score.Value += y / float64(c.rows)
			}
			got := CompareLosses(&e[0], &e[1])
			if i := got.Interval; i[0] > got.Difference+1e-12 || i[1] < got.Difference-1e-12 || c.metric == MetricError && (i[0] < -1 || i[1] > 1) {
				t.Fatalf("%+v: difference %g, interval %v", c, got.Difference, *i)
			}
			hits += b2i(got.Interval[0] <= truth && truth <= got.Interval[1])
		}
		covered := float64(hits) / float64(repeats)
		t.Logf("%+v: 95 %% intervals cover %.1f %%", c, 100*covered)
		if covered < 0.91 {
			t.Errorf("%+v: 95 %% intervals cover %.1f %%", c, 100*covered)
		}
	}
}

// Two left-out rows, or groups, are predicted from each other and have no interval; three have one, and so have two that are held out.
func TestFewLeftOutHaveNoInterval(t *testing.T) {
	rng := testrand.New(t)
	for _, each := range []int{1, 4} {
		for groups := 1; groups <= 4; groups++ {
			for _, leftOut := range []bool{true, false} {
				numbers := make([]int32, groups*each)
				for i := range numbers {
					numbers[i] = int32(i % groups)
				}
				of := regress.GroupsOf(numbers)
				var e [2]Epoch
				for m := range e {
					e[m].Score, e[m].Losses = Score{Metric: MetricMSE, LeaveOneOut: leftOut}, newLosses(len(numbers), of)
					for i := range numbers {
						e[m].Losses.add(i, rng.ExpFloat64())
					}
				}
				want := groups >= 2 && (!leftOut || groups >= 3)
				mean, c := e[0].Losses.MeanInterval(leftOut), CompareLosses(&e[0], &e[1])
				must.Hold(t, (mean != nil) == want, "%d groups of %d, left out: %v: the mean has %v", groups, each, leftOut, mean)
				value := floats.Sum(e[0].Losses.Sums) / float64(len(numbers))
				must.Hold(t, mean == nil || 0 < mean[0] && mean[0] < value && value < mean[1], "a mean of %g has %v", value, mean)
				must.Hold(t, (c != nil) == (groups >= 2), "%d groups of %d, left out: %v: compared, %+v", groups, each, leftOut, c)
				must.Hold(t, (c != nil && c.Interval != nil) == want, "%d groups of %d, left out: %v: the difference has %+v", groups, each,
					leftOut, c)
			}
		}
	}
}
