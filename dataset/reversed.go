package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/internal/text"
)

// The labels of a source run against those of the others where features say the opposite of what they say there. For each source and
// output, b is a ridge regression of the labels on the features within the source, and v the mean b of the other sources. r is the
// correlation of the labels with what v says of the rows of the source, and alike that of what v and b say of them. The source is listed
// where r is negative, by a t-test at reversedFar, and at least half as large as the median r of the others, and where alike is negative
// too, and at least reversedAlike times the median of the others, and so far from 0 that a random direction of the features has it with a
// probability of reversedChance at most, over all sources: its labels follow v turned around, and not something else, which in a table of
// four columns cannot be told. The others here are those whose r is positive, by a t-test at reversedNear, so that the direction of v is
// known: they must be reversedOthers or more, half of all others, and reversedMost of those whose r differs from 0.
//
// Of three or more classes, one class alone may have a direction of its own by chance, as where a source has another embedding. A scale
// that is turned around turns the classes at both ends. So r must be negative, at reversedNear, and at least half as large as the median of
// the others for two classes and for half of those of which there are such others.
const (
	reversedFar    = 4.5
	reversedNear   = 2.5
	reversedAlike  = 0.8
	reversedChance = 0.02
	reversedMost   = 0.75
	reversedOthers = 3
	// reversedLeast is the least number of labels, and reversedCells about the number of cells that are looked at, in rows spread over all.
	reversedLeast = 20
	reversedCells = 1 << 24
	// reversedLines is the largest number of sources that are listed, the furthest first.
	reversedLines = 3
)

// labelSlopes is the regression of the labels of a task in some of its rows.
type labelSlopes struct {
	task   *Task
	n      float64    // how many independent rows there are
	z      *mat.Dense // the rows less their mean, in standard deviations
	y      []float64  // the labels, in the same way
	slopes *mat.VecDense
	// r is the correlation of v'z with the labels, and alike with b'z.
	r, alike float64
}

// t is the t-statistic of r.
func (l *labelSlopes) t() float64 { return tOf(l.r, l.n) }

// byChance returns the probability that a random direction in the space of the rows lies at least as far from v as b does, for b on its
// other side. The space counts as (sum e)^2 / sum e^2 dimensions, e being the eigenvalues of the correlations of the features, without what
// few rows add to the latter.
func (l *labelSlopes) byChance() float64 {
	const most = 256
	n, d := l.z.Dims()
	rows := l.z.Slice(0, min(n, most), 0, d)
	n, _ = rows.Dims()
	var products mat.Dense
	products.Mul(rows, rows.T())
	square, trace := 0.0, 0.0
	for i := range n {
		trace += products.At(i, i) / float64(n)
		for j := range i {
			square += products.At(i, j) * products.At(i, j) / float64(n*(n-1)) * 2
		}
	}
	dimensions := max(1.01, trace*trace/math.Max(square, 1e-300))
	return mathext.RegIncBeta((dimensions-1)/2, 0.5, 1-l.alike*l.alike) / 2
}

// reversed lists the sources, and targets, whose labels run against those of the others.
func (s *Set) reversed() (out []Oddity) {
	most := reversedCells / max(1, len(s.Tasks)*s.Pools[0].Cols)
	var outputs []Output
	of := map[Output][]*Task{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		other := s.otherClass(t.Output)
		if t.Labels == nil || t.Output == (Output{}) || other != "" && of[Output{t.Output.Name, other}] != nil {
			continue
		}
		if of[t.Output] == nil {
			outputs = append(outputs, t.Output)
		}
		of[t.Output] = append(of[t.Output], t)
	}
	var found []against
	compared, turned, classes := map[placed]int{}, map[placed]int{}, map[string]int{}
	for _, o := range outputs {
		if classes[o.Name]++; len(of[o]) <= reversedOthers {
			continue
		}
		var all []*labelSlopes
		for _, t := range of[o] {
			if l := s.slopesOf(t, most); l != nil {
				all = append(all, l)
			}
		}
		compareSlopes(all)
		for i := range all {
			a := newAgainst(all, i)
			if a == nil {
				continue
			}
			at := placed{a.task.Pool, o.Name}
			compared[at]++
			if a.runs() {
				turned[at]++
			}
			if a.surely(len(all)) {
				a.z = nil // what is found is kept without its rows
				found = append(found, *a)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b against) int { return cmp.Compare(a.t(), b.t()) })
	named := map[placed]bool{}
	found = slices.DeleteFunc(found, func(a against) bool { // of two classes, or of a scale, one says it
		at := placed{a.task.Pool, a.task.Output.Name}
		again := named[at]
		named[at] = true
		return again || turned[at] < min(2, classes[at.column]) || 2*turned[at] < compared[at]
	})
	advice := "see whether they mean the opposite, as of a scale from best to worst"
	if !s.featuresNamed() {
		advice = "see whether they mean the opposite, as of a scale from best to worst, or its features do, as of inverted images"
	}
	for _, a := range found[:min(len(found), reversedLines)] {
		out = append(out, Oddity{s.Pools[a.task.Pool].Name, fmt.Sprintf("its labels%s run against those of %d of %s: what goes with more of "+
			"them there goes with less here (a correlation of %.2f with what these predict, %.2f there)", inColumn(a.task.Output.Name), a.with,
			text.Several(a.others, "other source"), a.r, a.usual), advice})
	}
	if more := len(found) - reversedLines; more > 0 {
		out = append(out, Oddity{"", fmt.Sprintf("%s whose labels run against those of the others", text.Several(more, "more source")),
			"see what they mean there"})
	}
	return out
}

// placed is a column of labels in one pool.
type placed struct {
	pool   int
	column string
}

// against compares a source with so many others, of which the labels of some are like each other.
type against struct {
	*labelSlopes
	others, with      int
	usual, usualAlike float64 // the median r and alike of the latter
}

// newAgainst returns nil where too few of the others are like each other.
func newAgainst(all []*labelSlopes, at int) *against {
	var r, alike []float64
	unlike := 0
	for i, other := range all {
		if i == at {
			continue
		}
		switch t := other.t(); {
		case t > reversedNear:
			r, alike = append(r, other.r), append(alike, other.alike)
		case t < -reversedNear:
			unlike++
		}
	}
	with := len(r)
	if with < max(reversedOthers, len(all)/2) || float64(with) < reversedMost*float64(with+unlike) {
		return nil
	}
	slices.Sort(r)
	slices.Sort(alike)
	return &against{all[at], len(all) - 1, with, quantile(r, 0.5), quantile(alike, 0.5)}
}

// runs reports whether the labels run against those of the others, perhaps by chance.
func (a *against) runs() bool { return a.t() < -reversedNear && a.r <= -a.usual/2 }

// surely reports whether they do so beyond chance among so many sources.
func (a *against) surely(sources int) bool {
	return a.runs() && a.t() <= -reversedFar && a.alike <= -reversedAlike*a.usualAlike && float64(sources)*a.byChance() <= reversedChance
}

// slopesOf returns the ridge regression of labels on features in at most so many rows to draw from, or nil where there are too few.
func (s *Set) slopesOf(t *Task, most int) *labelSlopes {
	p, rows := s.Pools[t.Pool], spread(t.Train, most)
	if len(rows) < reversedLeast {
		return nil
	}
	l := &labelSlopes{task: t, n: p.independent(rows), y: t.labelsOf(rows)}
	mean, variance := stat.PopMeanVariance(l.y, nil)
	if !(variance > 0) {
		return nil
	}
	for i := range l.y {
		l.y[i] = (l.y[i] - mean) / math.Sqrt(variance)
	}
	l.z = p.standardized(rows, s.base(p))
	slopes := ridgeSlopes(l.z, mat.NewDense(len(rows), 1, l.y), l.n)
	if slopes == nil {
		return nil
	}
	l.slopes = mat.NewVecDense(len(slopes.RawMatrix().Data), slopes.RawMatrix().Data)
	return l
}

// compareSlopes sets r and alike of the regressions of an output in all pools.
func compareSlopes(all []*labelSlopes) {
	if len(all) <= reversedOthers {
		return
	}
	sum := mat.NewVecDense(all[0].slopes.Len(), nil)
	for _, l := range all {
		sum.AddVec(sum, l.slopes)
	}
	var v, others, own mat.VecDense
	for _, l := range all {
		v.SubVec(sum, l.slopes)
		others.Reset()
		own.Reset()
		others.MulVec(l.z, &v)
		own.MulVec(l.z, l.slopes)
		l.r, l.alike = correlationOr0(others.RawVector().Data, l.y), correlationOr0(others.RawVector().Data, own.RawVector().Data)
	}
}

func correlationOr0(x, y []float64) float64 {
	if r := stat.Correlation(x, y, nil); r == r {
		return r
	}
	return 0
}
