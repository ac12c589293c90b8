package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/amtrl/amtrl/internal/endian"
)

const (
	// warningLabels is the largest number of labels that are looked at before each run, and warningCells the largest number of features of
	// all rows together. warningLeaks is the largest number of features for finding what tells a label, which reads them once.
	warningLabels = 1 << 22
	warningCells  = 1 << 26
	warningLeaks  = 1 << 28
)

// placeOf names a row of a pool.
type placeOf func(*Pool, int) string

// Warnings are what [Set.Warnings] found.
type Warnings struct {
	odd   []Oddity // which have a mark in place of the name of each row
	marks []rowMark
}

type rowMark struct {
	mark string
	pool *Pool
	row  int
}

// place returns a mark for a row.
func (w *Warnings) place(p *Pool, row int) string {
	mark := fmt.Sprintf("\x00%d\x00", len(w.marks)) // no text has this: names are printable
	w.marks = append(w.marks, rowMark{mark, p, row})
	return mark
}

// Oddities lists what was found. Where files is true, rows are named by file and line, and otherwise by their number and id, which do not
// depend on where the files lie.
func (w *Warnings) Oddities(files bool) []Oddity {
	name := (*Pool).rowName
	if files {
		name = (*Pool).place
	}
	out := slices.Clone(w.odd)
	for i := range out {
		for _, m := range w.marks {
			if strings.Contains(out[i].Found, m.mark) {
				out[i].Found = strings.ReplaceAll(out[i].Found, m.mark, name(m.pool, m.row))
			}
		}
	}
	return out
}

// Warnings finds the oddities of [Set.Oddities] that make results wrong, or errors look too small: features that tell a label alone or are
// known with it alone, labelled rows of the target that are copies of others or nearly so, rows of vectors that are all 0 or have a number
// such as -9999 for none, rows of sources that are also the target's or of its groups, cells of a table that are far from the others of
// their column, which has one scale for all rows, sources whose vectors are of another size, labels that are far from the others or in
// another unit, columns of labels of which a few rows decide the squared error, quantities that are taken for classes, sources with classes
// of their own or shares of classes unlike all others, sources whose labels run against those of the others, and classes that differ only
// in how they are written. The set must be one that [Set.Validate] accepts. Data that take long to read are not looked at, but for their
// labels, and the size and codes of some of their vectors.
func (s *Set) Warnings() *Warnings {
	w := &Warnings{}
	w.odd = s.warnings(w.place)
	return w
}

func (s *Set) warnings(place placeOf) (out []Oddity) {
	cells, labels := 0, 0
	if len(s.Pools) == 0 {
		return nil
	}
	for _, p := range s.Pools {
		cells += p.Rows * p.Cols
	}
	for i := range s.Tasks {
		labels += len(s.Tasks[i].Train) + len(s.Tasks[i].Test)
	}
	if cells <= warningLeaks {
		out, _ = s.telling(false)
		out = append(out, s.comesWithLabel()...)
	}
	for i, p := range s.Pools {
		if p.Target {
			out = append(out, s.repeatOddity(i, place)...)
		}
	}
	if labels <= warningLabels {
		out = append(out, s.sharedGroups()...)
	}
	if cells <= warningCells {
		zeros := s.zeroVectors()
		out = append(append(out, s.zeroOddity(zeros, place)...), s.targetCopies(zeros, place)...)
		out = append(out, s.farCells(place)...)
		out = append(out, s.projected().ofTarget(place)...)
	}
	if !s.tabular() {
		most := max(1, warningCells/len(s.Pools)/s.Pools[0].Cols)
		if cells <= warningCells {
			most = math.MaxInt32
		}
		out = append(append(out, s.vectorCodes(place)...), s.oddSizes(s.sizes(most), most)...)
	}
	if !s.Binary && labels <= warningLabels {
		out = append(out, s.oddNumbers(place)...)
	}
	if labels <= warningLabels {
		out = append(append(append(out, s.numberClasses(place)...), s.oddClasses()...), s.otherMeanings()...)
	}
	return append(out, s.alikeClasses()...)
}

// targetCopies lists the sources that have rows of the target, but for those that zeroVectors returned.
func (s *Set) targetCopies(zeros [][]int32, place placeOf) (out []Oddity) {
	if !slices.ContainsFunc(s.Pools, func(p *Pool) bool { return p.Target }) {
		return nil
	}
	seed, ofTarget := maphash.MakeSeed(), map[int][]rowHash{}
	w := twins{few: s.fewValued()}
	for i, p := range s.Pools {
		if p.Target {
			ofTarget[i] = notZero(s.rowHashes(i, seed), zeros, i)
			w.addTarget(ofTarget[i])
		}
	}
	for i, p := range s.Pools {
		rows := ofTarget[i]
		if !p.Target {
			rows = notZero(s.rowHashes(i, seed), zeros, i)
		}
		w.count(p, rows)
	}
	for i := range s.Pools {
		out = append(out, w.ofTarget(s, i, place)...)
	}
	return append(out, w.elsewhere()...)
}

// rowHashes returns the hashes of each row of a pool.
func (s *Set) rowHashes(pool int, seed maphash.Seed) []rowHash {
	p, labels := s.Pools[pool], s.labelHashes(pool, seed)
	hashes, row := make([]rowHash, p.Rows), make([]float32, p.Cols)
	for r := range hashes {
		p.ReadRow(r, row)
		hashes[r] = rowHash{xxhash.Sum64(endian.Bytes(row)), labels[r], int32(pool), int32(r)}
	}
	return hashes
}

// appendRow appends the bits of the features of row r, as float32, to raw.
func (p *Pool) appendRow(raw []byte, r int) []byte {
	for i := r * p.Cols; i < (r+1)*p.Cols; i++ {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(p.feature(i)))
	}
	return raw
}
