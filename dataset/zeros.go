package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/text"
)

const (
	// zeroCols is the least number of features, and zeroPart the share of all rows, from which on and below which rows that are 0 everywhere
	// are not what the features are like.
	zeroCols, zeroPart = 16, 0.05
	// denseCells is the least share of the cells of the other rows that are not 0, as in an embedding; in counts most are. signedCells is the
	// least share that is negative, which shows the same cells to be no counts or amounts, of which a row may have none.
	denseCells, signedCells = 0.5, 0.1
	// denseBytes is the least share of the cells of the other rows that are not 0 where cells are bytes, as in photographs. Drawings have
	// an empty background, and counts are mostly 0.
	denseBytes = 0.9
)

// zeroVectors returns, by pool, the rows whose features are all 0 though those of the others are dense, as where an embedding failed or a
// photograph is black: these rows are equal, and no copies. It is nil where there are none, or where rows without anything are usual: in
// tables of counts or amounts, in images with an empty background, and where features are few.
func (s *Set) zeroVectors() [][]int32 {
	cols := s.Pools[0].Cols
	if cols < zeroCols || !s.dense() {
		return nil
	}
	zeros, n, rows := make([][]int32, len(s.Pools)), 0, 0
	for i, p := range s.Pools {
		for r := range p.Rows {
			if p.zero(r) {
				zeros[i] = append(zeros[i], int32(r))
				n++
			}
		}
		rows += p.Rows
	}
	if n == 0 || float64(n) >= zeroPart*float64(rows) {
		return nil
	}
	return zeros
}

// zero reports whether all features of row r are 0.
func (p *Pool) zero(r int) bool {
	for i := r * p.Cols; i < (r+1)*p.Cols; i++ {
		if p.feature(i) != 0 {
			return false
		}
	}
	return true
}

// dense reports whether the rows that are not 0 everywhere, among some of some pools, are like embeddings or photographs: most cells are
// not 0, and some are negative, or most are no whole numbers in vectors that are not part of a table; or nearly all bytes of such vectors
// are not 0.
func (s *Set) dense() bool {
	cells, some, negative, whole, step := 0, 0, 0, 0, max(1, len(s.Pools)/fewPools)
	for i := 0; i < len(s.Pools); i += step {
		p := s.Pools[i]
		for k := range min(p.Rows, fewLooked) {
			r := k * p.Rows / min(p.Rows, fewLooked)
			if p.zero(r) {
				continue
			}
			cells += p.Cols
			for j := r * p.Cols; j < (r+1)*p.Cols; j++ {
				v := float64(p.feature(j))
				if v != 0 {
					some++
				}
				if v < 0 {
					negative++
				}
				if v != 0 && v == math.Trunc(v) {
					whole++
				}
			}
		}
	}
	if slices.ContainsFunc(s.Pools, func(p *Pool) bool { return len(p.U8) > 0 }) {
		return !s.featuresNamed() && float64(some) >= denseBytes*float64(cells)
	}
	return float64(some) >= denseCells*float64(cells) &&
		(float64(negative) >= signedCells*float64(cells) || !s.featuresNamed() && 2*whole < some)
}

// zeroOddity names one of the rows that zeroVectors returns, or returns nil where there are none.
func (s *Set) zeroOddity(zeros [][]int32, place placeOf) []Oddity {
	n, sources, first := 0, 0, ""
	for i, rows := range zeros {
		if len(rows) == 0 {
			continue
		}
		if n += len(rows); first == "" {
			first = place(s.Pools[i], int(rows[0]))
		}
		sources++
	}
	if n == 0 {
		return nil
	}
	return []Oddity{{"", fmt.Sprintf("%s of %s %s features that are all 0, such as %s", text.Several(n, "row"),
		text.Several(sources, "source"), text.Form(n, "has", "have"), first),
		"they are probably missing, as where an embedding failed or a photograph is black: make them again, or take the rows out of the files"}}
}

// notZero removes the rows that zeroVectors returned from those of a pool.
func notZero(rows []rowHash, zeros [][]int32, pool int) []rowHash {
	if zeros == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(r rowHash) bool { return isZero(zeros, pool, r.row) })
}

func isZero(zeros [][]int32, pool int, row int32) bool {
	if zeros == nil {
		return false
	}
	_, is := slices.BinarySearch(zeros[pool], row)
	return is
}
