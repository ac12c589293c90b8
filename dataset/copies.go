package dataset

import (
	"math"
)

const (
	// copiedRows is about how many labelled rows of all sources together are compared, and copiedLeast the fewest of a source that tell.
	copiedRows, copiedLeast = 1 << 16, 10
	// copiedPart is the least part of these that makes a source a copy, of those that another one has too copiedSame with the same labels:
	// the labels of two people differ more often, and so do those of two things that are asked of the same rows.
	copiedPart, copiedSame = 0.5, 0.95
)

// copies finds sources that are others again, by rows whose features have small hashes: those are the same rows in all of them.
type copies struct {
	most  uint64 // the largest hash that is looked at
	first map[uint64]rowHash
	rows  map[int32]int            // looked at, by source
	same  map[[2]int32]*sharedRows // by a source and one before it
}

// sharedRows counts rows that two sources have, with the same labels and with others.
type sharedRows struct{ same, other int }

// newCopies is of so many rows.
func newCopies(rows int) copies {
	c := copies{math.MaxUint64, map[uint64]rowHash{}, map[int32]int{}, map[[2]int32]*sharedRows{}}
	if rows > copiedRows {
		c.most = math.MaxUint64 / uint64(rows) * copiedRows
	}
	return c
}

// add takes up the rows of the next pool, which are sorted by their features.
func (c *copies) add(p *Pool, rows []rowHash) {
	if p.Target {
		return
	}
	for i, r := range rows {
		if r.features > c.most {
			break
		}
		if r.labels <= 1 || i > 0 && r.features == rows[i-1].features { // of no label, or of none of the classes
			continue
		}
		c.rows[r.pool]++
		was, known := c.first[r.features]
		if !known {
			c.first[r.features] = r
			continue
		}
		key := [2]int32{r.pool, was.pool}
		if c.same[key] == nil {
			c.same[key] = new(sharedRows)
		}
		if r.labels == was.labels {
			c.same[key].same++
		} else {
			c.same[key].other++
		}
	}
}

// copyOf is a source that has the rows of another one, and the part of those that were looked at.
type copyOf struct {
	pool int32
	part float64
}

// of is the source that a source is a copy of: the smaller of two is that of the larger, and of equals the later.
func (c *copies) of(pool int32) (most copyOf) {
	for key, shared := range c.same {
		smaller, larger := key[0], key[1]
		if c.rows[smaller] > c.rows[larger] {
			smaller, larger = larger, smaller
		}
		n := c.rows[smaller]
		part := float64(shared.same) / float64(n)
		if smaller != pool || n < copiedLeast || part < copiedPart || float64(shared.other) > (1-copiedSame)*float64(shared.same) {
			continue
		}
		if part > most.part || part == most.part && larger < most.pool {
			most = copyOf{larger, part}
		}
	}
	return most
}
