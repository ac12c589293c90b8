package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// Labels have a heavy tail where none is below 0 and the largest hundredth of them has more than half of the squared
// deviations from the mean, and of those of the logarithms less than half as much: else they are a few that are wrong.
// Of fewer than tailLeast labels this is chance.
const (
	tailLeast = 100
	tailPart  = 100
	tailMost  = 0.5
)

// oddNumbers is what is odd about labels that are numbers.
func (s *Set) oddNumbers(place placeOf) []Oddity {
	columns, values := s.labelNumbers()
	units := s.labelUnits(columns)
	far := s.farLabels(columns, values, units, place)
	out := tailedLabels(columns, values)
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
		of := "labels"
		if column != "" {
			of += " of " + text.OneLine(column, 80)
		}
		advice := "log: true below the column in the manifest has the logarithm learned"
		if plus := toLog(v); plus > 0 {
			advice = fmt.Sprintf("log: true and plus: %g below the column in the manifest have the logarithm of labels plus %[1]g learned",
				plus)
		}
		out = append(out, Oddity{"", fmt.Sprintf("the largest %d of %d %s %s %.0f %% of the squared deviations from the mean: half are up to "+
			"%.6g, the largest is %.6g", top, n, of, text.Form(top, "has", "have"), 100*share, v[(n-1)/2], v[n-1]),
			"squared errors are of these alone: " + advice})
	}
	return out
}

// tailed says whether sorted labels have a heavy tail.
func tailed(v []float64) bool {
	if len(v) < tailLeast || v[0] < 0 {
		return false
	}
	share := deviationsOfTop(v, topOf(v), func(x float64) float64 { return x })
	return share > tailMost && !(deviationsOfTop(v, topOf(v), table.Log{Plus: toLog(v)}.Of) > share/2)
}

// toLog is what to add to sorted labels of 0 or more before a logarithm: where there is a 0, 1 of whole numbers, and of others the power of
// ten below nineteen of twenty that are above 0.
func toLog(v []float64) float64 {
	first := above(v, 0)
	switch {
	case first == 0 || first == len(v):
		return 0
	case !slices.ContainsFunc(v, func(x float64) bool { return x != math.Trunc(x) }):
		return 1
	}
	const rounding = 1e-6 // 0.01 is less in float32
	return math.Pow(10, math.Floor(math.Log10(v[first+(len(v)-first)/20])+rounding))
}

// topOf is how many the largest hundredth are.
func topOf(v []float64) int { return (len(v) + tailPart - 1) / tailPart }

// deviationsOfTop is the part of the squared deviations from the mean that the last values of a list have.
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
