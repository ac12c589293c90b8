package dataset

import (
	"testing"

	"github.com/amtrl/amtrl/internal/must"
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
