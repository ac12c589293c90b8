package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// stream returns the random numbers that belong to a seed and a list of names.
// Streams with different names are independent, so that no draw depends on the
// order in which targets, sources or epochs are visited.
func stream(seed uint64, names ...string) *rand.Rand {
	h := sha256.New()
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], seed)
	h.Write(word[:])
	for _, n := range names {
		binary.LittleEndian.PutUint64(word[:], uint64(len(n)))
		h.Write(word[:])
		h.Write([]byte(n))
	}
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))
}

// draws holds the order in which the rows of each source would be drawn: without
// replacement, each order fixed by (seed, target, source). The first n entries
// are a sample of size n, so drawing more keeps all drawn before.
type draws struct {
	pool   []int32 // the target's rows, of which target are the first
	target []int32
	source [][]int32
	test   []int32 // the target's held-out rows
}

// newDraws shuffles the training rows of the target and of every source.
// n target rows, or all where there are fewer, are set aside as the target samples;
// where the target is a source too, its draws begin after them. A target without test
// rows is tested on what is left of its rows, where that is a fifth and the target is no source, and on a fifth of all
// its rows where a source has the same pool. Then sources of its pool draw neither its samples, which a
// leave-one-out error is of, nor what it is tested on: they could tell the labels of these. Where the error is exact they do.
// The target's rows that belong together are drawn one after the other, and none is tested on, or drawn by a source of its pool, whose
// group has a sample. Where no row is tested on, samples are of two groups or more.
func newDraws(set *dataset.Set, target Source, sources []Source, n int, seed uint64) draws {
	shuffled := func(role string, s Source) []int32 {
		rows := slices.Clone(s.trainRows(set))
		stream(seed, role, target.Name, s.Name).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}
	rows, pool := gathered(set.Pools[target.Pool], shuffled("target", target), n), set.Pools[target.Pool]
	n = min(n, len(rows))
	d := draws{pool: rows, target: rows[:n], source: make([][]int32, len(sources)), test: target.testRows(set)}
	apart := target.keepsApart(set)
	included := slices.ContainsFunc(sources, func(s Source) bool { return s.Name == target.Name })
	if rest := otherGroups(pool, rows[n:], d.target); len(d.test) == 0 && 5*len(rest) >= len(rows) && !included {
		if apart && slices.ContainsFunc(sources, func(s Source) bool { return s.Pool == target.Pool && s.shares(set, rest) > 0 }) {
			rest = rest[:fifth(len(rows))]
		}
		d.test = slices.Sorted(slices.Values(rest))
	}
	if len(d.test) == 0 && set.Model == nil {
		rows = ofTwoGroups(pool, rows, n)
		d.pool, d.target = rows, rows[:n]
	}
	var measured []bool // nil where none is kept apart
	if apart {
		measured = wholeGroups(pool, listed(pool.Rows, slices.Concat(d.target, d.test)))
	}
	for i, s := range sources {
		if d.source[i] = rows[n:]; s.Name != target.Name {
			d.source[i] = shuffled("source", s)
		}
		if apart && s.Pool == target.Pool {
			d.source[i] = slices.DeleteFunc(slices.Clone(d.source[i]), func(r int32) bool { return measured[r] })
		}
	}
	return d
}

// keepsApart says whether sources of the pool of s, as the target, draw none of the rows that its error is measured on.
func (s Source) keepsApart(set *dataset.Set) bool {
	return set.Model == nil && len(s.testRows(set)) == 0
}

// shares is how many of these rows of its pool s draws from.
func (s Source) shares(set *dataset.Set, rows []int32) (n int) {
	of := listed(set.Pools[s.Pool].Rows, rows)
	for _, r := range s.trainRows(set) {
		if of[r] {
			n++
		}
	}
	return n
}

// listed says of each of n rows whether it is among rows.
func listed(n int, rows []int32) []bool {
	of := make([]bool, n)
	for _, r := range rows {
		of[r] = true
	}
	return of
}

// fifth is a fifth of so many rows, rounded up.
func fifth(rows int) int { return (rows + 4) / 5 }

// UnseenClasses lists the classes that sources have and none of the samples that are drawn
// of a target, a place in SourcesIn. A target of one task has no such classes.
func (c *Config) UnseenClasses(set *dataset.Set, target int) []dataset.Unseen {
	if c.Sources != SourcesPools {
		return nil
	}
	all := c.SourcesIn(set)
	if target < 0 || target >= len(all) {
		return nil
	}
	of := all[target]
	return set.UnseenClasses(of.Pool, newDraws(set, of, nil, c.TargetSamples, c.Seed).target)
}

// Available is the number of rows that each source can give: those that any of its outputs trains on and none is tested
// on, without those that the target's error is measured on where it is a source too or has their pool and no test rows of its own.
func (p *Problem) Available() []int {
	out := make([]int, len(p.draws.source))
	for i, rows := range p.draws.source {
		out[i] = len(rows)
	}
	return out
}
