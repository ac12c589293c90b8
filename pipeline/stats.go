package pipeline

import (
	"cmp"
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

// compare pairs the scores of two methods, one entry a target.
func compare(nameA, nameB string, a, b []float64) Comparison {
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

// MethodSummary is the mean of a method over targets and seeds.
type MethodSummary struct {
	Method string `json:"method"`
	// Budget is the budget of the budget schedule, or 0.
	Budget float64 `json:"budget,omitempty"`
	// Runs is the number of results, Samples and Value their means.
	Runs    int     `json:"runs"`
	Samples float64 `json:"samples"`
	Value   float64 `json:"value"`
}

// Needed is the number of samples at which a method reaches a score.
type Needed struct {
	Method string `json:"method"`
	// Samples is interpolated between budgets, linearly in the logarithms.
	Samples float64 `json:"samples"`
	// Bound is "" for an interpolated number, "at most" where the smallest budget
	// already reaches the score, "more than" where the largest does not.
	Bound string `json:"bound,omitempty"`
}

// SamplesNeeded returns how many samples each method of a sweep over budgets
// needs for a mean score of value: the first crossing in order of budget.
func (s *Summary) SamplesNeeded(value float64) []Needed {
	var out []Needed
	for _, name := range s.methodNames() {
		var rows []MethodSummary
		for _, m := range s.Methods {
			if m.Method == name {
				rows = append(rows, m)
			}
		}
		slices.SortStableFunc(rows, func(a, b MethodSummary) int { return cmp.Compare(a.Samples, b.Samples) })
		need := Needed{name, rows[len(rows)-1].Samples, "more than"}
		for i, r := range rows {
			if r.Value > value {
				continue
			}
			if i == 0 {
				need = Needed{name, r.Samples, "at most"}
				break
			}
			p := rows[i-1]
			f := 1.0 // where the score falls to 0, its logarithm has no say
			if r.Value > 0 && value > 0 {
				f = math.Log(p.Value/value) / math.Log(p.Value/r.Value)
			}
			need = Needed{name, p.Samples * math.Pow(r.Samples/p.Samples, f), ""}
			break
		}
		out = append(out, need)
	}
	return out
}

func (s *Summary) methodNames() []string {
	var names []string
	for _, m := range s.Methods {
		if !slices.Contains(names, m.Method) {
			names = append(names, m.Method)
		}
	}
	return names
}
