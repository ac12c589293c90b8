package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Labels have a heavy tail where none is below 0 and the largest 1/tailPart of them make up more than tailMost of the sum of squared
// deviations from the mean, but with logarithms in place of the labels at most half that share: otherwise the largest are a few wrong
// labels. In fewer than tailLeast labels this is chance.
const (
	tailLeast = 100
	tailPart  = 100
	tailMost  = 0.5
)

// oddNumbers lists what is odd about labels that are numbers: heavy tails, errors that grow with them, sources in another unit, and
// labels far from the others.
func (s *Set) oddNumbers(place placeOf) []Oddity {
	columns := s.labelColumns()
	units := s.labelUnits(columns)
	values := s.labelNumbers(units)
	far := s.farLabels(columns, values, units, place)
	out := tailedLabels(columns, values)
	out = append(out, s.proportionalLabels(columns, values)...)
	for _, u := range units {
		out = append(out, u.oddity(s))
	}
	return append(out, far...)
}

// tailedLabels lists the columns of numbers that have a heavy tail. It sorts the values.
func tailedLabels(columns []string, values map[string][]float64) []Oddity {
	var out []Oddity
	for _, column := range columns {
		v := values[column]
		if slices.Sort(v); !tailed(v) {
			continue
		}
		top, n := topOf(v), len(v)
		share := deviationsOfTop(v, top, func(x float64) float64 { return x })
		out = append(out, Oddity{"", fmt.Sprintf("the largest %s of %s %s %s %.0f %% of the squared deviations from the mean: half are up to "+
			"%.6g, the largest is %.6g", text.Count(top), text.Count(n), labelsNamed(column), text.Form(top, "has", "have"), 100*share,
			v[(n-1)/2], v[n-1]),
			"squared errors are of these alone: " + logAdvice(logOffset(v))})
	}
	return out
}

// logAdvice says how the logarithms of labels plus a number are learned.
func logAdvice(plus float64) string {
	if plus > 0 {
		return fmt.Sprintf("log: true and plus: %g below the column in the manifest have the logarithm of labels plus %[1]g learned", plus)
	}
	return "log: true below the column in the manifest has the logarithm learned"
}

// tailed reports whether sorted labels have a heavy tail.
func tailed(v []float64) bool {
	if len(v) < tailLeast || v[0] < 0 {
		return false
	}
	share := deviationsOfTop(v, topOf(v), func(x float64) float64 { return x })
	return share > tailMost && !(deviationsOfTop(v, topOf(v), table.Log{Plus: logOffset(v)}.Of) > share/2)
}

// logOffset returns what to add to sorted labels from 0 on before their logarithm is taken: 0 where none is 0 or all are; otherwise 1 for
// whole numbers, and for others the power of ten below nineteen of twenty of the labels above 0.
func logOffset(v []float64) float64 {
	first := above(v, 0)
	switch {
	case first == 0 || first == len(v):
		return 0
	case !slices.ContainsFunc(v, func(x float64) bool { return x != math.Trunc(x) }):
		return 1
	}
	const rounding = 1e-6 // 0.01 as a float32 is a little less
	return math.Pow(10, math.Floor(math.Log10(v[first+(len(v)-first)/20])+rounding))
}

// topOf returns the number of labels in the largest 1/tailPart, rounded up.
func topOf(v []float64) int { return (len(v) + tailPart - 1) / tailPart }

// deviationsOfTop returns the share of the sum of squared deviations of f(x) from its mean that is due to the last top of the values.
func deviationsOfTop(values []float64, top int, f func(float64) float64) float64 {
	mean := 0.
	for _, x := range values {
		mean += f(x) / float64(len(values))
	}
	all, of := 0., 0.
	for i, x := range values {
		d := (f(x) - mean) * (f(x) - mean)
		all += d
		if i >= len(values)-top {
			of += d
		}
	}
	return of / all
}
