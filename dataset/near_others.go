package dataset

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/amtrl/amtrl/internal/text"
)

// A row has a near copy among others where the nearest of these is nearTimes times as near as the one at nearAmong, so that up to
// nearAmong-1 changed copies of a row count. That happens by chance too, the more often the fewer dimensions the rows fill, whatever their
// scale, and where rows lie in tight groups, of which a pool may have few rows each. How often the rows of both pools have near copies in
// their own says how often. Distances are between random projections to nearDimensions numbers. A near copy that is nearEqual times as near
// is an equal row. Sources with more than a few of these are left to [twins].
const (
	nearAmong      = 9
	nearDimensions = 32
	nearEqual      = 1e-4
	// nearTargets and nearSources are the most rows of the target and of a source that near copies are looked for of, nearRowsLeast the
	// fewest, and nearOdds the probability of what is reported, over all sources or pairs of them.
	nearTargets, nearSources = 256, 32
	nearRowsLeast            = 16
	nearOdds                 = 1e-4
	// nearProducts is the largest number of multiplications that the search takes, and nearLines the most pairs of sources that are reported.
	nearProducts = 1 << 33
	nearLines    = 4
	nearFeatures = 1 << 28
	nearPoolRows = 1 << 20
)

// projectedRows holds the rows of all pools of a set as nearDimensions numbers, or as they are where they have no more.
type projectedRows struct {
	set  *Set
	rows []*mat.Dense
	// square holds the squared norm of each row.
	square [][]float64
}

// perhapsNear reports whether the rows are vectors, some of them of a target, that may have near copies elsewhere.
func (s *Set) perhapsNear() bool {
	return !s.tabular() && len(s.Pools) > 0 && s.Pools[0].Cols > 1 && slices.ContainsFunc(s.Pools, func(p *Pool) bool { return p.Target })
}

// TooManyForNear reports whether the set has vectors, too many of them to look for near copies in other sources.
func (s *Set) TooManyForNear() bool {
	rows := 0
	for _, p := range s.Pools {
		rows += p.Rows
	}
	return s.perhapsNear() && (rows > nearPoolRows || rows*s.Pools[0].Cols > nearFeatures)
}

// projected returns the rows of all pools. It returns nil for columns of a table, whose rows may be near each other for want of values, for
// more than nearFeatures features or nearPoolRows rows, and where no pool is the target, as in the layout of MNIST-C, whose pools show the
// same items.
func (s *Set) projected() *projectedRows {
	if !s.perhapsNear() || s.TooManyForNear() {
		return nil
	}
	d := s.Pools[0].Cols
	k := min(d, nearDimensions)
	to := mat.NewDense(d, k, nil)
	rng := rand.New(rand.NewPCG(0x6e656172, 1))
	for i := range d {
		for j := range k {
			switch {
			case d > k:
				to.Set(i, j, rng.NormFloat64())
			case i == j:
				to.Set(i, j, 1)
			}
		}
	}
	n := &projectedRows{set: s}
	for _, p := range s.Pools {
		all, square := mat.NewDense(max(1, p.Rows), k, nil), make([]float64, p.Rows)
		const most = 1024
		part := mat.NewDense(most, d, nil)
		for from := 0; from < p.Rows; from += most {
			rows := min(most, p.Rows-from)
			for i := range rows {
				row := part.RawRowView(i)
				for j := range row {
					row[j] = float64(p.feature((from+i)*d + j))
				}
			}
			all.Slice(from, from+rows, 0, k).(*mat.Dense).Mul(part.Slice(0, rows, 0, d), to)
		}
		for i := range square {
			row := mat.NewVecDense(k, all.RawRowView(i))
			square[i] = mat.Dot(row, row)
		}
		n.rows, n.square = append(n.rows, all), append(n.square, square)
	}
	return n
}

// some returns at most so many rows of a pool, the labelled ones where it has enough of these.
func (n *projectedRows) some(pool, most int) (rows []int32) {
	labelled := map[int32]bool{}
	for i := range n.set.Tasks {
		if t := &n.set.Tasks[i]; t.Pool == pool {
			for _, of := range [][]int32{t.Train, t.Test} {
				for _, r := range of {
					labelled[r] = true
				}
			}
		}
	}
	for r := range int32(n.set.Pools[pool].Rows) {
		if len(labelled) < nearRowsLeast || labelled[r] {
			rows = append(rows, r)
		}
	}
	step := max(1, (len(rows)+most-1)/most)
	for i := 0; i*step < len(rows); i++ {
		rows[i] = rows[i*step]
	}
	return rows[:(len(rows)+step-1)/step]
}

// nearPair is a row, the near copy of another.
type nearPair struct{ row, copy int32 }

// copiesOf returns the near copies in pool in of some rows of pool of, and counts the rows with an equal row there. A row is the copy of
// one other at most: that many have the same nearest row, as where they lie close together and far from the pool, tells nothing.
func (n *projectedRows) copiesOf(of int, rows []int32, in int) (found []nearPair, equal int) {
	count := n.set.Pools[in].Rows
	if count < 2*nearAmong {
		return nil, 0
	}
	_, k := n.rows[of].Dims()
	query := mat.NewDense(len(rows), k, nil)
	for i, r := range rows {
		query.SetRow(i, n.rows[of].RawRowView(int(r)))
	}
	type neighbour struct {
		square float64
		row    int32
	}
	nearest := make([][]neighbour, len(rows))
	const most = 1024
	products := mat.NewDense(len(rows), most, nil)
	for from := 0; from < count; from += most {
		part := products.Slice(0, len(rows), 0, min(most, count-from)).(*mat.Dense)
		part.Mul(query, n.rows[in].Slice(from, from+min(most, count-from), 0, k).T())
		for i, r := range rows {
			best := nearest[i]
			for j, product := range part.RawRowView(i) {
				row := int32(from + j)
				square := n.square[of][r] + n.square[in][row] - 2*product
				if of == in && row == r || len(best) == nearAmong && square >= best[nearAmong-1].square {
					continue
				}
				if len(best) < nearAmong {
					best = append(best, neighbour{})
				}
				at := len(best) - 1
				for ; at > 0 && best[at-1].square > square; at-- {
					best[at] = best[at-1]
				}
				best[at] = neighbour{square, row}
			}
			nearest[i] = best
		}
	}
	taken := map[int32]bool{}
	for i, r := range rows {
		first, last := nearest[i][0], nearest[i][nearAmong-1].square
		switch {
		case first.square <= nearEqual*nearEqual*last:
			equal++
		case first.square*nearTimes*nearTimes < last && !taken[first.row]:
			taken[first.row] = true
			found = append(found, nearPair{r, first.row})
		}
	}
	return found, equal
}

// own returns the part of some rows of a pool that have near copies among its other rows. The estimate is on the safe side for few rows.
func (n *projectedRows) own(pool int, rows []int32) float64 {
	found, _ := n.copiesOf(pool, rows, pool)
	return min(1, float64(len(found)+3)/float64(len(rows)+3))
}

// unlikely reports whether found of so many rows have near copies by chance in less than one of 1/nearOdds searches in so many pools, where
// a part of rows has some in its own pool.
func unlikely(found, rows, pools int, own float64) bool {
	b := distuv.Binomial{N: float64(rows), P: own}
	return found > 0 && own < 1 && b.Survival(float64(found-1)) < nearOdds/float64(pools)
}

// products returns how many multiplications it takes to look for near copies of so many rows in all pools.
func (n *projectedRows) products(rows int) float64 {
	all := 0.
	for _, p := range n.set.Pools {
		all += float64(p.Rows)
	}
	return all * float64(rows) * float64(min(n.set.Pools[0].Cols, nearDimensions))
}

// ofTarget lists the sources that have near copies of rows of the target.
func (n *projectedRows) ofTarget(place placeOf) (out []Oddity) {
	if n == nil {
		return nil
	}
	for t, target := range n.set.Pools {
		rows := n.some(t, nearTargets)
		if !target.Target || len(rows) < nearRowsLeast || target.Rows < 2*nearAmong || n.products(len(rows)) > nearProducts {
			continue
		}
		own := n.own(t, rows)
		for m, p := range n.set.Pools {
			if p.Target {
				continue
			}
			found, equal := n.copiesOf(t, rows, m)
			if 4*equal < len(found) && unlikely(len(found), len(rows), len(n.set.Pools), own) &&
				unlikely(len(found), len(rows), len(n.set.Pools), n.own(m, n.some(m, nearSources))) {
				out = append(out, Oddity{p.Name, fmt.Sprintf("it has near copies of %s of %s of the target, rows at least three times as near as "+
					"the ninth nearest: the first is %s, of %s", text.Count(len(found)), text.Several(len(rows), "row"), place(p, int(found[0].copy)),
					place(target, int(found[0].row))), "if these are rows of the target with small changes, such as translations, take them out: the " +
					"error on the target is too good with them"})
			}
		}
	}
	return out
}

// ofSources lists the sources that have near copies of rows of a source before them.
func (n *projectedRows) ofSources() (out []Oddity) {
	if n == nil || n.products(nearSources*len(n.set.Pools)) > nearProducts {
		return nil
	}
	found, own := 0, make([]float64, len(n.set.Pools))
	for m, p := range n.set.Pools {
		rows := n.some(m, nearSources)
		if own[m] = 1; p.Target || len(rows) < nearRowsLeast {
			continue
		}
		own[m] = n.own(m, rows)
		others, best := -1, 0
		for other := range m {
			if own[other] == 1 {
				continue
			}
			near, equal := n.copiesOf(m, rows, other)
			if c := len(near); c > best && 4*equal < c && unlikely(c, len(rows), len(own)*len(own), max(own[m], own[other])) {
				others, best = other, len(near)
			}
		}
		if others < 0 {
			continue
		}
		if found++; found <= nearLines {
			out = append(out, Oddity{p.Name, fmt.Sprintf("%s of %s looked at have near copies in %s, at least three times as near as the ninth "+
				"nearest row there", text.Count(best), text.Several(len(rows), "row"), text.OneLine(n.set.Pools[others].Name, 80)),
				"if one is made of the other, such as by translation, exclude it: it is paid twice and says little new"})
		}
	}
	if more := found - nearLines; more > 0 {
		out = append(out, Oddity{"", fmt.Sprintf("%s with near copies of rows of others", text.Several(more, "more source")),
			"see whether some are made of others"})
	}
	return out
}
