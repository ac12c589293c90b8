package runs

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// Where rows of a group share errors, about 95 in 100 intervals hold the error on other groups, and intervals for as many independent rows
// hold it too seldom. Without any error the number of groups counts, not that of rows.
func TestErrorIntervalOfGroups(t *testing.T) {
	rng := testrand.New(t)
	const times = 4000
	for _, test := range []struct {
		groups, most int
		truth, same  float64 // the error, and the probability that a row shares the error drawn for its group
	}{{12, 9, 0.2, 0.6}, {12, 5, 0.3, 1}, {30, 5, 0.1, 0.6}, {60, 20, 0.25, 0.3}, {40, 5, 0.2, 0}} {
		var held, plain, differ, plainly, rows int
		for range times {
			l, other := &pipeline.Losses{Groups: test.groups}, &pipeline.Losses{Groups: test.groups}
			for range test.groups {
				size, first, second, sum, more := 1+rng.IntN(test.most), hit(rng, test.truth), hit(rng, test.truth), 0.0, 0.0
				for range size {
					a, b := first, second
					if rng.Float64() >= test.same {
						a, b = hit(rng, test.truth), hit(rng, test.truth)
					}
					sum, more = sum+a, more+b
				}
				l.Rows, l.Each, l.Sums, other.Sums = l.Rows+size, append(l.Each, size), append(l.Sums, sum), append(other.Sums, more)
			}
			other.Rows, other.Each = l.Rows, l.Each
			at := func(groups bool) (in, equal int) {
				epoch := func(l pipeline.Losses) *pipeline.Epoch {
					e := &pipeline.Epoch{Losses: &l, Score: pipeline.Score{Metric: pipeline.MetricError}}
					for _, v := range l.Sums {
						e.Score.Value += v / float64(l.Rows)
					}
					if !groups {
						l.Groups, l.Each = 0, nil
					}
					return e
				}
				a, b := epoch(*l), epoch(*other)
				i, d := ScoreInterval(a.Score, a.Losses, true), pipeline.CompareLosses(a, b).Interval
				must.Hold(t, i[0] <= a.Score.Value+1e-12 && a.Score.Value <= i[1]+1e-12 && i[0] >= 0 && i[1] <= 1, "%v of %g", *i, a.Score.Value)
				return b2i(i[0] <= test.truth && test.truth <= i[1]), b2i(d[0] <= 0 && 0 <= d[1])
			}
			in, equal := at(true)
			held, differ, rows = held+in, differ+equal, rows+l.Rows
			in, equal = at(false)
			plain, plainly = plain+in, plainly+equal
		}
		of := func(n int) float64 { return 100 * float64(n) / times }
		t.Logf("error %g, %d groups of %.3g rows, %g the same: %.1f %% hold it, of differences %.1f %%; as rows on their own %.1f %%, %.1f %%",
			test.truth, test.groups, float64(rows)/times/float64(test.groups), test.same, of(held), of(differ), of(plain), of(plainly))
		must.Hold(t, of(held) > 89 && of(differ) > 90, "intervals by groups hold too little") // 93 and more, with an error of 0.8
	}
	none := &pipeline.Losses{Rows: 60, Sums: make([]float64, 12), Groups: 12, Each: []int{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}}
	i := ScoreInterval(pipeline.Score{Metric: pipeline.MetricError}, none, true)
	must.Hold(t, i[1] > 0.2 && i[1] < 0.35, "no error in 12 groups has the interval %v", *i)
	one := &pipeline.Losses{Rows: 5, Sums: []float64{2}, Groups: 1, Each: []int{5}}
	must.Hold(t, ScoreInterval(pipeline.Score{Metric: pipeline.MetricError, Value: 0.4}, one, true) == nil, "one group has an interval")
}
