package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A copy is recognised although earlier sources have some of its rows too.
func TestCopiesAmongOthers(t *testing.T) {
	const n = 100
	c := newCopies(4 * n)
	add := func(pool int32, from, to int) {
		var rows []rowHash
		for i := from; i < to; i++ {
			rows = append(rows, rowHash{features: uint64(i), labels: uint64(2 + i%3), pool: pool, row: int32(i)})
		}
		c.add(&Pool{}, rows)
	}
	add(0, 0, 40)
	add(1, 40, 70)
	add(2, 0, n)
	add(3, 0, n)
	for pool, want := range []copyOf{{2, 1}, {2, 1}, {}, {2, 1}} {
		must.Equal(t, c.found()[int32(pool)], want, "what source %d is a copy of", pool)
	}
}

// What is said of copies among more rows than are compared is always the same: the source with fewer rows is the copy, though the other is
// hardly larger.
func TestCopiesAmongMany(t *testing.T) {
	r, set := testrand.New(t), &Set{Name: "many"}
	sizes := []int{24_000, 20_000, 24_000}
	for i, n := range sizes {
		p, y := &Pool{Name: string(rune('a' + i)), Rows: n, Cols: 2, Scale: 1}, make([]float32, n)
		for k := range n {
			p.F32, y[k] = append(p.F32, float32(r.NormFloat64()), float32(r.NormFloat64())), float32(r.NormFloat64())
		}
		must.Do(t, set.AddNumbers(p, "y", y, nil))
	}
	copy(set.Pools[1].F32[:21_000], set.Pools[0].F32)
	copy(set.Tasks[1].Labels[:10_500], set.Tasks[0].Labels)
	found := func() (out []Oddity) {
		return slices.DeleteFunc(set.Oddities(), func(o Oddity) bool { return !strings.Contains(o.Found, "are those of") })
	}
	first := found()
	must.Hold(t, len(first) == 1 && first[0].Pool == "b", "copies: %+v", set.Oddities())
	for range 3 {
		must.EqualSlices(t, found(), first, "copies, said again")
	}
}

// Of few copies each is named with the source that it is a copy of; many have the same words, which are true of all, so that a table of
// them has one row.
func TestManyCopies(t *testing.T) {
	rng := testrand.New(t)
	const rows = 40
	for n := 1; n <= 8; n++ {
		set, least := &Set{Name: "copies"}, 100
		for i := range n + 1 {
			p, y := &Pool{Name: string(rune('a' + i)), Rows: rows, Cols: 2, Scale: 1}, make([]float32, rows)
			for k := range y {
				p.F32, y[k] = append(p.F32, float32(rng.NormFloat64()), float32(rng.NormFloat64())), float32(rng.NormFloat64())
			}
			must.Do(t, set.AddNumbers(p, "y", y, nil))
			if i > 0 { // each source has other rows of the first
				part := 30 + rng.IntN(11)
				copy(p.F32, set.Pools[0].F32[:2*part])
				copy(set.Tasks[i].Labels, set.Tasks[0].Labels[:part])
				least = min(least, 100*part/rows)
			}
		}
		found := map[Oddity]int{}
		for _, o := range set.Oddities() {
			if strings.Contains(o.Found, "labelled rows are those of") {
				must.Hold(t, o.Pool != "a", "the first source is a copy: %s", o)
				o.Pool = ""
				found[o]++
			}
		}
		must.Hold(t, len(found) == 1 || n <= fewCopies, "%d copies: %v", n, found)
		for o, times := range found {
			if n <= fewCopies {
				must.Hold(t, !strings.Contains(o.Found, "another source"), "%d copies: %s", n, o)
				continue
			}
			must.Equal(t, times, n, "copies")
			must.Hold(t, strings.HasPrefix(o.Found, fmt.Sprintf("%d %% or more of its ", least)), "least %d %%: %s", least, o)
		}
	}
}
