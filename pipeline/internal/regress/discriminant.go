package regress

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Discriminant returns the slope and the cut of the log-odds slope (f - cut) of class 1 for a row with prediction f, given
// leave-one-out predictions f of rows with 0/1 labels y. Those of the n_c rows of class c are taken to be normal, with a mean
// m_c and a common variance s^2:
//
//	slope = (m_1 - m_0)/s^2,  cut = (m_0 + m_1)/2 + s^2/(m_1 - m_0) log(n_0/n_1)
//
// (linear discriminant analysis; Hastie, Tibshirani and Friedman 2009, section 4.3). They are 0 and 0.5 where the predictions say nothing,
// that is where m_1 is not above m_0 or a class has a single row or group. In the slope, s is at least the standard deviation at which 1/2n
// of the rows of equally frequent classes would be on the wrong side: that n rows are separated does not show that fewer are, and where the
// predictions of a class are almost the same, s is rounding. In this n, a group counts once for each class, whatever its number of rows.
func Discriminant(f, y []float64, of Groups) (slope, cut float64) {
	return momentsOf(f, y, of).discriminant()
}

// DiscriminantLeft returns the log-odds of each row by the discriminant of the other rows, without those of its group, or their
// log(n_1/n_0) where it does not tell the classes apart.
func DiscriminantLeft(f, y []float64, of Groups) []float64 {
	all, left := momentsOf(f, y, of), make([]float64, len(f))
	leave := func(group ...int) {
		without := all.drop(f, y, group)
		for _, i := range group {
			left[i] = without.logOdds(f[i])
		}
	}
	for i := range f {
		if of.Alone(i) {
			leave(i)
		}
	}
	for group := range of.Several() {
		leave(group...)
	}
	return left
}

// drop returns the moments without the rows of a group.
func (of twoMoments) drop(f, y []float64, group []int) twoMoments {
	var dropped [2]bool
	for _, i := range group {
		c := classOf(y[i])
		of[c].drop(f[i])
		dropped[c] = true
	}
	for c, is := range dropped {
		if is {
			of[c].groups--
		}
	}
	return of
}

// logOdds returns the log-odds of class 1 for a row with prediction f.
func (of twoMoments) logOdds(f float64) float64 {
	slope, cut := of.discriminant()
	switch n := of[0].n + of[1].n; {
	case slope > 0:
		return slope * (f - cut)
	case n == 0:
		return 0
	case of[0].n == 0 || of[1].n == 0:
		return LogOdds(of[1].n/n, int(of[0].groups+of[1].groups))
	}
	return math.Log(of[1].n / of[0].n)
}

// classMoments holds, for the predictions of the rows of one class, their number, the number of their groups, their mean, the sum of
// their squared deviations from it, and their largest magnitude, dropped predictions included, relative to which differences are rounded.
type classMoments struct{ n, groups, mean, squares, largest float64 }

// drop removes one prediction.
func (m *classMoments) drop(v float64) {
	if m.n--; m.n == 0 {
		m.mean, m.squares = 0, 0
		return
	}
	off := v - m.mean
	m.mean -= off / m.n
	m.squares = math.Max(0, m.squares-off*(v-m.mean))
}

// twoMoments holds the moments of classes 0 and 1.
type twoMoments [2]classMoments

func momentsOf(f, y []float64, groups Groups) (of twoMoments) {
	var values [2][]float64
	for i, v := range f {
		c := classOf(y[i])
		values[c] = append(values[c], v)
	}
	for c, v := range values {
		if n := float64(len(v)); n > 0 {
			mean, variance := stat.PopMeanVariance(v, nil)
			of[c] = classMoments{n, n, mean, n * variance, floats.Norm(v, math.Inf(1))}
		}
		if groups.Group != nil {
			of[c].groups = float64(groups.Distinct(func(i int) bool { return classOf(y[i]) == c }))
		}
	}
	return of
}

func classOf(label float64) int {
	if label > 0.5 {
		return 1
	}
	return 0
}

func (of twoMoments) discriminant() (slope, cut float64) {
	n, gap := of[0].n+of[1].n, of[1].mean-of[0].mean
	if of[0].groups < 2 || of[1].groups < 2 || !(gap > 1e-9*max(of[0].largest, of[1].largest)) { // less is rounding
		return 0, 0.5
	}
	variance := (of[0].squares + of[1].squares) / (n - 2)
	least := gap / 2 / distuv.UnitNormal.Quantile(1-0.5/(of[0].groups+of[1].groups))
	return gap / math.Max(variance, least*least), (of[0].mean+of[1].mean)/2 + variance/gap*math.Log(of[0].n/of[1].n)
}
