package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// stream returns the random numbers that belong to a seed and a list of names. Streams with different names are
// independent, so that no draw depends on the order in which targets, sources or epochs are visited.
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

// draws holds the order in which the rows of each source are drawn, without replacement. Each order is fixed by (seed,
// target, source). The first n entries are a sample of size n, so drawing more keeps all drawn before.
type draws struct {
	groups grouping // of the target's pool, with copies of a row in one ([dataset.Set.GroupsOf])
	pool   []int32  // the target's rows in drawing order, samples first
	target []int32  // the target's samples
	source [][]int32
	test   []int32 // the target's held-out rows
}

// newDraws shuffles the training rows of the target and of every source.
//
//   - The first n rows of the target, or all where there are fewer, are its samples. Where the target is a source too,
//     its draws begin after them.
//   - A target without test rows that is no source is tested on the rest of its rows, where the rest is at least a
//     fifth of all; on a fifth of all where a source draws from the rest too.
//   - A source on the pool of a target without test rows draws neither the target's samples, on which a leave-one-out
//     error is measured, nor its held-out rows: they could tell the labels of these. Where the error is exact it draws
//     them.
//   - The target's rows of one group are drawn one after the other. No row whose group has a sample is tested on, and
//     no row whose group has a sample or a held-out row is drawn by a source that does not draw these. Where no row is
//     tested on, the samples are of two groups or more, if there are as many.
func newDraws(set *dataset.Set, target Source, sources []Source, n int, seed uint64) draws {
	shuffled := func(role string, s Source) []int32 {
		rows := slices.Clone(s.trainRows(set))
		stream(seed, role, target.Name, s.Name).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		return rows
	}
	groups := grouping(set.GroupsOf(target.Pool))
	rows := groups.gathered(shuffled("target", target), n)
	n = min(n, len(rows))
	d := draws{groups: groups, pool: rows, target: rows[:n], source: make([][]int32, len(sources)), test: target.testRows(set)}
	apart := target.keepsApart(set)
	included := slices.ContainsFunc(sources, func(s Source) bool { return s.Name == target.Name })
	if rest := groups.other(rows[n:], d.target); len(d.test) == 0 && 5*len(rest) >= len(rows) && !included {
		if apart && slices.ContainsFunc(sources, func(s Source) bool { return s.Pool == target.Pool && s.shares(set, rest) > 0 }) {
			rest = rest[:fifth(len(rows))]
		}
		d.test = slices.Sorted(slices.Values(rest))
	}
	if len(d.test) == 0 && set.Model == nil {
		rows = groups.ofTwo(rows, n)
		d.pool, d.target = rows, rows[:n]
	}
	var measured []bool // rows that sources on the target's pool do not draw, nil for none
	if apart {
		measured = groups.whole(listed(set.Pools[target.Pool].Rows, slices.Concat(d.target, d.test)))
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

// ShuffleTarget brings rows of the target's pool that are to become samples later into a random order, which the seed and the target fix.
func (p *Problem) ShuffleTarget(rows []int32) {
	stream(p.Config.Seed, "more", p.TargetName()).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}

// keepsApart reports whether sources on the pool of s, the target, draw none of the rows that its error is measured on:
// where it has no test rows of its own, and the data come from no model.
func (s Source) keepsApart(set *dataset.Set) bool {
	return set.Model == nil && len(s.testRows(set)) == 0
}

// shares returns how many of the given rows of its pool s draws from.
func (s Source) shares(set *dataset.Set, rows []int32) (n int) {
	of := listed(set.Pools[s.Pool].Rows, rows)
	for _, r := range s.trainRows(set) {
		if of[r] {
			n++
		}
	}
	return n
}

// listed reports for each of n rows whether rows lists it.
func listed(n int, rows []int32) []bool {
	of := make([]bool, n)
	for _, r := range rows {
		of[r] = true
	}
	return of
}

// fifth returns a fifth of a number of rows, rounded up.
func fifth(rows int) int { return (rows + 4) / 5 }

// Available returns the number of rows that can be drawn from each source: training rows of any of its outputs that are
// test rows of none. The target's samples are not counted for the target as a source, nor the rows that its error is
// measured on for sources on its pool, where it has no test rows of its own.
func (p *Problem) Available() []int {
	out := make([]int, len(p.draws.source))
	for i, rows := range p.draws.source {
		out[i] = len(rows)
	}
	return out
}
