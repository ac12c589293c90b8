package manifest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset/table"
)

const (
	// leastSkewed is the least number of values that can show that a column is skewed.
	leastSkewed = 50
	// skewedAbove is the ratio of the standard deviation to that of a normal distribution with the same quartiles above which a column is
	// skewed, if the ratio of its logarithms is below evenBelow. A log-normal column whose logarithms have the standard deviation s has
	// the ratio 2 for s = 1, 3.1 for s = 1.25, 5 for s = 1.5 and 20 for s = 2.
	skewedAbove, evenBelow = 3, 2
)

// guessLogs adds to the features, behind each skewed column, its logarithm: an effect may follow either.
func (g *guesser) guessLogs(m *Manifest) {
	for j, name := range slices.Backward(m.Features) {
		if c := g.column(name); c != nil && slices.Contains(g.scalars, name) {
			if l := c.skewed(); l != nil && g.column(l.Name(name)) == nil {
				m.Features = slices.Insert(m.Features, j+1, l.Name(name))
			}
		}
	}
}

// plainLogs takes out the logarithms of columns of which some row has a value without one. least holds the least value of each of g.scalars
// over all rows.
func (g *guesser) plainLogs(m *Manifest, least []float64) {
	m.Features = slices.DeleteFunc(m.Features, func(name string) bool {
		column, l, is := table.LogOf(name)
		at := slices.Index(g.scalars, column)
		return is && g.column(name) == nil && at >= 0 && !(least[at]+l.Plus > 0)
	})
}

// skewed returns the logarithm by which a column of numbers becomes even, or nil where it is not skewed, has a number that stands for a
// missing value, or has negative values. A power of ten of at most half the least number above 0 is added before, so that a new row may
// have a 0, and 1 to counts that begin at 0.
func (c *column) skewed() *table.Log {
	values := c.sorted()
	if _, coded, _, _ := table.CodeOf(values); coded > 0 || len(values) < leastSkewed || values[0] < 0 {
		return nil
	}
	above, _ := slices.BinarySearch(values, math.SmallestNonzeroFloat64)
	if above == len(values) {
		return nil
	}
	l := &table.Log{Plus: math.Pow(10, math.Floor(math.Log10(values[above]/2)))}
	if values[0] == 0 && c.ints == c.numbers {
		l.Plus = 1
	}
	logs := make([]float64, len(values))
	for i, x := range values {
		logs[i] = l.Of(x)
	}
	if tailRatio(values) < skewedAbove || tailRatio(logs) > evenBelow {
		return nil
	}
	return l
}

// tailRatio returns the standard deviation of sorted values divided by that of a normal distribution with the same quartiles, or 0 where
// the quartiles are equal.
func tailRatio(values []float64) float64 {
	n := len(values)
	middle := values[n-1-n/4] - values[n/4]
	if !(middle > 0) {
		return 0
	}
	const normal = 1.349 // the range between the quartiles, in standard deviations
	return normal * stat.PopStdDev(values, nil) / middle
}
