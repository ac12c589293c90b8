package dataset

import (
	"math"
)

const (
	// copiedRows is about the largest number of labelled rows that are compared, of all sources together. copiedLeast is the least number
	// of compared rows of a source that can show it to be a copy.
	copiedRows, copiedLeast = 1 << 16, 10
	// copiedPart is the least share of a source's compared rows that must occur in another source with the same labels for the source to be
	// a copy. The rows that occur there with other labels must be at most 1 - copiedSame times as many: the labels of two people differ
	// more often, and so do the answers to two questions about the same rows.
	copiedPart, copiedSame = 0.5, 0.95
	// fewCopies is the largest number of copies for each of which the other source is named.
	fewCopies = 3
	// sharingSources is the largest number of sources with a row that later ones are compared with: a row that all have shows nothing.
	sharingSources = 16
)

// copies finds sources that are copies of others. It compares the rows whose features have small hashes: these are the same rows in all
// sources.
type copies struct {
	most uint64 // the largest hash that is compared
	seen map[uint64][]rowHash
	rows map[int32]int            // number of compared rows, by source
	all  map[int32]int            // number of labelled rows that differ from each other, by source
	same map[[2]int32]*sharedRows // by source and an earlier source
}

// sharedRows counts the rows that two sources have in common, those with the same labels and those with other labels.
type sharedRows struct{ same, other int }

// newCopies returns copies for a set of the given number of rows.
func newCopies(rows int) copies {
	c := copies{math.MaxUint64, map[uint64][]rowHash{}, map[int32]int{}, map[int32]int{}, map[[2]int32]*sharedRows{}}
	if rows > copiedRows {
		c.most = math.MaxUint64 / uint64(rows) * copiedRows
	}
	return c
}

// add compares the rows of the next pool, which are sorted by the hashes of their features, with those of earlier pools.
func (c *copies) add(p *Pool, rows []rowHash) {
	if p.Target {
		return
	}
	for i, r := range rows {
		repeated := i > 0 && r.features == rows[i-1].features
		if r.labels > 1 && !repeated {
			c.all[r.pool]++
		}
		if r.features > c.most || r.labels <= 1 || repeated { // labels of 1 are of a class without a task
			continue
		}
		c.rows[r.pool]++
		for _, was := range c.seen[r.features] {
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
		if len(c.seen[r.features]) < sharingSources {
			c.seen[r.features] = append(c.seen[r.features], r)
		}
	}
}

// copyOf names the source that a source is a copy of, and the share of the copy's compared rows that occur there with the same labels.
type copyOf struct {
	pool int32
	part float64
}

// found returns, for each source that is a copy of another, that other one. Of two sources the one with fewer labelled rows is the copy,
// and of two with equally many the later one.
func (c *copies) found() map[int32]copyOf {
	found := map[int32]copyOf{}
	for key, shared := range c.same {
		smaller, larger := key[0], key[1]
		if c.all[smaller] > c.all[larger] {
			smaller, larger = larger, smaller
		}
		n := c.rows[smaller]
		part := float64(shared.same) / float64(n)
		if n < copiedLeast || part < copiedPart || float64(shared.other) > (1-copiedSame)*float64(shared.same) {
			continue
		}
		if most := found[smaller]; part > most.part || part == most.part && larger < most.pool {
			found[smaller] = copyOf{larger, part}
		}
	}
	return found
}
