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

// Losses holds the losses of the rows that a score is measured on: 0 or 1 for an error, else the squared residual. They are summed over up
// to 200 groups, into which the rows are dealt at random, in the same way for the same number of rows. Two methods can be compared by these
// sums as by the rows themselves. Rows that belong together ([dataset.Pool].Groups) are in one sum.
type Losses struct {
	// Rows is the number of losses: of rows or, where rows have labels of several columns, of labels. Units is then the number of rows.
	Rows  int       `json:"rows"`
	Units int       `json:"units,omitempty"`
	Sums  []float64 `json:"sums"`
	// Groups is the number of groups of rows that belong together, and Each the number of rows of each sum. They are 0 and nil where each
	// row is on its own. Squares is the sum of the squared numbers of rows of the groups where several are in one sum.
	Groups  int   `json:"groups,omitempty"`
	Each    []int `json:"rows_each,omitempty"`
	Squares int   `json:"rows_squared,omitempty"`

	dealt []int  // place of each row, whose sum is that mod len(Sums); nil where each row has its own
	lost  []bool // whether each row has a loss
}

const maxGroups = 200

func newLosses(rows int, of regress.Groups) *Losses {
	count := rows
	if of.Group != nil {
		count = of.Count()
	}
	l := &Losses{Sums: make([]float64, min(count, maxGroups)), lost: make([]bool, rows)}
	if count > maxGroups { // dealt, since in the order of a file every 200th row may be of one class
		l.dealt = stream(0, "losses").Perm(count)
	}
	if of.Group == nil {
		return l
	}
	if count > maxGroups {
		sizes := make([]int, count)
		for _, g := range of.Group {
			l.Squares += 2*sizes[g] + 1
			sizes[g]++
		}
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
	l.Rows++
	l.lost[row] = true
	l.Sums[l.sumOf(row)] += loss
}

// sumOf returns the place of the sum that the losses of a row are in.
func (l *Losses) sumOf(row int) int {
	if l.dealt != nil {
		return l.dealt[row] % len(l.Sums)
	}
	return row
}

// residuals returns the residual of each sum: the sum less the mean over all rows times the number of rows in it.
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

// done records the number of rows that have losses, where that is less than the number of losses, leaves out the others, and returns l.
func (l *Losses) done() *Losses {
	each, rows := make([]int, len(l.Sums)), 0
	for row, has := range l.lost {
		if has {
			each[l.sumOf(row)]++
			rows++
		}
	}
	if rows < len(l.lost) {
		some := l.Sums[:0]
		for g, v := range l.Sums {
			if each[g] > 0 {
				some = append(some, v)
			}
		}
		if l.Groups > 0 && l.Squares == 0 {
			l.Groups = len(some)
		}
		if l.Sums = some; l.dealt != nil {
			l.Each = slices.DeleteFunc(each, func(n int) bool { return n == 0 })
		}
	}
	if rows < l.Rows {
		l.Units = rows
	}
	return l
}

// SameRows reports whether both are losses of the same rows, as far as their numbers tell, so that their means can be compared.
func (l *Losses) SameRows(o *Losses) bool {
	return l != nil && o != nil && l.Rows == o.Rows && len(l.Sums) == len(o.Sums) && l.Groups == o.Groups
}

// Count returns the number of rows. Intervals are over rows, since the labels of one row say less than those of as many rows.
func (l *Losses) Count() int { return cmp.Or(l.Units, l.Rows) }

// leftOutVariance returns the factor by which the variance of the mean loss exceeds the one estimated from the losses of G groups. Where
// each group is left out of a model of its own, it is 1 + G/(G-1) for the error of the model that is fitted to all groups: the models have
// nearly all samples in common, and the one that is measured has them all, so that they err together (Nadeau and Bengio 2003, Inference for
// the generalization error, where 1/J + n2/n1 takes the place of 1/J). The same factor is used for the ten folds of nested
// cross-validation, for which it would be 1 + 10/9. For held-out rows it is 1.
func leftOutVariance(leftOut bool, groups int) float64 {
	if !leftOut {
		return 1
	}
	return 1 + float64(groups)/math.Max(1, float64(groups-1))
}

// Independent returns the effective number of rows: the number of independent rows that would determine the mean of losses of 0 or 1 as
// precisely. It is Count divided by the design effect, the variance of the mean estimated from the sums of the groups over the variance for
// as many independent rows (Kish 1965). The design effect is at least 1, and at most its value where all rows of a group have the same
// loss. It is that value where all rows have the same loss, since the sums then tell nothing. For few groups the result is smaller by the
// factor (1.96/t)^2, t being the quantile of Student's distribution for their number (Korn and Graubard 1998). For rows that are left out
// it is half or less ([Score.LeaveOneOut]). It is 0 for a single group.
func (l *Losses) Independent(leftOut bool) float64 {
	n := float64(l.Count())
	if l.Groups == 0 {
		return n / leftOutVariance(leftOut, l.Count())
	}
	square, most, mean := 0.0, float64(l.Squares)/n, floats.Sum(l.Sums)/float64(l.Rows)
	for g, d := range l.residuals(l.Sums) {
		square += d * d
		if l.Squares == 0 {
			most += float64(l.Each[g]*l.Each[g]) / n
		}
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

// students returns the 97.5 % quantile of Student's distribution for the given number of groups.
func students(groups float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: groups - 1}.Quantile(0.975)
}

// fewestLeftOut is the least number of groups of left-out rows for an interval: two groups are predicted from each other, which makes their
// losses alike.
const fewestLeftOut = 3

// MeanInterval returns the 95 % interval of the mean of the losses for other rows, or nil for fewer than two groups of rows, or three where
// they are left out ([Score.LeaveOneOut]). Squared residuals are skewed, and most samples of few rows lack the large ones that the mean
// depends on, so the interval reaches further up than down, by the transformation of Hall (1992). No such mean is 0, so that the interval
// of a mean m that reaches up to f m reaches down to m / f^1.5 at most. It is wider for rows that are left out.
func (l *Losses) MeanInterval(leftOut bool) *[2]float64 {
	if leftOut && l.groups() < fewestLeftOut {
		return nil
	}
	mean := floats.Sum(l.Sums) / float64(l.Rows)
	i := skewedInterval(mean, l.residuals(l.Sums), float64(l.Rows), leftOutVariance(leftOut, l.groups()))
	if i != nil {
		i[0] = math.Max(i[0], mean*math.Pow(mean/i[1], 1.5))
	}
	return i
}

// groups returns the number of groups that the rows are in, or the number of rows where each is on its own.
func (l *Losses) groups() int { return cmp.Or(l.Groups, l.Count()) }

// skewedInterval returns the 95 % interval of a mean over n rows, from the residuals of the sums of G groups of them. With t the quantile
// of Student's distribution for G groups, s the standard error times the square root of times, the factor on its variance, and g the
// skewness of the residuals, it is
//
//	mean - s sqrt(G) h(t) to mean - s sqrt(G) h(-t),  h(t) = 3/g ((1 + g (t/sqrt(G) - g/(6 G)))^(1/3) - 1)
//
// the inverse of a cubic that removes the skewness of the studentised mean (Hall 1992, On the removal of skewness by transformation).
// Without skewness it is mean +- t s. It is nil where all residuals are 0 or there is only one.
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

// CompareLosses compares the last rounds of two methods of one run over its test rows, as pairs. It returns nil where losses are not
// recorded, do not match, or have fewer than two sums. For errors the interval is that of Agresti and Min (2005): half a row is added for
// each kind of row (right by both methods, by one, by the other and by neither), so that two methods with the same errors on few rows are
// not taken to be certainly the same. It is 1.96 standard errors to each side of the difference over these rows, within -1 and 1. Where
// rows are in groups, half a group is added for each kind; left-out rows count as a little less than half as many. For other losses
// it is that of [Losses.MeanInterval].
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
