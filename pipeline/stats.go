package pipeline

import (
	"cmp"
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
	// Difference is the mean of score(B) - score(A), and Interval its 95 % interval: over other targets like these;
	// with one target, over other seeds, which Seeds then counts, or over other test rows, which Rows then counts
	// (target samples, each left out of its head, where there are no test rows), or over both, see
	// [Comparison.OverRows]. Interval is nil for one target and one seed whose scores are not known by row, where the
	// differences of all targets, or seeds, are equal, and where both Seeds and Rows are counted but not each seed has an
	// interval over the rows.
	Difference float64     `json:"difference"`
	Interval   *[2]float64 `json:"interval,omitempty"`
	Seeds      int         `json:"seeds,omitempty"`
	Rows       int         `json:"rows,omitempty"`
	// Groups is the number of groups that the Rows belong to, 0 where each row is on its own.
	Groups int `json:"groups,omitempty"`
	// Better, Same and Worse count the targets on which A is better than B, the same, and worse; with one target, its
	// seeds.
	Better int `json:"better"`
	Same   int `json:"same"`
	Worse  int `json:"worse"`
	// SignP is the two-sided p-value of the sign test over these counts, without ties.
	SignP float64 `json:"sign_p"`
}

// SameOrBetter returns the number of targets, or seeds, where A is no worse than B.
func (c Comparison) SameOrBetter() int { return c.Better + c.Same }

const bootstrapResamples = 10_000

// Compare pairs the scores of two methods. a and b have an entry for each target, with the score of each seed. They must
// have equally many targets, and each target equally many seeds in both, one or more.
//
// The interval is that of a two-level bootstrap: targets are drawn with replacement, and for each its seeds. Without a
// correction the noise of seeds would count twice, since the means of targets contain it too. So these means are moved
// towards their own mean by the factor sqrt(1 - v/s), s being their variance and v the part of it that is due to seeds,
// and the deviations of b seeds from their mean are multiplied by sqrt(b/(b-1)) (Davison and Hinkley 1997, section
// 3.8). Those of T targets are multiplied by sqrt(T/(T-1)) too, and the distances from the difference to the ends of the
// interval by t/1.96, t being the 97.5 % quantile of Student's distribution for T targets or, with one target, for its
// seeds: the quantiles of a few numbers hold the true difference of two targets in half of all cases, those of five in
// 83 % (go test -v ./pipeline -run TestComparisonCovers). There is no interval where all differences are equal.
func Compare(nameA, nameB string, a, b [][]float64) Comparison {
	return compare(nameA, nameB, a, b, bootstrapResamples)
}

func compare(nameA, nameB string, a, b [][]float64, resamples int) Comparison {
	c := Comparison{A: nameA, B: nameB, Targets: len(a), SignP: 1}
	diff, deviations := make([]float64, len(a)), make([][]float64, len(a))
	within, most := 0.0, 0 // the mean variance of a target's mean that is due to its seeds, and their number
	for i := range a {
		diff[i] = Gain(stat.Mean(a[i], nil), stat.Mean(b[i], nil))
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
	switch {
	case len(diff) > 1:
		c.count(diff)
	case most == 1:
		c.count(diff)
		return c
	default:
		c.Seeds = most
		seeds := make([]float64, most)
		for j := range seeds {
			seeds[j] = Gain(a[0][j], b[0][j])
		}
		c.count(seeds)
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
	low, high := stat.Quantile(0.025, stat.Empirical, means, nil), stat.Quantile(0.975, stat.Empirical, means, nil)
	if low == high {
		return c
	}
	n := float64(cmp.Or(c.Seeds, c.Targets))
	wider := students(n) / 1.96
	if c.Seeds == 0 {
		wider *= math.Sqrt(n / (n - 1))
	}
	c.Interval = &[2]float64{c.Difference + wider*(low-c.Difference), c.Difference + wider*(high-c.Difference)}
	return c
}

// count counts the differences of each sign, and tests whether both signs are as likely.
func (c *Comparison) count(differences []float64) {
	for _, d := range differences {
		switch {
		case d > 0:
			c.Better++
		case d < 0:
			c.Worse++
		default:
			c.Same++
		}
	}
	if n := c.Better + c.Worse; n > 0 {
		tail := distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(c.Better, c.Worse)))
		c.SignP = math.Min(1, 2*tail)
	}
}

// OverRows returns c, a comparison over the seeds of one target, with an interval for other rows too. runs holds for
// each seed the comparison of its run over the rows. All seeds have the same rows, so that more seeds say no more of
// other rows. The variance of the mean over b seeds is taken to be
//
//	S^2 / b + V
//
// with S^2 the variance of the differences of the runs, and V the mean of the variances that the runs have over their
// rows. Noise of the seed may be part of both terms, so that the variance is no more than this. For one seed OverRows
// returns the comparison of its run. It returns c as it is where a run has no interval over rows.
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

// Gain returns b - a, by how much less the score a is, and 0 where they differ by rounding, as means over equal seeds
// may.
func Gain(a, b float64) float64 {
	d := b - a
	if math.Abs(d) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) {
		return 0
	}
	return d
}
