package dataset

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/text"
)

// Labels of three classes or more mean something else in a source where its rows of one class look like those of another class elsewhere.
// With b the ridge regression of one class on the features within a source, and v the mean b of the other sources, r(a, c) is the
// correlation of class a in the source with what v of class c says of its rows, and usual(c) the median of r(c, c) over the other sources,
// at least exchangedOthers and half of all, where it is positive by a t-test at exchangedNear. Class a means c there where r(a, c) is its
// largest, at least exchangedAlike times usual(c), and beyond r(a, a) by Fisher's z at exchangedFar. Nearly all classes of the source,
// exchangedTold of them or more and at least three, must mean another or themselves. In a source whose features are unlike those of the
// others, classes may look like any others by chance. So the source is listed only where classes that mean others mean each other, half as
// many or more meaning themselves, or where all mean the class before, or after, as where they are counted from 1 and not from 0.
const (
	exchangedNear   = 2.5
	exchangedFar    = 4
	exchangedAlike  = 0.6
	exchangedTold   = 0.75
	exchangedOthers = 3
	// exchangedLeast is the least number of rows of a class, and exchangedCells about the number of cells that are looked at, of the rows of
	// all sources and of the regressions.
	exchangedLeast = 8
	exchangedCells = 1 << 23
	// exchangedLines is the largest number of sources that are listed.
	exchangedLines = 3
)

// classSlopes are the regressions of the classes of a column of labels in one pool.
type classSlopes struct {
	pool   int
	n      float64    // how many independent rows there are
	z      *mat.Dense // (n, d)
	y      *mat.Dense // (n, classes): whether each row is of each class, standardised
	rows   []int      // by class
	slopes *mat.Dense // (d, classes)
	r      *mat.Dense // (classes, classes): the correlations r
}

// otherMeanings lists what reversed and exchanged find, a source once.
func (s *Set) otherMeanings() []Oddity {
	out := s.reversed()
	turned := slices.Clone(out)
	for _, o := range s.exchanged() {
		if !slices.ContainsFunc(turned, func(t Oddity) bool { return t.Pool == o.Pool }) {
			out = append(out, o)
		}
	}
	return out
}

// exchanged lists the sources, and targets, in which classes have the meaning of others.
func (s *Set) exchanged() (out []Oddity) {
	if s.Columns == nil {
		return nil
	}
	for _, l := range s.Columns.Labels {
		if len(l.Classes) < 3 {
			continue
		}
		all := s.classSlopes(l)
		compareClasses(all, len(l.Classes))
		for i, of := range all {
			if means := meanings(all, i); means != nil {
				out = append(out, Oddity{s.Pools[of.pool].Name, fmt.Sprintf("its classes%s look like others do elsewhere: %s",
					inColumn(l.Name), exchangedNames(means, l.Classes)), "see whether labels mean the same there"})
			}
		}
	}
	if more := len(out) - exchangedLines; more > 0 {
		out = append(out[:exchangedLines], Oddity{"", fmt.Sprintf("%s in which classes look like others", text.Several(more, "more source")),
			"see what labels mean there"})
	}
	return out
}

// inColumn names a column of labels, if it has a name.
func inColumn(name string) string {
	if name == "" {
		return ""
	}
	return " of " + text.OneLine(name, 80)
}

// exchangedNames says which classes mean which.
func exchangedNames(means map[int]int, classes []string) string {
	var parts []string
	for a := range classes {
		c, is := means[a]
		back, both := means[c]
		switch both = both && back == a; {
		case !is || both && c < a:
		case both:
			parts = append(parts, fmt.Sprintf("%s and %s are exchanged", text.OneLine(classes[a], 40), text.OneLine(classes[c], 40)))
		default:
			parts = append(parts, fmt.Sprintf("%s is %s", text.OneLine(classes[a], 40), text.OneLine(classes[c], 40)))
		}
	}
	return text.List(parts, mostNames)
}

// classSlopes returns the regressions of a column of labels in each pool with labels of two classes or more.
func (s *Set) classSlopes(l LabelColumn) (all []*classSlopes) {
	of, pools := map[int][]*Task{}, []int{}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Output.Name != l.Name || t.Output.Class == "" || t.Labels == nil {
			continue
		}
		if of[t.Pool] == nil {
			pools = append(pools, t.Pool)
			of[t.Pool] = make([]*Task, len(l.Classes))
		}
		if c := slices.Index(l.Classes, t.Output.Class); c >= 0 {
			of[t.Pool][c] = t
		}
	}
	cols := s.base(s.Pools[0])
	if len(pools) <= exchangedOthers || len(pools)*len(l.Classes)*cols > exchangedCells {
		return nil
	}
	for _, pool := range pools {
		if c := s.newClassSlopes(pool, of[pool], exchangedCells/len(pools)/cols); c != nil {
			all = append(all, c)
		}
	}
	return all
}

// newClassSlopes takes the tasks of a pool by class, nil for a class without one, and at most so many rows to draw from. It returns nil
// where there are too few rows of two classes.
func (s *Set) newClassSlopes(pool int, tasks []*Task, most int) *classSlopes {
	class := map[int32]int{}
	for k, t := range tasks {
		if t == nil {
			continue
		}
		for _, r := range t.Train {
			if t.Labels[r] == 1 {
				class[r] = k
			}
		}
	}
	var rows []int32
	for r := range class {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	if rows = spread(rows, most); len(rows) < reversedLeast {
		return nil
	}
	p := s.Pools[pool]
	c := &classSlopes{pool: pool, n: p.independent(rows), y: mat.NewDense(len(rows), len(tasks), nil), rows: make([]int, len(tasks))}
	for i, r := range rows {
		c.y.Set(i, class[r], 1)
		c.rows[class[r]]++
	}
	enough := 0
	for _, n := range c.rows {
		enough += bit(n >= exchangedLeast)
	}
	if enough < 2 {
		return nil
	}
	standardize(c.y)
	c.z = p.standardized(rows, s.base(p))
	if c.slopes = ridgeSlopes(c.z, c.y, c.n); c.slopes == nil {
		return nil
	}
	return c
}

// compareClasses sets the correlations of each pool with what the others say. A class that no other pool has has none.
func compareClasses(all []*classSlopes, classes int) {
	if len(all) <= exchangedOthers {
		return
	}
	var sum mat.Dense
	sum.CloneFrom(all[0].slopes)
	for _, c := range all[1:] {
		sum.Add(&sum, c.slopes)
	}
	for _, c := range all {
		var others, told mat.Dense
		others.Sub(&sum, c.slopes)
		told.Mul(c.z, &others)
		standardize(&told)
		c.r = mat.NewDense(classes, classes, nil)
		c.r.Mul(c.y.T(), &told)
		n, _ := c.y.Dims()
		c.r.Scale(1/float64(n), c.r)
	}
}

// meanings returns what the classes of a pool mean that do not mean themselves, by class, or nil where all do or where it cannot be told.
func meanings(all []*classSlopes, at int) map[int]int {
	c := all[at]
	if c.r == nil {
		return nil
	}
	usual := make([]float64, len(c.rows))
	for k := range usual {
		usual[k] = usualOfClass(all, at, k)
	}
	present, same, means := 0, 0, map[int]int{}
	for a, rows := range c.rows {
		if rows < exchangedLeast {
			continue
		}
		present++
		best := -1
		for k := range usual {
			if usual[k] > 0 && (best < 0 || c.r.At(a, k) > c.r.At(a, best)) {
				best = k
			}
		}
		switch {
		case best < 0 || c.r.At(a, best) < exchangedAlike*usual[best]:
		case best == a:
			same++
		case (fisher(c.r.At(a, best))-fisher(c.r.At(a, a)))*math.Sqrt(math.Max(0, c.n-3)/2) > exchangedFar:
			means[a] = best
		}
	}
	told := same + len(means)
	if len(means) < 2 || told < 3 || float64(told) < exchangedTold*float64(present) || !(eachOther(means) && 2*same >= len(means) ||
		same == 0 && oneOn(means)) {
		return nil
	}
	return means
}

// eachOther reports whether the classes that mean others are those that are meant.
func eachOther(means map[int]int) bool {
	meant := map[int]bool{}
	for _, k := range means {
		if _, is := means[k]; !is || meant[k] {
			return false
		}
		meant[k] = true
	}
	return true
}

// oneOn reports whether each class means the one before it, or each the one after it.
func oneOn(means map[int]int) bool {
	steps := map[int]bool{}
	for a, k := range means {
		steps[k-a] = true
	}
	return len(steps) == 1 && (steps[1] || steps[-1])
}

// usualOfClass returns the median correlation of a class in other pools with what the others say of it, or 0 where too few show it.
func usualOfClass(all []*classSlopes, at, class int) float64 {
	var r []float64
	others := 0
	for i, c := range all {
		if i == at || c.rows[class] < exchangedLeast {
			continue
		}
		others++
		if v := c.r.At(class, class); tOf(v, c.n) > exchangedNear {
			r = append(r, v)
		}
	}
	if len(r) < exchangedOthers || 2*len(r) < others {
		return 0
	}
	slices.Sort(r)
	return quantile(r, 0.5)
}

// fisher is the variance-stabilising transformation of a correlation (Fisher 1915).
func fisher(r float64) float64 { return math.Atanh(math.Max(-0.999999, math.Min(0.999999, r))) }
