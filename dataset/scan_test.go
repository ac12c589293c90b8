package dataset

import (
	"hash/maphash"
	"math"
	"slices"
	"testing"

	"github.com/x448/float16"

	"github.com/amtrl/amtrl/internal/testrand"
)

// What the pools have in common is what one pool with the rows of all of them has, one after the other, and what a loop over all features
// finds, whatever their type.
func TestScans(t *testing.T) {
	rng := testrand.New(t)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*b }
	for range 60 {
		cols, kind, table := 1+rng.IntN(6), rng.IntN(3), rng.IntN(2) == 0
		set := &Set{}
		if table {
			set.Columns = &Columns{Features: make([]string, cols)}
		}
		shape := make([]int, cols) // by feature: constant, rising, level, or any
		for j := range shape {
			shape[j] = rng.IntN(4)
		}
		all, at := []float32{}, 0
		for range 1 + rng.IntN(5) {
			p := &Pool{Rows: 1 + rng.IntN(40), Cols: cols, Scale: []float32{1, 0.5}[rng.IntN(2)]}
			if len(set.Pools) > 0 {
				p.Scale = set.Pools[0].Scale
			}
			for range p.Rows {
				at++
				for j := range cols {
					v := float32([]int{7, at % 128, at / 2 % 128, rng.IntN(100)}[shape[j]])
					if kind == 0 {
						p.U8 = append(p.U8, uint8(v))
					} else if v -= 40; kind == 1 {
						v *= 0x1p-17 // some are subnormal
						p.F16 = append(p.F16, float16.Fromfloat32(v).Bits())
					} else {
						p.F32 = append(p.F32, v)
					}
				}
			}
			for i := range p.Rows * cols {
				all = append(all, p.feature(i))
			}
			set.Pools = append(set.Pools, p)
		}
		var got poolScan
		seed, rows, sizes := maphash.MakeSeed(), 0, []float64{}
		set.scans(seed, func(i int, of *poolScan) {
			if !slices.Equal(of.hashes, set.rowHashes(i, seed)) {
				t.Fatal("scan and rowHashes differ in the hashes of rows")
			}
			rows += set.Pools[i].Rows
			sizes = append(sizes, of.size)
			got.merge(of)
		})
		if rows*cols != len(all) || !slices.EqualFunc(sizes, set.sizes(math.MaxInt32), near) {
			t.Fatalf("%d rows of root mean squares %v, want %d and %v", rows, sizes, len(all)/cols, set.sizes(math.MaxInt32))
		}
		far := set.newFarFeatures()
		for j := range cols {
			same, up, down, level := true, 0, 0, false
			for r, row := 0, 0; r < len(set.Pools); r++ {
				for i := range set.Pools[r].Rows {
					v, last := all[row*cols+j], all[max(0, row-1)*cols+j]
					same = same && math.Float32bits(v) == math.Float32bits(all[j])
					up, down, level = up+bit(i > 0 && v > last), down+bit(i > 0 && v < last), level || i > 0 && v == last
					row++
				}
			}
			if got.same[j] != same || got.steps[j].oneWay() != (steps{up, down, level}).oneWay() {
				t.Fatalf("feature %d: same %v, steps %v, want %v, %v", j, got.same[j], got.steps[j], same, steps{up, down, level})
			}
		}
		if far == nil {
			continue
		}
		for i, p := range set.Pools {
			for r := range p.Rows {
				for j := range cols {
					far.add(j, i, r, float64(p.feature(r*cols+j)))
				}
			}
		}
		if !slices.Equal(got.far.low, far.low) || !slices.Equal(got.far.high, far.high) ||
			!slices.EqualFunc(got.far.sample, far.sample, slices.Equal) {
			t.Fatalf("lowest cells %v, highest %v, want %v and %v, or other samples", got.far.low, got.far.high, far.low, far.high)
		}
	}
}

// A row of all binary16 patterns is what the package float16 makes of them, bit for bit.
func TestReadRowOfAllHalves(t *testing.T) {
	p := &Pool{Rows: 2, Cols: 1 << 16, F16: make([]uint16, 2<<16), Scale: 0.75}
	for i := range 1 << 16 {
		p.F16[1<<16+i] = uint16(i)
	}
	got := make([]float32, 1<<16)
	p.ReadRow(1, got)
	for i, v := range got {
		if want := p.Scale * float16.Frombits(uint16(i)).Float32(); math.Float32bits(v) != math.Float32bits(want) {
			t.Fatalf("%#04x is %v, want %v", i, v, want)
		}
	}
}
