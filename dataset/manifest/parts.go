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

// rareIn returns the share of rows that lack a column in the one source that lacks at least half of its values, where the other sources
// have nearly all, or 0 where there is no such source. It is the target, where that is known.
func (c *column) rareIn(source *column, target string) (share float64) {
	const many, nearly = 20, 0.98
	parts, rows, there := c.parts(source), 0, 0
	for word, p := range parts {
		lacks := 1 - float64(p.there)/float64(p.rows)
		switch {
		case p.rows < many || p.there == 0 || lacks < 0.5 || target != "" && word != maphash.String(wordSeed, target):
			rows, there = rows+p.rows, there+p.there
		case share > 0: // two sources
			return 0
		default:
			share = lacks
		}
	}
	if rows < many || float64(there) < nearly*float64(rows) {
		return 0
	}
	return share
}

// absentIn reports whether no row of the target has the column, and most rows of other sources have it.
func (c *column) absentIn(source *column, target string) bool {
	const many = 20
	of, absent, rows, there := maphash.String(wordSeed, target), false, 0, 0
	for word, p := range c.parts(source) {
		if word == of {
			absent = p.there == 0 && p.rows > 0
		} else {
			rows, there = rows+p.rows, there+p.there
		}
	}
	return absent && rows >= many && 2*there >= rows
}
