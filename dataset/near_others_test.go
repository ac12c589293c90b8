package dataset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// somePools returns a target of some rows and five sources of vectors: rows of all lie about so many centres, as utterances of a few kinds
// do, in so many directions, and those of each pool about a place of its own.
func somePools(rng *rand.Rand, dimensions, centres int) *Set {
	cols := dimensions + rng.IntN(60)
	to := make([]float64, dimensions*cols)
	for i := range to {
		to[i] = rng.NormFloat64()
	}
	tight := 0.2 + rng.Float64()
	of := make([]float64, centres*dimensions)
	for i := range of {
		of[i] = rng.NormFloat64()
	}
	s := &Set{Name: "vectors", Binary: true}
	for m := range 6 {
		n := 40 + rng.IntN(400)
		switch m {
		case 0:
			n = 30 + rng.IntN(60)
		case 4:
			n = 800
		case 5:
			n = s.Pools[2].Rows
		}
		p := &Pool{Name: fmt.Sprint("p", m), Rows: n, Cols: cols, Scale: 1, F32: make([]float32, n*cols), Target: m == 0}
		away := rng.NormFloat64()
		labels, rows := make([]float32, n), upTo[int32](n)
		for i := range n {
			centre := rng.IntN(centres)
			labels[i] = float32(centre % 2)
			for k := range dimensions {
				v := of[centre*dimensions+k] + tight*rng.NormFloat64()
				for j := range cols {
					p.F32[i*cols+j] += float32(v * to[k*cols+j])
				}
			}
			for j := range cols {
				p.F32[i*cols+j] += float32(away)
			}
		}
		s.Pools = append(s.Pools, p)
		s.Tasks = append(s.Tasks, Task{Name: p.Name, Pool: m, Labels: labels, Train: rows})
	}
	return s
}

// changedCopies replaces rows of a pool by those of another, with small changes, so many times each.
func changedCopies(rng *rand.Rand, from, to *Pool, rows, times int, change float64) {
	at := rng.Perm(to.Rows)
	for i := range rows * times {
		for j := range to.Cols {
			to.F32[at[i]*to.Cols+j] = from.F32[i/times*to.Cols+j] + float32(change*rng.NormFloat64())
		}
	}
}

func nearFound(s *Set) (ofTarget, ofSources []Oddity) {
	n := s.projected()
	return n.ofTarget((*Pool).place), n.ofSources()
}

// A source with changed copies of rows of the target is named, one copy or several of each, and so is one of a pair of sources.
func TestNearCopiesInSources(t *testing.T) {
	rng := testrand.New(t)
	for range 15 {
		s := somePools(rng, 8+rng.IntN(40), 1+rng.IntN(3))
		times := 1 + rng.IntN(3)
		changedCopies(rng, s.Pools[0], s.Pools[4], s.Pools[0].Rows, times, 0.02)
		found, _ := nearFound(s)
		must.Hold(t, len(found) == 1 && found[0].Pool == "p4" && strings.HasPrefix(found[0].Found, "it has near copies of "),
			"copies of the target in p4: found %v", found)
		s = somePools(rng, 8+rng.IntN(40), 1+rng.IntN(3))
		changedCopies(rng, s.Pools[2], s.Pools[5], s.Pools[2].Rows, 1, 0.02)
		ofTarget, found := nearFound(s)
		must.Hold(t, len(ofTarget) == 0 && len(found) == 1 && found[0].Pool == "p5" && strings.Contains(found[0].Found, "near copies in p2,"),
			"copies of p2 in p5: found %v and %v", ofTarget, found)
	}
}

// Rows that lie close together, and far from a source or in the middle of one in another unit, have the same nearest row, which is no copy.
func TestNoNearCopiesOfRowsApart(t *testing.T) {
	rng := testrand.New(t)
	for range 80 {
		s := somePools(rng, 2+rng.IntN(6), 1+rng.IntN(3))
		p := s.Pools[1+rng.IntN(5)]
		for i := range p.F32 {
			p.F32[i] *= 1000
		}
		ofTarget, ofSources := nearFound(s)
		must.Hold(t, len(ofTarget)+len(ofSources) == 0, "found %v and %v", ofTarget, ofSources)
	}
}

// Rows of any dimension, in tight groups or not, are no copies of each other by chance, nor are equal rows near ones.
func TestNoNearCopiesInSourcesByChance(t *testing.T) {
	rng := testrand.New(t)
	for range 80 {
		s := somePools(rng, 2+rng.IntN(12), 1+rng.IntN(20))
		ofTarget, ofSources := nearFound(s)
		changedCopies(rng, s.Pools[0], s.Pools[3], 30, 1, 0)
		ofEqual, _ := nearFound(s)
		must.Hold(t, len(ofTarget)+len(ofSources)+len(ofEqual) == 0, "found %v, %v and %v", ofTarget, ofSources, ofEqual)
	}
}
