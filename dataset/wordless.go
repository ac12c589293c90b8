package dataset

import (
	"fmt"
	"math"

	"github.com/amtrl/amtrl/internal/text"
)

// wordless lists the columns of words that no row of a target has a word of, though so many rows of the sources have one that this is
// unlikely by chance: what the sources say about such a column is of no use to the target.
func (s *Set) wordless() (out []Oddity) {
	first := s.Columns.read()
	for _, w := range s.Columns.Words {
		first -= len(w.Words)
	}
	for _, w := range s.Columns.Words {
		at := first
		if first += len(w.Words); w.OfMissing() {
			continue
		}
		absent := s.leastOf(at, len(w.Words))
		have, rows := 0, 0
		for _, p := range s.Pools {
			if !p.Target {
				n, of := p.haveWord(at, absent)
				have, rows = have+n, rows+of
			}
		}
		for _, p := range s.Pools {
			if !p.Target || p.Rows < slipLeast || have == 0 {
				continue
			}
			none := float64(p.Rows) * math.Log(float64(rows-have)/float64(rows))
			if n, _ := p.haveWord(at, absent); n > 0 || none >= math.Log(shiftedChance) {
				continue
			}
			out = append(out, Oddity{p.Name, fmt.Sprintf("no row has a word of column %s, though %s of %s rows of the sources have one",
				text.OneLine(w.Column, 80), text.Count(have), text.Count(rows)),
				"if no row of the target has one, leave the column out of columns: categories"})
		}
	}
	return out
}

// leastOf returns the least value of each of n features from the given one on, which for the feature of a word is that of rows without it.
func (s *Set) leastOf(at, n int) []float32 {
	least := make([]float32, n)
	for j := range least {
		least[j] = float32(math.Inf(1))
	}
	for _, p := range s.Pools {
		for r := 0; r < p.Rows; r += p.wordStep() {
			for j := range least {
				least[j] = min(least[j], p.feature(r*p.Cols+at+j))
			}
		}
	}
	return least
}

// haveWord returns the number of rows in which one of the features from the given one on is above its least value, and the number of rows
// that were looked at, which are spread over all.
func (p *Pool) haveWord(at int, least []float32) (have, rows int) {
	for r := 0; r < p.Rows; r += p.wordStep() {
		rows++
		for j, absent := range least {
			if p.feature(r*p.Cols+at+j) > absent {
				have++
				break
			}
		}
	}
	return have, rows
}

// wordStep returns the number of rows from one that is looked at to the next: all rows of a target, up to 65,536 of another source.
func (p *Pool) wordStep() int {
	const most = 1 << 16
	if p.Target {
		return 1
	}
	return max(1, p.Rows/most)
}
