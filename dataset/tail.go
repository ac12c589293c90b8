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
	if s.Binary || !s.mayBeTailed() {
		return nil
	}
	return tailedLabels(s.labelNumbers())
}

// mayBeTailed says, without the memory and the time that sorting takes, whether the labels of some column can have a heavy tail. The
// largest k of n numbers have at most (k sum d^4)^1/2 of the squared deviations d^2 from the mean (Cauchy and Schwarz).
func (s *Set) mayBeTailed() bool {
	type sums struct{ n, y, squares, fourths float64 }
	of := map[string]*sums{}
	each := func(do func(c *sums, y float64)) {
		for i := range s.Tasks {
			t := &s.Tasks[i]
			c := of[t.Output.Name]
			if c == nil {
				c = new(sums)
				of[t.Output.Name] = c
			}
			for r := range t.labelledRows {
				do(c, float64(t.Labels[r]))
			}
		}
	}
	each(func(c *sums, y float64) { c.n, c.y = c.n+1, c.y+y })
	each(func(c *sums, y float64) {
		d := (y - c.y/c.n) * (y - c.y/c.n)
		c.squares, c.fourths = c.squares+d, c.fourths+d*d
	})
	for _, c := range of {
		if top := math.Ceil(c.n / tailPart); top*c.fourths > tailMost*tailMost*c.squares*c.squares {
			return true
		}
	}
	return false
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
