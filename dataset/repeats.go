package dataset

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
)

const (
	// repeatCells is the largest number of features of the labelled rows of a pool that are looked at for repeated rows.
	repeatCells = 1 << 26
	// ownValues is the number of features of which nearly each of some rows has a value of its own that shows that rows are
	// not equal by chance, and ownRows the largest number of rows that are looked at for that.
	ownValues, ownRows = 4, 500
	// repeatTimes is how many times as many pairs of equal rows there must be as chance can give for rows to be copies, where
	// features have fewer values. halfLeast and halfRows are the least and the largest number of rows that [Set.halfAlike]
	// compares, and leastDifferent is the least part of the rows that differ from those before.
	repeatTimes         = 4
	halfLeast, halfRows = 10, 2000
	leastDifferent      = 0.25
	// manyEqual is the number of equal rows from which on their labels are looked at: where these vary at least unlikeLabels
	// times as much as those of all rows, the rows have nothing in common, and may lack their features. Where they are more
	// than aloneTimes as many as any other equal rows, it is aloneLabels times.
	manyEqual, unlikeLabels = 5, 0.5
	aloneTimes, aloneLabels = 3, 0.1
)

// GroupsOf returns the groups of the rows of a pool with labelled rows that are copies of each other in one group: its
// Groups, joined where rows of two are copies, or nil where each row is on its own. Rows are copies where their features
// are equal or, in vectors that are not part of a table, differ by rounding alone; where this is too frequent for chance;
// and where, of five equal rows or more, the labels are alike. So are near copies: rows that lie so much nearer to each
// other than to any other row as chance does not bring them ([distances.unlikely]). Where there are no copies, or all
// labelled rows would be one group, the result is Groups itself.
func (s *Set) GroupsOf(pool int) []int32 { return s.joined(pool, s.copiesOf(pool)) }

// joined returns the groups of a pool, joined where rows of two are copies.
func (s *Set) joined(pool int, rows []copied) []int32 {
	p := s.Pools[pool]
	if len(rows) == 0 {
		return p.Groups
	}
	groups, members, next := slices.Repeat([]int32{-1}, p.Rows), map[int32][]int32{}, int32(0)
	for r, g := range p.Groups {
		if groups[r] = g; g >= 0 {
			members[g], next = append(members[g], int32(r)), max(next, g+1)
		}
	}
	for _, c := range rows {
		to, from := groups[c.as], groups[c.row]
		if to < 0 {
			to, next = next, next+1
			groups[c.as], members[to] = to, []int32{c.as}
		}
		switch {
		case from < 0:
			groups[c.row], members[to] = to, append(members[to], c.row)
		case from != to:
			for _, r := range members[from] {
				groups[r] = to
			}
			members[to] = append(members[to], members[from]...)
		}
	}
	labelled := s.labelledRowsOf(pool)
	first := groups[labelled[0]]
	if !slices.ContainsFunc(labelled, func(r int32) bool { return groups[r] < 0 || groups[r] != first }) {
		return p.Groups
	}
	return groups
}

// labelledRowsOf returns the rows of a pool that are in Train or Test of any task, ascending.
func (s *Set) labelledRowsOf(pool int) []int32 {
	train, test := s.LabelledRows(pool)
	rows := slices.Concat(train, test)
	slices.Sort(rows)
	return slices.Compact(rows)
}

// copied is a row with the features of an earlier one, or a near copy of it.
type copied struct {
	row, as int32
	apart   float64 // how many times as far as from each other the nearest other row is from near copies, 0 for copies
}

// copiesOf returns the labelled rows of a pool that are copies of an earlier row, as GroupsOf says, with such a row.
func (s *Set) copiesOf(pool int) (rows []copied) {
	p, labelled := s.Pools[pool], s.labelledRowsOf(pool)
	if len(labelled)*p.Cols > repeatCells {
		return nil
	}
	equal, different := p.equalRows(labelled)
	vectors := !s.featuresNamed() && len(p.U8) == 0
	if len(different) == len(labelled) && len(p.U8) > 0 {
		return nil
	}
	own, pairs := s.ownValues(p, different) >= ownValues, 0.
	vary := sync.OnceValue(func() func([]int32) float64 { return s.labelsVary(pool, labelled) })
	var sizes []int
	for _, same := range equal {
		sizes = append(sizes, len(same))
	}
	slices.Sort(sizes)
	for _, same := range equal {
		n, least := float64(len(same)), unlikeLabels
		pairs += n * (n - 1) / 2
		if k := len(sizes); k > 1 && len(same) > aloneTimes*sizes[k-2] {
			least = aloneLabels
		}
		if len(same) >= manyEqual && vary()(same) >= least {
			continue
		}
		for _, r := range same[1:] {
			rows = append(rows, copied{row: r, as: same[0]})
		}
	}
	if n := float64(len(labelled)); !own && len(rows) > 0 && (float64(len(different)) < leastDifferent*n ||
		pairs <= repeatTimes*s.halfAlike(p, different)*n*(n-1)/2) {
		return nil
	}
	if own && vectors {
		again := p.near(different)
		rows, different = append(rows, again...), notCopied(different, again)
	}
	if len(p.U8) == 0 && (own || vectors) {
		rows = append(rows, s.nearCopies(p, different, vary)...)
	}
	slices.SortFunc(rows, func(a, b copied) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.as, b.as)) })
	return rows
}

// equalRows returns rows of a pool by the hash of their features, and the first of each features.
func (p *Pool) equalRows(rows []int32) (equal map[uint64][]int32, different []int32) {
	equal = make(map[uint64][]int32, len(rows))
	var bits []byte
	for _, r := range rows {
		bits = p.appendBits(bits[:0], int(r))
		h := xxhash.Sum64(bits)
		if equal[h] == nil {
			different = append(different, r)
		}
		equal[h] = append(equal[h], r)
	}
	return equal, different
}

// labelsVary returns a function that says how much the labels of some of the given rows of a pool vary: their variance
// divided by that of the labels of all of them, a mean over tasks, 0 where these do not vary.
func (s *Set) labelsVary(pool int, all []int32) func(rows []int32) float64 {
	var tasks []*Task
	var variances []float64
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Pool == pool && len(t.Labels) > 0 {
			if v, n := t.variance(all); n > 0 && v > 0 {
				tasks, variances = append(tasks, t), append(variances, v)
			}
		}
	}
	return func(rows []int32) float64 {
		within, whole := 0., 0.
		for k, t := range tasks {
			if v, n := t.variance(rows); n > 1 {
				within, whole = within+v/variances[k]*float64(n)/float64(n-1), whole+1
			}
		}
		return within / max(1, whole)
	}
}

// variance returns the variance of the labels that some rows have, and their number.
func (t *Task) variance(rows []int32) (variance float64, n int) {
	mean, square := 0., 0.
	for _, r := range rows {
		if v := float64(t.Labels[r]); v == v {
			n++
			delta := v - mean
			mean += delta / float64(n)
			square += delta * (v - mean)
		}
	}
	return square / float64(max(1, n)), n
}

// base returns the number of the first features that are not computed from others.
func (s *Set) base(p *Pool) int {
	if s.featuresNamed() {
		return s.Columns.read()
	}
	return p.Cols
}

// ownValues returns the number of features, up to ownValues, of which nine tenths of some rows that differ have a value of
// their own. It is 0 for fewer rows than there must be groups to tell anything.
func (s *Set) ownValues(p *Pool, rows []int32) (n int) {
	rows = rows[:min(len(rows), ownRows)]
	if len(rows) < FewestSamples {
		return 0
	}
	values := make([]float32, len(rows))
	for j := 0; j < s.base(p) && n < ownValues; j++ {
		if p.own(rows, j, values) {
			n++
		}
	}
	return n
}

// own reports whether nine tenths of some rows have a value of their own of a feature. It overwrites values, which has room for them.
func (p *Pool) own(rows []int32, feature int, values []float32) bool {
	values = values[:len(rows)]
	for i, r := range rows {
		values[i] = p.feature(int(r)*p.Cols + feature)
	}
	slices.Sort(values)
	return 10*len(slices.Compact(values)) >= 9*len(rows)
}

// halfAlike returns the part of the pairs of the given rows, which differ from each other, that are equal in the even or in
// the odd features, whichever is less: of the features that vary and, in a table, are no others' knots and products.
// Independent rows are equal in all features no more often. It is 1 where there are too few features or rows to tell.
func (s *Set) halfAlike(p *Pool, rows []int32) float64 {
	var features []int
	if rows = rows[:min(len(rows), halfRows)]; len(rows) < halfLeast {
		return 1
	}
	for j := range s.base(p) {
		first := p.feature(int(rows[0])*p.Cols + j)
		if slices.ContainsFunc(rows[1:], func(r int32) bool { return p.feature(int(r)*p.Cols+j) != first }) {
			features = append(features, j)
		}
	}
	if len(features) < 2 {
		return 1
	}
	seed, least := maphash.MakeSeed(), 1.
	for first := range 2 {
		var h maphash.Hash
		h.SetSeed(seed)
		pairs, seen := 0, map[uint64]int{}
		for _, r := range rows {
			h.Reset()
			for k := first; k < len(features); k += 2 {
				maphash.WriteComparable(&h, p.feature(int(r)*p.Cols+features[k]))
			}
			key := h.Sum64()
			pairs += seen[key]
			seen[key]++
		}
		n := float64(len(rows))
		least = min(least, float64(pairs)/(n*(n-1)/2))
	}
	return least
}

// appendBits appends bytes to raw that are the same for rows of p with the same features alone.
func (p *Pool) appendBits(raw []byte, r int) []byte {
	if len(p.U8) > 0 {
		return append(raw, p.U8[r*p.Cols:(r+1)*p.Cols]...)
	}
	return p.appendRow(raw, r)
}
