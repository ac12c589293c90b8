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
// rows is tested on what is left of its rows, where that is a fifth and no source
// draws from it.
func newDraws(set *dataset.Set, target Source, sources []Source, n int, seed uint64) draws {
	shuffled := func(role string, s Source) []int32 {
		rows := slices.Clone(s.trainRows(set))
		stream(seed, role, target.Name, s.Name).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}
	rows := shuffled("target", target)
	n = min(n, len(rows))
	d := draws{pool: rows, target: rows[:n], source: make([][]int32, len(sources)), test: target.testRows(set)}
	included := slices.ContainsFunc(sources, func(s Source) bool { return s.Name == target.Name })
	if rest := rows[n:]; len(d.test) == 0 && 5*len(rest) >= len(rows) && !included {
		d.test = slices.Sorted(slices.Values(rest))
	}
	for i, s := range sources {
		if d.source[i] = rows[n:]; s.Name != target.Name {
			d.source[i] = shuffled("source", s)
		}
	}
	return d
}

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
// on, without the target's samples where the target is a source too.
func (p *Problem) Available() []int {
	out := make([]int, len(p.draws.source))
	for i, rows := range p.draws.source {
		out[i] = len(rows)
	}
	return out
}
