package runs

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// Of many samples of rows from one population, the intervals of about 95 in 100 hold what is true of it, for errors near
// 0 too.
func TestScoreIntervalCovers(t *testing.T) {
	rng := testrand.New(t)
	const rows, times = 400, 2000
	for _, test := range []struct {
		name   string
		metric string
		truth  float64
		draw   func(*rand.Rand) float64
	}{
		{"an error of 0.3", pipeline.MetricError, 0.3, func(r *rand.Rand) float64 { return hit(r, 0.3) }},
		{"an error of 0.01", pipeline.MetricError, 0.01, func(r *rand.Rand) float64 { return hit(r, 0.01) }},
		{"squares", pipeline.MetricMSE, 1, func(r *rand.Rand) float64 { v := r.NormFloat64(); return v * v }},
	} {
		held := 0
		for range times {
			losses, sum := &pipeline.Losses{Rows: rows, Sums: make([]float64, 200)}, 0.0
			for i := range rows {
				v := test.draw(rng)
				sum += v
				losses.Sums[i%200] += v
			}
			i := ScoreInterval(pipeline.Score{Metric: test.metric, Value: sum / rows}, losses, true)
			if i == nil || i[0] > sum/rows || i[1] < sum/rows {
				t.Fatalf("%s: the interval %v does not hold the score %g", test.name, i, sum/rows)
			}
			if i[0] <= test.truth && test.truth <= i[1] {
				held++
			}
		}
		if got := float64(held) / times; math.Abs(got-0.95) > 0.03 {
			t.Errorf("%s: %.1f %% of the intervals hold it, expected about 95 %%", test.name, 100*got)
		}
	}
}

func hit(r *rand.Rand, p float64) float64 {
	if r.Float64() < p {
		return 1
	}
	return 0
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
