package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Comparison is the paired comparison of two methods over targets.
type Comparison struct {
	// A is compared with B; a positive Difference means A is better.
	A string `json:"a"`
	B string `json:"b"`
	// Targets is the number of pairs; seeds are averaged within a target.
	Targets int `json:"targets"`
	// Difference is the mean of score(B) - score(A), Interval its bootstrap
	// 95 % interval over targets, which treats them as independent; of a single
	// target it is the difference itself.
	Difference float64    `json:"difference"`
	Interval   [2]float64 `json:"interval"`
	// Better, Same and Worse count the targets where A is so.
	Better int `json:"better"`
	Same   int `json:"same"`
	Worse  int `json:"worse"`
	// SignP is the two-sided p-value of the sign test, ties left out.
	SignP float64 `json:"sign_p"`
}

// SameOrBetter is the number of targets where A is no worse than B.
func (c Comparison) SameOrBetter() int { return c.Better + c.Same }

const bootstrapResamples = 10_000

// Compare pairs the scores of two methods, one entry per target.
func Compare(nameA, nameB string, a, b []float64) Comparison {
	c := Comparison{A: nameA, B: nameB, Targets: len(a), SignP: 1}
	diff := make([]float64, len(a))
	for i := range a {
		diff[i] = b[i] - a[i]
		// Means over seeds that are equal may differ by rounding.
		if math.Abs(diff[i]) <= 1e-12*math.Max(math.Abs(a[i]), math.Abs(b[i])) {
			diff[i] = 0
		}
		switch {
		case diff[i] > 0:
			c.Better++
		case diff[i] < 0:
			c.Worse++
		default:
			c.Same++
		}
	}
	if len(diff) == 0 {
		return c
	}
	c.Difference = stat.Mean(diff, nil)
	rng := stream(0, "bootstrap")
	means := make([]float64, bootstrapResamples)
	for i := range means {
		sum := 0.0
		for range diff {
			sum += diff[rng.IntN(len(diff))]
		}
		means[i] = sum / float64(len(diff))
	}
	slices.Sort(means)
	c.Interval = [2]float64{stat.Quantile(0.025, stat.Empirical, means, nil), stat.Quantile(0.975, stat.Empirical, means, nil)}
	if n := c.Better + c.Worse; n > 0 {
		tail := distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(c.Better, c.Worse)))
		c.SignP = math.Min(1, 2*tail)
	}
	return c
}
