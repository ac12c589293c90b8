package dataset

import (
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
		must.Equal(t, c.of(int32(pool)), want, "what source %d is a copy of", pool)
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
