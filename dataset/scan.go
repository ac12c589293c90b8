package dataset

import (
	"hash/maphash"
	"math"
	"runtime"

	"github.com/cespare/xxhash/v2"
	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/endian"
)

// poolScan is what one pass over the rows of a pool finds.
type poolScan struct {
	hashes []rowHash // by row: the hash of its features beside that of its labels
	size   float64   // the root mean square of the features
	first  []float32 // the features of the first row
	same   []bool    // by feature: whether all rows have the bits of the first
	steps  []steps   // by feature, as far as it takes to tell that it goes both ways
	far    *farFeatures
}

// scans reads the pools, as many at a time as there are processors, and passes what it finds in each to f, in the order of the pools.
func (s *Set) scans(seed maphash.Seed, f func(pool int, of *poolScan)) {
	most, rows := runtime.GOMAXPROCS(0), 0
	far := s.newFarFeatures()
	found := make([]chan *poolScan, len(s.Pools))
	start := func(i int) {
		if i >= len(found) {
			return
		}
		part := far.part(rows)
		rows += s.Pools[i].Rows
		found[i] = make(chan *poolScan, 1)
		go func() { found[i] <- s.scan(i, s.labelHashes(i, seed), part) }()
	}
	for i := range most {
		start(i)
	}
	for i := range found {
		of := <-found[i]
		start(i + most)
		f(i, of)
		found[i] = nil
	}
}

// scan reads the rows of pool i, whose labels have these hashes. far may be nil.
func (s *Set) scan(i int, labels []uint64, far *farFeatures) *poolScan {
	p := s.Pools[i]
	of := &poolScan{hashes: make([]rowHash, p.Rows), same: make([]bool, p.Cols), steps: make([]steps, p.Cols), far: far}
	row, last, size := make([]float32, p.Cols), make([]float32, p.Cols), 0.
	open := upTo[int](p.Cols) // the features that may be the same in all rows or go one way
	for r := range p.Rows {
		p.ReadRow(r, row)
		of.hashes[r] = rowHash{xxhash.Sum64(endian.Bytes(row)), labels[r], int32(i), int32(r)}
		for _, v := range row {
			size += float64(v) * float64(v)
		}
		if far != nil {
			for j, v := range row {
				far.add(j, i, r, float64(v))
			}
		}
		if r == 0 {
			of.first = append(of.first, row...)
			for j := range of.same {
				of.same[j] = true
			}
		} else {
			open = of.step(open, last, row)
		}
		row, last = last, row
	}
	of.size = math.Sqrt(size / float64(p.Rows) / float64(p.Cols))
	return of
}

// step takes the step from a row to the next into account in the features that are open, and returns those that stay so.
func (of *poolScan) step(open []int, last, row []float32) []int {
	left := open[:0]
	for _, j := range open {
		k, v := &of.steps[j], row[j]
		switch {
		case v > last[j]:
			k.up++
		case v < last[j]:
			k.down++
		default:
			k.level = true
		}
		of.same[j] = of.same[j] && math.Float32bits(v) == math.Float32bits(of.first[j])
		if of.same[j] || !k.level && min(k.up, k.down) == 0 {
			left = append(left, j)
		}
	}
	return left
}

// merge adds what was found in the next pool.
func (of *poolScan) merge(next *poolScan) {
	switch {
	case next.first == nil: // it has no rows
		return
	case of.first == nil:
		of.first, of.same, of.steps = next.first, next.same, next.steps
	default:
		for j, k := range next.steps {
			of.same[j] = of.same[j] && next.same[j] && math.Float32bits(of.first[j]) == math.Float32bits(next.first[j])
			all := &of.steps[j]
			all.up, all.down, all.level = all.up+k.up, all.down+k.down, all.level || k.level
		}
	}
	of.far = of.far.merge(next.far)
}

// ReadRow writes the features of row r to dst.
func (p *Pool) ReadRow(r int, dst []float32) {
	lo, hi, scale := r*p.Cols, (r+1)*p.Cols, p.Scale
	dst = dst[:p.Cols] // this and scale as a variable let the compiler make short loops
	switch {
	case p.U8 != nil:
		for j, v := range p.U8[lo:hi][:len(dst)] {
			dst[j] = scale * float32(v)
		}
	case p.F16 != nil:
		for j, h := range p.F16[lo:hi][:len(dst)] {
			// A number other than 0, and not subnormal or special, has another exponent and more digits alone.
			v := math.Float32frombits(uint32(h&0x8000)<<16 | (uint32(h&0x7fff)<<13 + 112<<23))
			if e := h & 0x7c00; e == 0 || e == 0x7c00 {
				v = float16.Frombits(h).Float32()
			}
			dst[j] = scale * v
		}
	default:
		for j, v := range p.F32[lo:hi][:len(dst)] {
			dst[j] = scale * v
		}
	}
}
