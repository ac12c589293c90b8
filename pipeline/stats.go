package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Comparison is the paired comparison of two methods over targets and seeds, or over
// the test rows of one run.
type Comparison struct {
	// A is compared with B; a positive Difference means A is better.
	A string `json:"a"`
	B string `json:"b"`
	// Targets is the number of targets; seeds are averaged within a target.
	Targets int `json:"targets"`
	// Difference is the mean of score(B) - score(A), Interval its 95 % interval: for
	// other targets like these, for other seeds where there is one target, which Seeds
	// then counts, and for other test rows where Rows counts those (target samples,
	// each left out of its head, where there are no test rows), for both where both are
	// counted, see [Comparison.OverRows]. There is none of one target and one seed, whose scores are not known by row.
	Difference float64     `json:"difference"`
	Interval   *[2]float64 `json:"interval,omitempty"`
	Seeds      int         `json:"seeds,omitempty"`
	Rows       int         `json:"rows,omitempty"`
	// Groups is how many groups the Rows are of, 0 where each is on its own.
	Groups int `json:"groups,omitempty"`
	// Better, Same and Worse count the targets where A is so.
	Better int `json:"better"`
	Same   int `json:"same"`
	Worse  int `json:"worse"`
	// SignP is the two-sided p-value of the sign test over targets, ties left out.
	SignP float64 `json:"sign_p"`
}

// SameOrBetter is the number of targets where A is no worse than B.
func (c Comparison) SameOrBetter() int { return c.Better + c.Same }

const bootstrapResamples = 10_000

// Compare pairs the scores of two methods. a and b have an entry for each target, with
// the score of each seed.
//
// The interval is that of a two-level bootstrap: targets are drawn with replacement,
// and for each its seeds. Drawing both as they are would count the noise of seeds
// twice, since the means of targets have it too. So those are drawn closer together,
// by the factor sqrt(1 - v/s) for s the variance of the means of targets and v what
// seeds have in it, and the deviations of b seeds from their mean are drawn larger by
// sqrt(b/(b-1)) (Davison and Hinkley 1997, section 3.8).
func Compare(nameA, nameB string, a, b [][]float64) Comparison {
	return compare(nameA, nameB, a, b, bootstrapResamples)
}

func compare(nameA, nameB string, a, b [][]float64, resamples int) Comparison {
	c := Comparison{A: nameA, B: nameB, Targets: len(a), SignP: 1}
	diff, deviations := make([]float64, len(a)), make([][]float64, len(a))
	within, most := 0.0, 0 // the mean variance that a target's mean has from its seeds, and their number
	for i := range a {
		diff[i] = Gain(stat.Mean(a[i], nil), stat.Mean(b[i], nil))
		switch {
		case diff[i] > 0:
			c.Better++
		case diff[i] < 0:
			c.Worse++
		default:
			c.Same++
		}
		n := float64(len(a[i]))
		most = max(most, len(a[i]))
		deviations[i] = make([]float64, len(a[i]))
		for j := range a[i] {
			d := Gain(a[i][j], b[i][j]) - diff[i]
			if n > 1 {
				deviations[i][j] = d * math.Sqrt(n/(n-1))
				within += d * d / (n - 1) / n / float64(len(a))
			}
		}
	}
	if len(diff) == 0 {
		return c
	}
	c.Difference = stat.Mean(diff, nil)
	if n := c.Better + c.Worse; n > 0 {
		tail := distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(c.Better, c.Worse)))
		c.SignP = math.Min(1, 2*tail)
	}
	if len(diff) == 1 {
		if most == 1 {
			return c
		}
		c.Seeds = most
	}
	if within > 0 && len(diff) > 1 {
		closer := math.Sqrt(math.Max(0, 1-within/stat.Variance(diff, nil)))
		for i := range diff {
			diff[i] = c.Difference + closer*(diff[i]-c.Difference)
		}
	}
	rng := stream(0, "bootstrap")
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range diff {
			at := rng.IntN(len(diff))
			sum += diff[at]
			if d := deviations[at]; len(d) > 1 {
				own := 0.0
				for range d {
					own += d[rng.IntN(len(d))]
				}
				sum += own / float64(len(d))
			}
		}
		means[i] = sum / float64(len(diff))
	}
	slices.Sort(means)
	c.Interval = &[2]float64{stat.Quantile(0.025, stat.Empirical, means, nil), stat.Quantile(0.975, stat.Empirical, means, nil)}
	if c.Interval[0] == c.Interval[1] && c.Seeds > 0 {
		c.Interval = nil // all seeds are the same
	}
	return c
}

// OverRows is a comparison over the seeds of one target, for other rows too, by those that the run of each seed has over its rows, which
// seeds have in common: more seeds say no more of other rows. The variance of the mean over b seeds is taken to be
//
//	S^2 / b + V
//
// for S^2 that of the differences of the runs, and V the mean of what these have over their rows. Some of V may be noise of the seed, which
// is in both: it is no more than that. Of one seed it is the comparison of its run. It is c where a run has none over rows.
func (c Comparison) OverRows(runs []Comparison) Comparison {
	if len(runs) != max(1, c.Seeds) || slices.ContainsFunc(runs, func(r Comparison) bool { return r.Interval == nil || r.Rows == 0 }) {
		return c
	}
	low, high := 0.0, 0.0
	for _, r := range runs {
		low += (r.Difference - r.Interval[0]) * (r.Difference - r.Interval[0]) / float64(len(runs))
		high += (r.Interval[1] - r.Difference) * (r.Interval[1] - r.Difference) / float64(len(runs))
	}
	if low+high == 0 { // as of a method and itself
		return c
	}
	if len(runs) == 1 {
		of := runs[0]
		of.A, of.B = c.A, c.B
		return of
	}
	var seeds [2]float64
	if c.Interval != nil {
		seeds = [2]float64{c.Difference - c.Interval[0], c.Interval[1] - c.Difference}
	}
	c.Interval = &[2]float64{c.Difference - math.Sqrt(seeds[0]*seeds[0]+low), c.Difference + math.Sqrt(seeds[1]*seeds[1]+high)}
	c.Rows, c.Groups = runs[0].Rows, runs[0].Groups
	return c
}

// Gain is b - a, how much less the score a is. Means over seeds that are equal may differ by rounding.
func Gain(a, b float64) float64 {
	d := b - a
	if math.Abs(d) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) {
		return 0
	}
	return d
}
