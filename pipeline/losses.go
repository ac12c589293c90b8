package pipeline

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Losses are what the rows that it is measured on contribute to a score, 0 or 1 for an error and the
// squared residual otherwise, summed over up to 200 groups of them, into which the rows are dealt at random, the same
// for the same number of rows. Two methods are compared by them as by the rows themselves. Rows that belong together
// ([dataset.Pool].Groups) are in one sum.
type Losses struct {
	// Rows is the number of the losses: of the rows, or where these have labels of
	// several columns, of such labels. Units is then the number of rows.
	Rows  int       `json:"rows"`
	Units int       `json:"units,omitempty"`
	Sums  []float64 `json:"sums"`
	// Groups is how many groups the rows are of, and Each the number of rows of each sum: 0 and nil where each row is on its own.
	Groups int   `json:"groups,omitempty"`
	Each   []int `json:"rows_each,omitempty"`

	dealt []int // the place of each row, whose group is that mod len(Sums); nil where each is its own
}

const maxGroups = 200

func newLosses(rows int, of regress.Groups) *Losses {
	count := rows
	if of.Group != nil {
		count = of.Count()
	}
	l := &Losses{Sums: make([]float64, min(count, maxGroups))}
	if count > maxGroups { // in the order of a file, every 200th row may be of one class
		l.dealt = stream(0, "losses").Perm(count)
	}
	if of.Group == nil {
		return l
	}
	places := slices.Clone(of.Group)
	l.Groups, l.Each = count, make([]int, len(l.Sums))
	for i, g := range places {
		if l.dealt != nil {
			places[i] = l.dealt[g]
		}
		l.Each[places[i]%len(l.Sums)]++
	}
	l.dealt = places
	return l
}

func (l *Losses) add(row int, loss float64) {
	if l.Rows++; l.dealt != nil {
		row = l.dealt[row] % len(l.Sums)
	}
	l.Sums[row] += loss
}

// residuals are what the sums of the groups are beyond their part of the mean over all rows.
func (l *Losses) residuals(sums []float64) []float64 {
	total := floats.Sum(sums)
	out, groups := make([]float64, len(sums)), len(sums)
	for g, v := range sums {
		rows := l.Count() / groups
		if g < l.Count()%groups {
			rows++
		}
		if l.Each != nil {
			rows = l.Each[g]
		}
		out[g] = v - total*float64(rows)/float64(l.Count())
	}
	return out
}

// of says how many rows the losses are of.
func (l *Losses) of(rows int) *Losses {
	if rows < l.Rows {
		l.Units = rows
	}
	return l
}

// Count is the number of rows. Labels of one row say less than those of as many rows, so
// that an interval is over these.
func (l *Losses) Count() int { return cmp.Or(l.Units, l.Rows) }

// leftOutVariance is how many times the variance that the losses of G groups tell is that of their mean about the error of the model that
// is fitted to all of them, where each group is left out of a model of its own: 1 + G/(G-1), as these models have nearly all samples in
// common, and the one that is measured has them all, so that they err together (Nadeau and Bengio 2003, Inference for the generalization
// error, where it is 1/J + n2/n1 in the place of 1/J). For the ten folds of nested cross-validation, of which it is 1 + 10/9, it is taken
// to be the same. It is 1 of held-out rows.
func leftOutVariance(leftOut bool, groups int) float64 {
	if !leftOut {
		return 1
	}
	return 1 + float64(groups)/math.Max(1, float64(groups-1))
}

// Independent is the number of rows on their own by which the mean of the losses would be known as well: Count over the design effect,
// which is the variance of the mean that the sums of the groups tell, over that of as many rows on their own (Kish 1965). It is
// from 1 to what it is where all rows of a group have the same loss, and that where all rows have: then the sums tell
// nothing. Of a few groups it is less by (1.96/t)^2, t being the quantile of Student's distribution for their number (Korn and
// Graubard 1998). Of rows that are left out it is half or less ([Score.LeaveOneOut]).
func (l *Losses) Independent(leftOut bool) float64 {
	n := float64(l.Count())
	if l.Groups == 0 {
		return n / leftOutVariance(leftOut, l.Count())
	}
	square, most, mean := 0.0, 0.0, floats.Sum(l.Sums)/float64(l.Rows)
	for g, d := range l.residuals(l.Sums) {
		square += d * d
		most += float64(l.Each[g]*l.Each[g]) / n
	}
	groups := float64(len(l.Sums))
	if groups < 2 {
		return 0
	}
	effect := square * groups / (groups - 1) * n / float64(l.Rows*l.Rows) / (mean * (1 - mean))
	if effect = math.Max(1, effect); !(effect < most) {
		effect = most
	}
	return n / leftOutVariance(leftOut, l.Groups) / effect * math.Pow(1.96/students(groups), 2)
}

// students is the 97.5 % quantile of Student's distribution for so many groups.
func students(groups float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: groups - 1}.Quantile(0.975)
}

// fewestLeftOut are the groups of left-out rows that an interval takes at least: two are predicted from each other, and their losses are
// alike for that.
const fewestLeftOut = 3

// MeanInterval is the 95 % interval of the mean of the losses for other rows, nil of fewer than
// two groups of them, of three where they are left out. Squared residuals are skewed, and most samples of few rows lack the large
// ones that the mean is of, so that it reaches further up than down. See [skewedInterval]. That of rows that are left out
// ([Score.LeaveOneOut]) is wider.
func (l *Losses) MeanInterval(leftOut bool) *[2]float64 {
	if leftOut && l.groups() < fewestLeftOut {
		return nil
	}
	i := skewedInterval(floats.Sum(l.Sums)/float64(l.Rows), l.residuals(l.Sums), float64(l.Rows), leftOutVariance(leftOut, l.groups()))
	if i != nil {
		i[0] = math.Max(0, i[0])
	}
	return i
}

// groups is of how many groups the rows are, each on its own where there are none.
func (l *Losses) groups() int { return cmp.Or(l.Groups, l.Count()) }

// skewedInterval is the 95 % interval of a mean over n rows, from the residuals of the sums of
// groups of them. With t the quantile of Student's distribution for the G groups, s the standard error times the root of times, which is
// how many times its variance counts, and g the skewness of the residuals, it is
//
//	mean - s sqrt(G) h(t) to mean - s sqrt(G) h(-t),  h(t) = 3/g ((1 + g (t/sqrt(G) - g/(6 G)))^(1/3) - 1)
//
// the inverse of a cubic that takes the skewness out of the studentised mean (Hall 1992, On the
// removal of skewness by transformation). Without skewness it is mean +- t s. It is nil where
// all residuals are 0, or one alone is there.
func skewedInterval(mean float64, residuals []float64, n, times float64) *[2]float64 {
	groups := float64(len(residuals))
	square, skew := 0.0, 0.0
	for _, d := range residuals {
		square += d * d
	}
	if groups < 2 || !(square > 0) || math.IsInf(square, 1) {
		return nil
	}
	spread := math.Sqrt(square / (groups - 1))
	for _, d := range residuals {
		skew += math.Pow(d/spread, 3) / groups
	}
	t := students(groups) / math.Sqrt(groups)
	h := func(t float64) float64 {
		if math.Abs(skew) < 1e-6 {
			return t
		}
		return 3 / skew * (math.Cbrt(1+skew*(t-skew/(6*groups))) - 1)
	}
	s := spread * groups / n * math.Sqrt(times)
	return &[2]float64{mean - s*h(t), mean - s*h(-t)}
}

// CompareLosses compares the last rounds of two methods of one run over its test rows, as pairs. For errors the interval is that of
// Agresti and Min (2005), within -1 and 1: half a row more of each kind, right by both methods, by one, by the other and by none, so that
// two methods with the same errors on few rows are not taken for certainly the same, and 1.96 standard errors to each side of the
// difference over these. Of rows in groups it is half a group more of each kind, and of rows that are left out as of a little less than
// half as many. For others see [skewedInterval]. It is nil where losses are not recorded.
func CompareLosses(a, b *Epoch) *Comparison {
	x, y := a.Losses, b.Losses
	if x == nil || y == nil || x.Rows != y.Rows || len(x.Sums) != len(y.Sums) || len(x.Sums) < 2 {
		return nil
	}
	c := Compare(a.Method, b.Method, [][]float64{{a.Score.Value}}, [][]float64{{b.Score.Value}})
	c.Rows, c.Groups = x.Count(), x.Groups
	n, groups := float64(x.Rows), float64(len(x.Sums))
	more := floats.SubTo(make([]float64, len(x.Sums)), y.Sums, x.Sums)
	total, residuals, times := floats.Sum(more), x.residuals(more), leftOutVariance(a.Score.LeaveOneOut, x.groups())
	if a.Score.Metric != MetricError {
		if !a.Score.LeaveOneOut || groups >= fewestLeftOut {
			c.Interval = skewedInterval(c.Difference, residuals, n, times)
		}
		return &c
	}
	square := linalg.Dot(residuals, residuals) * groups / (groups - 1)
	if x.Groups > 0 {
		rows := n / float64(x.Groups)
		n, total, square = float64(x.Groups), total/rows, square/rows/rows
	}
	n, total, square = n/times, total/times, square/times
	square = square + 1 + total*total*(1/n-1/(n+2))
	centre, half := total/(n+2), 1.96*math.Sqrt(square)/(n+2)
	c.Interval = &[2]float64{math.Max(-1, centre-half), math.Min(1, centre+half)}
	return &c
}
