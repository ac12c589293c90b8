package dataset

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
)

// rowHash is a row by its features and its labels, 0 for none.
type rowHash struct{ features, labels uint64 }

// twins counts rows of equal features.
type twins struct {
	target  []rowHash // the rows of targets, by their features
	counts  []twinCount
	differ  int // pairs of such rows whose labels differ
	pairs   int // pairs of such rows that both have labels
	all     int // rows
	earlier int // those that have the features of one before in their source
}

// twinCount is how many rows of a source have the features of a row before, and of a row of the target.
type twinCount struct{ before, target int }

// fewDiffer is how many pairs may differ in their labels, as people who label do, where rows are copies: so many, or a tenth of
// all pairs.
const fewDiffer = 4

func byFeatures(a, b rowHash) int { return cmp.Compare(a.features, b.features) }

// addTarget takes up the rows of a target before all sources are added.
func (w *twins) addTarget(rows []rowHash) {
	w.target = append(w.target, rows...)
	slices.SortStableFunc(w.target, byFeatures)
}

// add counts the rows of the next pool, which it sorts.
func (w *twins) add(p *Pool, rows []rowHash) {
	slices.SortStableFunc(rows, byFeatures)
	var c twinCount
	for i, r := range rows {
		if i > 0 && r.features == rows[i-1].features {
			c.before++
			w.pair(r, rows[i-1])
		}
		if at, is := slices.BinarySearchFunc(w.target, r, byFeatures); is && !p.Target {
			c.target++
			w.pair(r, w.target[at])
		}
	}
	w.counts = append(w.counts, c)
	w.all, w.earlier = w.all+len(rows), w.earlier+c.before
}

func (w *twins) pair(a, b rowHash) {
	if a.labels == 0 || b.labels == 0 {
		return
	}
	if w.pairs++; a.labels != b.labels {
		w.differ++
	}
}

// alike says whether rows have equal features because these have few values, which their labels tell: those of copies are the same.
func (w *twins) alike() bool { return w.differ > max(fewDiffer, w.pairs/10) }

// oddities are those of a pool.
func (w *twins) oddities(pool int, p *Pool) (out []Oddity) {
	c := w.counts[pool]
	if w.alike() {
		return nil
	}
	if c.before > 0 {
		out = append(out, Oddity{p.Name, fmt.Sprintf("%d of %d rows are there before", c.before, p.Rows),
			"take them out: they are paid twice and say nothing new"})
	}
	if c.target > 0 {
		out = append(out, Oddity{p.Name, fmt.Sprintf("%d of %d rows are rows of the target", c.target, p.Rows),
			"take them out: the error on the target is too good with them"})
	}
	return out
}

// oddity is that of all the data.
func (w *twins) oddity() []Oddity {
	if !w.alike() {
		return nil
	}
	return []Oddity{{"", fmt.Sprintf("%d of %d rows have the features of a row before; labels differ in %d of %d cases",
		w.earlier, w.all, w.differ, w.pairs), "take out copies alone: features of few values are often alike"}}
}

// rowLabel is a label of a row.
type rowLabel struct {
	output Output
	value  uint32
}

// labelHashes has a hash of the labels of each row of a pool, 0 where it has none.
func (s *Set) labelHashes(pool int, seed maphash.Seed) []uint64 {
	hashes := make([]uint64, s.Pools[pool].Rows)
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Pool != pool {
			continue
		}
		for r := range t.labelledRows {
			hashes[r] |= 1 // it has a label, if only of a class without a task
			if y := t.Labels[r]; !s.Binary || y == 1 {
				hashes[r] += maphash.Comparable(seed, rowLabel{t.Output, math.Float32bits(y)}) &^ 1
			}
		}
	}
	return hashes
}
