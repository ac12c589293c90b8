package table

import (
	"math"
	"slices"
)

// Codes are numbers that stand for none in a column of features, such as -999.
type Codes struct {
	Column string    `json:"column"`
	Values []float64 `json:"values"`
}

// codedTable is a table with codes in some of its columns.
type codedTable struct {
	Table
	codes []Codes
}

// WithCodes is an open table in which cells of features that have one of their codes are missing, where a query lets them be
// ([Query].Gaps). To close it closes t.
func WithCodes(t Table, codes []Codes) Table {
	if len(codes) == 0 {
		return t
	}
	return &codedTable{t, codes}
}

func (t *codedTable) Scan(q Query, f func(*Batch) error) error {
	none := make([][]float64, len(q.Features))
	for j, name := range q.Features {
		for _, c := range t.codes {
			if c.Column == name {
				none[j] = c.Values
			}
		}
	}
	return t.Table.Scan(q, func(b *Batch) error {
		if q.Gaps {
			b.Features.Blank(none)
		}
		return f(b)
	})
}

// Blank makes NaN of what is, by feature, one of the numbers that stand for none, of features of float32.
func (v *Vectors) Blank(none [][]float64) {
	for i := range v.F32 {
		if j := i % v.Width; j < len(none) && slices.Contains(none[j], v.Element(i)) {
			v.Set(i, nan)
		}
	}
}

// CodeOf finds in sorted values one that is there three times or more, but not in half of them, and lies further from all others than twice
// their range, as -999 for none does: how many have it, and where the others are. It finds none among fewer than 20, or beside fewer than
// five other values.
func CodeOf(sorted []float64) (code float64, count int, from, to float64) {
	const least, several, others = 20, 3, 5
	n := len(sorted)
	if n < least || len(slices.Compact(slices.Clone(sorted))) <= others {
		return 0, 0, 0, 0
	}
	low, high := sorted[0], sorted[n-1]
	first := slices.IndexFunc(sorted, func(x float64) bool { return x > low })
	last := n - 1
	for last > 0 && sorted[last] == high {
		last--
	}
	lows, highs := first, n-1-last
	switch {
	case first < 0 || low == high:
	case lows >= several && 2*lows < n && sorted[first]-low > 2*(high-sorted[first]) && sorted[first] < high:
		return low, lows, sorted[first], high
	case highs >= several && 2*highs < n && high-sorted[last] > 2*(sorted[last]-low) && low < sorted[last]:
		return high, highs, low, sorted[last]
	}
	return 0, 0, 0, 0
}

// Nines says whether a number is 99, 999 and so on, or -99 and so on, which stand for none where [CodeOf] finds them.
func Nines(x float64) bool {
	x = math.Abs(x)
	for of := 99.; of <= 999_999_999; of = 10*of + 9 {
		if x == of {
			return true
		}
	}
	return false
}
