package dataset

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

const (
	// warningLabels and warningCells are how many labels, and features of all rows together, are looked at before each run.
	warningLabels = 1 << 22
	warningCells  = 1 << 26
	// fewValues is the part of rows that are there before in their source from which on features have few values.
	fewValues = 10
)

// Warnings lists what [Set.Oddities] has that makes results wrong, or errors look too small: features that tell a label alone, rows of
// sources that are also the target's, labels that are far from the others or in another unit, and columns of labels whose squared
// error is of a few rows alone. Of data that take long to read, it lists what the first and a glance at the labels tell.
func (s *Set) Warnings() []Oddity {
	alone, _ := s.telling(false)
	out := append(alone, s.targetCopies()...)
	labels := 0
	for i := range s.Tasks {
		labels += len(s.Tasks[i].Train) + len(s.Tasks[i].Test)
	}
	if s.Binary || labels > warningLabels {
		return out
	}
	return append(out, s.oddNumbers()...)
}

// targetCopies lists the sources that have rows of the target.
func (s *Set) targetCopies() (out []Oddity) {
	rows := 0
	for _, p := range s.Pools {
		rows += p.Rows
	}
	if rows*s.Pools[0].Cols > warningCells || !slices.ContainsFunc(s.Pools, func(p *Pool) bool { return p.Target }) {
		return nil
	}
	seed, w := maphash.MakeSeed(), twins{copies: newCopies(rows)}
	for i, p := range s.Pools {
		if p.Target {
			w.addTarget(s.rowHashes(i, seed))
		}
	}
	for i, p := range s.Pools {
		w.add(p, s.rowHashes(i, seed))
	}
	if w.pairs == 0 && w.earlier > w.all/fewValues { // no labels say whether rows are alike because features have few values
		return nil
	}
	for i := range s.Pools {
		out = append(out, w.ofTarget(s, i)...)
	}
	return out
}

// rowHashes has a hash for each row of a pool.
func (s *Set) rowHashes(pool int, seed maphash.Seed) []rowHash {
	p, labels := s.Pools[pool], s.labelHashes(pool, seed)
	hashes, raw := make([]rowHash, p.Rows), make([]byte, 0, 4*p.Cols)
	for r := range hashes {
		raw = p.appendRow(raw[:0], r)
		hashes[r] = rowHash{maphash.Bytes(seed, raw), labels[r], int32(pool), int32(r)}
	}
	return hashes
}

// appendRow appends the bits of a row's features.
func (p *Pool) appendRow(raw []byte, r int) []byte {
	for i := r * p.Cols; i < (r+1)*p.Cols; i++ {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(p.feature(i)))
	}
	return raw
}
