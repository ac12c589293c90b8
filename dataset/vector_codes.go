package dataset

import (
	"fmt"
	"math"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/internal/text"
)

// codeRows is the number of rows in which codes are looked for among the elements of vectors.
const codeRows = 10_000

// vectorCodes says that elements of vectors, which are no columns of a table, are a number such as -9999 that stands for a missing value:
// -999 or below, the least of some rows, in three elements or more, with none of the others below a tenth of it.
func (s *Set) vectorCodes(place placeOf) []Oddity {
	const several = 3
	if s.tabular() || s.Pools[0].Cols < several {
		return nil
	}
	all := 0
	for _, p := range s.Pools {
		all += p.Rows
	}
	step := (all + codeRows - 1) / codeRows
	code, next, high := math.Inf(1), math.Inf(1), math.Inf(-1) // the least number, the second, and the largest
	cells, n, rows, looked, row := 0, 0, 0, 0, 0
	var first *Pool
	at := 0
	for _, p := range s.Pools {
		if len(p.U8) > 0 {
			return nil
		}
		for ; row < p.Rows; row += step {
			looked++
			cells += p.Cols
			before := n
			for i := row * p.Cols; i < (row+1)*p.Cols; i++ {
				x := float64(p.feature(i))
				switch high = max(high, x); {
				case x < code:
					code, next, n, rows, before, first, at = x, code, 1, 0, 0, p, row
				case x == code:
					n++
				default:
					next = min(next, x)
				}
			}
			rows += bit(n > before)
		}
		row -= p.Rows
	}
	if n < several || code > -999 || !table.Nines(code) || !(next >= code/10) || math.IsInf(next, 1) {
		return nil
	}
	of := "rows"
	if step > 1 {
		of = "rows looked at"
	}
	return []Oddity{{"", fmt.Sprintf("%.3g %% of the elements of vectors are %v, in %s of %s %s, such as %s; all others are from "+
		"%.6g to %.6g", 100*float64(n)/float64(cells), code, text.Count(rows), text.Count(looked), of, place(first, at), next, high),
		"where it stands for none, put a value in its place, such as one between those before and behind it, or write the elements as " +
			"columns, whose missing cells can be filled"}}
}
