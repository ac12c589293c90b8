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

// Tailed lists the columns of labels whose squared error is of a few rows alone, as [Set.Oddities] does.
func (s *Set) Tailed() []Oddity {
	if s.Binary {
		return nil
	}
	return tailedLabels(s.labelNumbers())
}

// tailedLabels lists the columns of numbers that have a heavy tail. It sorts the values.
func tailedLabels(columns []string, values map[string][]float64) []Oddity {
	var out []Oddity
	for _, column := range columns {
		v := values[column]
		if slices.Sort(v); len(v) < tailLeast || v[0] <= 0 {
			continue
		}
		top, n := (len(v)+tailPart-1)/tailPart, len(v)
		share := deviationsOfTop(v, top, func(x float64) float64 { return x })
		if !(share > tailMost) || deviationsOfTop(v, top, math.Log) > share/2 {
			continue
		}
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
