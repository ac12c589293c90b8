package dataset

import (
	"cmp"
	"math"
	"slices"
)

const (
	// nearPart is the part of a vector's root mean square by which the elements of a copy may differ, nearRows the largest
	// number of rows that such copies are looked for among, and nearPairs that of pairs that are compared, per row.
	nearPart            = 1e-4
	nearRows, nearPairs = 20_000, 1000
)

// near returns the pairs among some rows, vectors, whose elements differ by no more than nearPart of the root mean square
// of either, the later row first: as where a text was embedded twice, in batches that round differently. It returns none
// where too many would have to be compared.
func (p *Pool) near(rows []int32) (pairs []copied) {
	if len(rows) > nearRows {
		return nil
	}
	type vector struct {
		row       int32
		sum, most float64
	}
	weights, apart := make([]float64, p.Cols), 0.
	for j := range weights {
		weights[j] = 1 + math.Mod(float64(j+1)*math.Phi, 1)
		apart += weights[j]
	}
	vectors := make([]vector, len(rows))
	for i, r := range rows {
		v, square := vector{row: r}, 0.
		for j, weight := range weights {
			x := float64(p.feature(int(r)*p.Cols + j))
			v.sum, square = v.sum+weight*x, square+x*x
		}
		v.most = nearPart * math.Sqrt(square/float64(p.Cols))
		vectors[i] = v
	}
	slices.SortFunc(vectors, func(a, b vector) int { return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.row, b.row)) })
	compared := 0
	for i, a := range vectors {
		for _, b := range vectors[i+1:] {
			most := min(a.most, b.most)
			if b.sum-a.sum > apart*a.most { // most of the two is no more
				break
			}
			if compared++; compared > nearPairs*len(rows) {
				return nil
			}
			if p.within(int(a.row), int(b.row), most) {
				pairs = append(pairs, copied{row: max(a.row, b.row), as: min(a.row, b.row)})
			}
		}
	}
	return pairs
}

// within reports whether the features of two rows are no further apart than most.
func (p *Pool) within(a, b int, most float64) bool {
	for j := range p.Cols {
		if !(math.Abs(float64(p.feature(a*p.Cols+j))-float64(p.feature(b*p.Cols+j))) <= most) {
			return false
		}
	}
	return true
}
