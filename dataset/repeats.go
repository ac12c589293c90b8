package dataset

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// repeatCells is the largest number of features of the labelled rows of a pool that are looked at for repeated rows.
	repeatCells = 1 << 26
	// repeatTimes is how many times as many pairs of equal rows there must be as chance can give for rows to be copies.
	repeatTimes = 4
	// halfLeast and halfRows are the least and the largest number of rows that [Set.halfAlike] compares, and leastDifferent is
	// the least part of the rows that differ from those before where rows are copies: more equal rows have few values.
	halfLeast, halfRows = 10, 2000
	leastDifferent      = 0.25
	// nearPart is the part of a feature's standard deviation by which copies may differ, nearRows the largest number of rows
	// that such copies are looked for among, and nearLeast the least number of features of which most rows have a value of
	// their own.
	nearPart, nearRows, nearLeast = 1e-3, 20_000, 4
)

// GroupsOf returns the groups of the rows of a pool with labelled rows that are copies of each other in one group: its
// Groups, joined where rows of two are copies, or nil where each row is on its own. Rows are copies where their features
// are equal, or no two of them further apart than a thousandth of the feature's standard deviation, as in vectors of a text
// that were computed twice, and where this is too frequent for chance, by the part of the pairs of different rows that are
// equal in every other feature. Where there are no copies, the result is Groups itself.
func (s *Set) GroupsOf(pool int) []int32 {
	p, rows := s.Pools[pool], s.copiesOf(pool)
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
	return groups
}

// copied is a row with the features of an earlier one.
type copied struct{ row, as int32 }

// copiesOf returns the labelled rows of a pool that are copies of an earlier row, as GroupsOf says, with such a row.
func (s *Set) copiesOf(pool int) (rows []copied) {
	p := s.Pools[pool]
	train, test := s.LabelledRows(pool)
	labelled := slices.Concat(train, test)
	slices.Sort(labelled)
	if labelled = slices.Compact(labelled); len(labelled)*p.Cols > repeatCells {
		return nil
	}
	type rowsAlike struct {
		first int32
		n     float64
	}
	alike := make(map[uint64]*rowsAlike, len(labelled)) // by the hash of their features
	var different []int32
	var bits []byte
	pairs := 0.
	for _, r := range labelled {
		bits = p.appendBits(bits[:0], int(r))
		if of := alike[xxhash.Sum64(bits)]; of != nil {
			rows, pairs = append(rows, copied{r, of.first}), pairs+of.n
			of.n++
			continue
		}
		alike[xxhash.Sum64(bits)], different = &rowsAlike{r, 1}, append(different, r)
	}
	// byChance reports whether chance gives so many pairs, of rows that are equal or no further apart than most.
	byChance := func(pairs float64, different []int32, most []float64) bool {
		n := float64(len(labelled))
		return float64(len(different)) < leastDifferent*n || pairs <= repeatTimes*s.halfAlike(p, different, most)*n*(n-1)/2
	}
	if len(rows) > 0 && byChance(pairs, different, nil) {
		return nil
	}
	if len(different) > nearRows || p.continuous(different) < nearLeast { // rows may be near by chance
		return rows
	}
	most := p.nearest(different)
	near, again := p.near(different, most), map[int32]bool{}
	for _, c := range near {
		again[c.row] = true
	}
	different = slices.DeleteFunc(different, func(r int32) bool { return again[r] })
	if len(near) > 0 && !byChance(float64(len(near)), different, most) {
		rows = append(rows, near...)
	}
	return rows
}

// continuous returns the number of features, up to nearLeast, of which more than half of some rows have a value of their own. Pixels
// have none.
func (p *Pool) continuous(rows []int32) (n int) {
	values := make([]float32, len(rows))
	for j := 0; j < p.Cols && n < nearLeast && len(p.U8) == 0; j++ {
		for i, r := range rows {
			values[i] = p.feature(int(r)*p.Cols + j)
		}
		slices.Sort(values)
		if different := slices.Compact(values); 2*len(different) > len(rows) {
			n++
		}
	}
	return n
}

// nearest returns nearPart of the standard deviation of each feature of some rows.
func (p *Pool) nearest(rows []int32) []float64 {
	most := make([]float64, p.Cols)
	for j := range most {
		mean, square := 0., 0.
		for i, r := range rows {
			v := float64(p.feature(int(r)*p.Cols + j))
			delta := v - mean
			mean += delta / float64(i+1)
			square += delta * (v - mean)
		}
		most[j] = nearPart * math.Sqrt(square/float64(len(rows)))
	}
	return most
}

// near returns the pairs among the given rows whose features are no further apart than most, the later row first.
func (p *Pool) near(rows []int32, most []float64) (pairs []copied) {
	sums, apart := make([]float64, len(rows)), 0. // sums of near rows are no further apart than this
	for j, m := range most {
		if m == 0 {
			continue
		}
		weight := 1 + math.Mod(float64(j+1)*math.Phi, 1)
		apart += weight
		for i, r := range rows {
			sums[i] += weight * float64(p.feature(int(r)*p.Cols+j)) / m
		}
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(sums[a], sums[b]) })
	for at, a := range order {
		for _, b := range order[at+1:] {
			if sums[b]-sums[a] > apart {
				break
			}
			if p.within(int(rows[a]), int(rows[b]), most) {
				pairs = append(pairs, copied{max(rows[a], rows[b]), min(rows[a], rows[b])})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b copied) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.as, b.as)) })
	return pairs
}

// within reports whether the features of two rows are no further apart than most.
func (p *Pool) within(a, b int, most []float64) bool {
	for j, m := range most {
		if !(math.Abs(float64(p.feature(a*p.Cols+j))-float64(p.feature(b*p.Cols+j))) <= m) {
			return false
		}
	}
	return true
}

// repeatOddity says how many labelled rows of a target are copies of others.
func (s *Set) repeatOddity(pool int, place placeOf) []Oddity {
	rows := s.copiesOf(pool)
	if len(rows) == 0 {
		return nil
	}
	p, first, again := s.Pools[pool], rows[0], map[int32]bool{}
	for _, c := range rows {
		again[c.row] = true
	}
	return []Oddity{{p.Name, fmt.Sprintf("%s the features of a labelled row before, the first is %s, like %s",
		text.Several(len(again), "labelled row")+text.Form(len(again), " has", " have"), place(p, int(first.row)), place(p, int(first.as))),
		"they are left out together, as a group, since copies would make the error look too small; take them out if they are copies"}}
}

// halfAlike returns the part of the pairs of the given rows, which differ from each other, that are equal in the even or in
// the odd features, whichever is less: of the features that vary and, in a table, are no others' knots and products.
// Independent rows are equal in all features no more often. It is 1 where there are too few features or rows to tell. Where
// most is not nil, features are equal that lie in one interval of this width.
func (s *Set) halfAlike(p *Pool, rows []int32, most []float64) float64 {
	width, features := p.Cols, []int(nil)
	if s.featuresNamed() {
		width = s.Columns.read()
	}
	if rows = rows[:min(len(rows), halfRows)]; len(rows) < halfLeast {
		return 1
	}
	for j := range width {
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
				v := float64(p.feature(int(r)*p.Cols + features[k]))
				if most != nil && most[features[k]] > 0 {
					v = math.Floor(v / most[features[k]])
				}
				maphash.WriteComparable(&h, v)
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
