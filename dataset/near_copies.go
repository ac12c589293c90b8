package dataset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// nearWork is the largest number of multiplications for the distances between the rows that near copies are looked for among, such as
	// of 2,300 rows of 768 features, and nearMost the largest number of rows. Of more rows none are near copies.
	nearWork, nearMost = 1 << 32, 4096
	// nearTimes is how many times as far as from each other near copies must be from any other row.
	nearTimes = 3
	// nearPartOfAll is the largest part of the rows that one set of near copies may be.
	nearPartOfAll = 0.2
	// nearClass is the part of the rows of a class, of nearClassRows or more, from which on rows are the class.
	nearClass, nearClassRows = 0.8, 3
)

// nearCopies returns the near copies among some rows of a pool, which differ from each other, with the first row of each set of them. In a
// table they are near in the columns that have a value of their own in most rows, each divided by the range of the middle half of its
// values, and equal in all others. Vectors are compared as they are.
//
// Of five near copies or more the labels must be alike, as those of equal rows. There are none where they would leave less than a quarter
// of the rows, nor where most of them are all rows of a class: classes that lie tight and far from each other are no copies.
func (s *Set) nearCopies(p *Pool, rows []int32, vary func() func([]int32) float64) (found []copied) {
	n := len(rows)
	columns, equal := s.compared(p, rows)
	if n > nearMost || n*n*len(columns) > nearWork || n < fewestRatios {
		return nil
	}
	d := newDistances(p, rows, columns, s.featuresNamed())
	if d == nil {
		return nil
	}
	sets := d.isolated()
	left := n
	for _, set := range sets {
		left -= len(set.rows) - 1
	}
	if len(sets) == 0 || float64(left) < leastDifferent*float64(n) {
		return nil
	}
	sets = d.unlikely(sets)
	classes, whole, all := s.classesOf(p, rows), 0, 0
	for _, set := range sets {
		of := make([]int32, len(set.rows))
		for i, at := range set.rows {
			of[i] = rows[at]
		}
		slices.Sort(of)
		if all += len(of); classes.whole(of) {
			whole += len(of)
		}
		alike := func(r int32) bool {
			return !slices.ContainsFunc(equal, func(j int) bool {
				return p.feature(int(r)*p.Cols+j) != p.feature(int(of[0])*p.Cols+j)
			})
		}
		if len(of) >= manyEqual && vary()(of) >= unlikeLabels || slices.ContainsFunc(of, func(r int32) bool { return !alike(r) }) {
			continue
		}
		for _, r := range of[1:] {
			found = append(found, copied{r, of[0], min(set.apart/set.across, 1e6)})
		}
	}
	if 2*whole > all {
		return nil
	}
	return found
}

// compared returns the features in which near copies are near, and those in which they are equal.
func (s *Set) compared(p *Pool, rows []int32) (near, equal []int) {
	if !s.featuresNamed() {
		return upTo[int](p.Cols), nil
	}
	values, few := make([]float32, len(rows)), rows[:min(len(rows), ownRows)]
	for j := range s.base(p) {
		if p.own(few, j, values) {
			near = append(near, j)
		} else {
			equal = append(equal, j)
		}
	}
	return near, equal
}

// notCopied returns the rows that are not near copies of earlier ones.
func notCopied(rows []int32, again []copied) []int32 {
	is := map[int32]bool{}
	for _, c := range again {
		is[c.row] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r int32) bool { return is[r] })
}

// classRows lists the labelled rows of classes: those with label 1 of each task, and those with label 0.
type classRows []map[int32]bool

// classesOf returns the classes of some rows of a pool, none where labels are numbers or yet to be asked for.
func (s *Set) classesOf(p *Pool, rows []int32) (classes classRows) {
	for i := range s.Tasks {
		if t := &s.Tasks[i]; s.Binary && s.Pools[t.Pool] == p && len(t.Labels) > 0 {
			var of [2]map[int32]bool
			for label := range of {
				of[label] = map[int32]bool{}
				for _, r := range rows {
					if t.Labels[r] == float32(label) {
						of[label][r] = true
					}
				}
				classes = append(classes, of[label])
			}
		}
	}
	return classes
}

// whole reports whether rows have most rows of a class.
func (c classRows) whole(rows []int32) bool {
	return slices.ContainsFunc(c, func(class map[int32]bool) bool {
		n := 0
		for _, r := range rows {
			if class[r] {
				n++
			}
		}
		return len(class) >= nearClassRows && float64(n) >= nearClass*float64(len(class))
	})
}

// distances are those between n rows.
type distances struct {
	n       int
	columns int           // the number of features
	gram    *mat.SymDense // (n, n): the products of the rows less their mean
}

// newDistances returns the Euclidean distances of rows of a pool in some features, with scale each divided by the range of the middle half
// of its values. It returns nil where they are not finite.
func newDistances(p *Pool, rows []int32, columns []int, scale bool) *distances {
	n, values := len(rows), make([]float64, len(rows))
	x := mat.NewDense(n, max(1, len(columns)), nil)
	for k, j := range columns {
		mean := 0.
		for i, r := range rows {
			values[i] = float64(p.feature(int(r)*p.Cols + j))
		}
		unit := 1.
		if scale {
			sorted := slices.Sorted(slices.Values(values))
			unit = sorted[3*n/4] - sorted[n/4]
		}
		if scale && unit == 0 {
			continue
		}
		for _, v := range values {
			mean += v / float64(n)
		}
		for i, v := range values {
			x.Set(i, k, (v-mean)/unit)
		}
	}
	d := &distances{n, len(columns), mat.NewSymDense(n, nil)}
	d.gram.SymOuterK(1, x)
	if trace := mat.Trace(d.gram); math.IsNaN(trace) || math.IsInf(trace, 0) {
		return nil
	}
	return d
}

// between returns the distance of two rows.
func (d *distances) between(a, b int) float64 {
	return math.Sqrt(max(0, d.gram.At(a, a)+d.gram.At(b, b)-2*d.gram.At(a, b)))
}
