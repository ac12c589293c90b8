package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

// Labels have a heavy tail where all are above 0 and the largest hundredth of them has more than half of the squared
// deviations from the mean, and of those of the logarithms less than half as much: else they are a few that are wrong.
// Of fewer than tailLeast labels this is chance.
const (
	tailLeast = 100
	tailPart  = 100
	tailMost  = 0.5
)

// oddNumbers is what is odd about labels that are numbers.
func (s *Set) oddNumbers() []Oddity {
	columns, values := s.labelNumbers()
	units := s.labelUnits(columns)
	far := slices.DeleteFunc(s.farLabels(columns, values), func(o Oddity) bool {
		return slices.ContainsFunc(units, func(u Oddity) bool { return u.Pool == o.Pool && u.Pool != "" })
	})
	return slices.Concat(tailedLabels(columns, values), units, far)
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
		out = append(out, Oddity{"", fmt.Sprintf("the largest %d of %d %s %s %.0f %% of the squared deviations from the mean: half are up to "+
			"%.6g, the largest is %.6g", top, n, of, text.Form(top, "has", "have"), 100*share, v[(n-1)/2], v[n-1]),
			"squared errors are of these alone: log: true below the column in the manifest has the logarithm learned"})
	}
	return out
}

// tailed says whether sorted labels have a heavy tail.
func tailed(v []float64) bool {
	if len(v) < tailLeast || v[0] <= 0 {
		return false
	}
	share := deviationsOfTop(v, topOf(v), func(x float64) float64 { return x })
	return share > tailMost && !(deviationsOfTop(v, topOf(v), math.Log) > share/2)
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
