package manifest

import (
	"hash/maphash"
)

// cells holds, for each row that was looked at, a hash of its word, 0 where it has none, and whether the word is a value. nones lists the
// rows that have the word none.
type cells struct {
	words []uint64
	there []bool
	nones []int
}

var wordSeed = maphash.MakeSeed()

// part describes a column over the rows that have one value of another column: their number, and how many of them have a value.
type part struct {
	rows, there int
	word        uint64 // hash of the first value
	several     bool
}

// parts divides the rows that were looked at by the values of another column, and describes c in each part. It returns an empty map where
// either column was not looked at.
func (c *column) parts(by *column) map[uint64]*part {
	parts := map[uint64]*part{}
	if by == nil || by == c || len(c.cells.words) != len(by.cells.words) {
		return parts
	}
	for i, of := range by.cells.words {
		if of == 0 {
			continue
		}
		p := parts[of]
		if p == nil {
			p = &part{}
			parts[of] = p
		}
		if p.rows++; !c.cells.there[i] {
			continue
		}
		word := c.cells.words[i]
		if p.there++; p.there == 1 {
			p.word = word
		}
		p.several = p.several || p.word != word
	}
	return parts
}

// fixed reports whether a column has a single value in each source, as the cost of a label there does.
func (c *column) fixed(source *column) bool {
	const often = 3
	parts, there := 0, 0
	for _, p := range c.parts(source) {
		if p.several {
			return false
		}
		if there += p.there; p.there > 0 {
			parts++
		}
	}
	return parts >= 2 && there >= often*parts
}

// lacks returns the largest share of rows that lack a column in one source, among the sources that have it somewhere and have many rows, or
// the share of all rows where there is no such source: the labels of a target are few, whereas missing features are spread more evenly.
func (c *column) lacks(source *column) (share float64) {
	const many = 20
	found := false
	for _, p := range c.parts(source) {
		if p.rows >= many && p.there > 0 {
			found, share = true, max(share, 1-float64(p.there)/float64(p.rows))
		}
	}
	if !found {
		return float64(c.missing) / float64(c.rows)
	}
	return share
}
